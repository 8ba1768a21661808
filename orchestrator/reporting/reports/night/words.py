"""The words of a night, the same in every format."""

from collections.abc import Iterator

from orchestrator.regression.nightly.state import Alarm, Change, Ending, Judgement, Night, ReleaseRecord, Trying
from orchestrator.reporting.inline import ratio, ratio_interval
from orchestrator.reporting.reports.night import watch as night_watch
from orchestrator.reporting.reports.regression import words as regression_words
from orchestrator.wording import clean_line, listing_of, plural

ALARM_HEADS = ("Release", "Cell", "Metric", "Ratio", "Interval", "What")
CHANGE_HEADS = ("Since", "Series", "Metric", "Release", "Ratio", "p", "What")
RELEASE_HEADS = ("Release", "Published", "Against", "Judgement", "Why", "Run")
_MOST_NAMED = 4
_ENDINGS = {
    Ending.NOTHING_NEW: "Nothing new: there is no release to measure.",
    Ending.INDEX_SILENT: "The package index did not answer: whether there is something new is not known.",
    Ending.NO_RESULT: "A night without a result: there was something new, and nothing of it came to a verdict.",
    Ending.STOPPED: "The night was stopped; the next one goes on.",
}


def title(night: Night) -> str:
    """Return the title of a night, with its date and the framework."""
    return clean_line(f"Night of {night.began_at[:10]}: {night.watched}")


def headline(night: Night) -> str:
    """Return the result of a night in a few sentences."""
    return " ".join(_sentences(night))


def _sentences(night: Night) -> Iterator[str]:
    if night.alarms:
        cells = listing_of(list(dict.fromkeys(clean_line(alarm.cell) for alarm in night.alarms)), _MOST_NAMED)
        releases = listing_of(list(dict.fromkeys(alarm.release for alarm in night.alarms)), _MOST_NAMED)
        yield f"Regression in {clean_line(night.watched)} {releases}: {cells}."
    if night.ending in _ENDINGS:
        yield _ENDINGS[night.ending]
    yield from night_watch.sentences(night)
    for judgement in Judgement:
        of_it = [one.record.version for one in night.tried if one.record.judgement is judgement]
        if of_it and not (judgement is Judgement.REGRESSED and night.alarms):
            yield f"{_SAYS[judgement]}: {listing_of(of_it, _MOST_NAMED)}."
    if night.given_up:
        names = [f"{clean_line(one.version)} ({one.judgement.value})" for one in night.given_up]
        yield f"Given up, and not tried again: {listing_of(names, _MOST_NAMED)}."
    if night.changes:
        shown = [f"{each.cell} {each.metric} × {ratio(each.ratio)} since {each.date}" for each in night.changes]
        yield clean_line(f"New in the history, and no alarm: {listing_of(shown, _MOST_NAMED)}.")
    if night.waiting:
        yield f"Not reached, and left to the next night: {listing_of(list(night.waiting), _MOST_NAMED)}."
    if night.problems and night.ending is not Ending.INDEX_SILENT:
        number = len(night.problems)
        yield f"{number} {plural('place', number)} did not answer, so that there may be more releases."


_SAYS = {
    Judgement.CLEAN: "Clean",
    Judgement.INCONCLUSIVE: "Inconclusive",
    Judgement.REGRESSED: "Worse, as was known before",
    Judgement.BUILD_FAILED: "Does not install, which is neither a regression nor health",
    Judgement.UNSUPPORTED: "Without an environment in the catalog",
    Judgement.NO_RESULT: "Not measured",
    Judgement.NOT_RUN: "Not finished (out of budget or stopped)",
}


def release_row(record: ReleaseRecord) -> tuple[str, ...]:
    """A text for each of `RELEASE_HEADS`."""
    return (
        clean_line(record.version),
        clean_line(record.uploaded_at[:10]) or "–",
        clean_line(record.baseline) or "–",
        record.judgement.value,
        clean_line(record.reason) or "–",
        clean_line(record.run) or "–",
    )


def alarm_row(alarm: Alarm) -> tuple[str, ...]:
    """A text for each of `ALARM_HEADS`."""
    return (
        clean_line(alarm.release),
        clean_line(alarm.cell),
        clean_line(alarm.metric) or "–",
        "–" if alarm.ratio is None else ratio(alarm.ratio),
        ratio_interval(alarm.low, alarm.high),
        clean_line(alarm.reason) or _firmness(alarm.confirmed),
    )


def _firmness(confirmed: bool | None) -> str:
    if confirmed is None:
        return "worse"
    return "worse, confirmed on fresh blocks" if confirmed else "worse; known exactly, and not measured again"


def change_row(change: Change) -> tuple[str, ...]:
    """A text for each of `CHANGE_HEADS`."""
    release = change.release if change.release == change.since else f"{change.since} → {change.release}"
    return (
        change.date,
        clean_line(f"{change.series} on {change.host}"),
        clean_line(change.metric),
        clean_line(release),
        ratio(change.ratio),
        f"{change.p_value:.1g}" if change.p_value >= 1e-12 else "< 1e-12",
        "worse" if change.worse else "better",
    )


def known_row(alarm: Alarm) -> tuple[str, ...]:
    """The same of one that alarms nobody, with why it does not."""
    why = f"acknowledged: {clean_line(alarm.acknowledged)}" if alarm.acknowledged else "reported before"
    return (*alarm_row(alarm)[:-1], why)


def facts(night: Night) -> tuple[tuple[str, str], ...]:
    """Return further facts of a night, each a name and a value."""
    listed = [
        ("Watched", night.watched),
        ("Asked of the index", night.distribution),
        ("Baseline", night.baseline),
        ("Accepted now", night.accepted or "a pin, which nothing moves"),
        ("Host", night.host),
        ("Releases on the index", str(len(night.offered)) if night.offered else "–"),
        ("Ended as", night.ending.value),
    ]
    if night.posted is not None:
        told = "delivered" if night.posted.delivered else f"not delivered: {night.posted.reason}"
        listed.append(("Webhook", ": ".join(filter(None, (night.posted.url, told)))))
    if night.removed_images:
        listed.append(("Images removed", listing_of(list(night.removed_images), _MOST_NAMED)))
    return tuple((name, clean_line(value)) for name, value in listed)


def known(night: Night) -> tuple[Alarm, ...]:
    """Regressions that are shown and alarm nobody."""
    return tuple(alarm for trying in night.tried for alarm in trying.known)


def notes(night: Night) -> tuple[str, ...]:
    """Return the remarks on the figures of tonight's releases."""
    return tuple(
        f"{clean_line(trying.record.version)}: {note}"
        for trying in night.tried
        if trying.regression is not None
        for note in regression_words.notes(trying.regression)
    )


def lines(night: Night) -> tuple[str, ...]:
    """Return the lines that a terminal shows of a night."""
    return headline(night), *(f"note: {note}" for note in notes(night))


def measured(night: Night) -> tuple[Trying, ...]:
    """Return the releases that have verdicts to show."""
    return tuple(trying for trying in night.tried if trying.regression is not None)
