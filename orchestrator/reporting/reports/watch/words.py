"""The words of the report on a watch itself, the same in every format."""

from collections.abc import Iterator

from orchestrator.regression.history.acknowledged import BROKE
from orchestrator.regression.nightly.records import Answer, Heartbeat, Noise
from orchestrator.regression.nightly.watch.quiet import Rate, SelfNight
from orchestrator.regression.nightly.watch.scores import Precision, RaisedAlarm
from orchestrator.regression.nightly.watch.whole import Watch
from orchestrator.reporting.inline import moment, short_percent
from orchestrator.wording import clean_line, plural

RATE_HEADS = ("Of", "False alarms", "Share", "95 % interval")
NIGHT_HEADS = ("Night", "Host", "Release", "Comparisons", "False alarms", "Withdrawn", "Faster", "Scatter", "Floor")
CELL_HEADS = ("Cell", "Metric", "Scatter", "Floor", "Blocks")
PRECISION_HEADS = ("Month", "Right", "Wrong", "Known", "Unanswered", "Precision", "95 % interval")
ALARM_HEADS = ("Night", "Release", "Cell", "Metric", "Next to", "Answer")
_ENDLESS = 10.0
"""A loss beyond it says that next to nothing could be found."""
DOUBTED_HEADS = ("Cell", "Metric", "Next to")
NO_TEST = (
    "No night has measured the baseline against itself: `self_test: true` in the nightly file has it done on nights "
    "without a new release."
)
FLOOR_NOTE = (
    "Scatter: standard deviation of a block's ratio. "
    "Floor: the loss that a trial with all its blocks finds in four of five cases."
)
DOUBT_NOTE = (
    "Three of their alarms were wrong since the last right one. "
    "They alarm again only if twice as many fresh blocks are slower by themselves."
)


def title(watch: Watch) -> str:
    """Return the title of the report."""
    return clean_line(f"Watch of {watch.watched}")


def sentences(watch: Watch) -> Iterator[str]:
    """Yield what is to be known first, a sentence or two each."""
    yield beat(watch.heartbeat)
    if watch.quiet.noise is not None:
        yield noise(watch.quiet.noise)
    if watch.quiet.nights:
        newest = watch.quiet.nights[-1]
        yield (
            f"{rate(watch.quiet.by_night, 'night')}; the newest one, of {newest.date}, could find a loss of "
            f"{effect(newest.floor)}."
        )
    else:
        yield NO_TEST
    total = watch.precision[-1]
    if total.answered:
        yield f"{total.counts[Answer.RIGHT]} of {total.answered} answered alarms were right."
    if total.unanswered:
        yield f"{total.unanswered} {plural('alarm', total.unanswered)} without an answer."


def beat(heartbeat: Heartbeat) -> str:
    """Return the time of the last result, and whether the silence since then is an alarm."""
    if not heartbeat.since:
        return "No night has been recorded yet."
    if not heartbeat.last_success:
        said = f"No night has had a result since the first one, of {moment(heartbeat.since)}"
    else:
        said = f"The last night with a result ended at {moment(heartbeat.last_success)}"
    if not heartbeat.is_silent:
        return f"{said}."
    if heartbeat.last_success and heartbeat.last_success != heartbeat.since:
        return f"{said}. {silence(heartbeat)}"
    nights = f"{heartbeat.limit} {plural('night', heartbeat.limit)}"
    return f"{said}: no result for {nights} or more, which is an alarm."


def silence(heartbeat: Heartbeat) -> str:
    """Return the alarm of a night after too many nights without a result."""
    nights = f"{heartbeat.limit} {plural('night', heartbeat.limit)}"
    return f"No result for {nights} or more, since {moment(heartbeat.since)}, which is an alarm."


def noise(found: Noise) -> str:
    """Return the noise of the rig, and what it costs."""
    return (
        f"This rig is noisier since {found.since}: a block's ratio scatters by {short_percent(found.after)}, and by "
        f"{short_percent(found.before)} before. A trial finds a loss of {effect(found.floor)}, and of "
        f"{effect(found.floor_before)} before."
    )


def effect(share: float) -> str:
    """Return a loss that could be found, as `4.5 %`, or that it is beyond all measure."""
    return short_percent(share) if share < _ENDLESS else f"more than {short_percent(_ENDLESS)}"


def rate(found: Rate, of: str) -> str:
    """Return a rate of false alarms with its interval."""
    low, high = found.interval
    return (
        f"{found.hits} of {found.draws} {plural(of, found.draws)} of the baseline against itself had a false alarm "
        f"({short_percent(low)}–{short_percent(high)})"
    )


def rate_rows(watch: Watch) -> list[tuple[str, ...]]:
    """Return a text for each of `RATE_HEADS`, of nights and of comparisons."""
    return [
        (
            f"{found.draws} {plural(name, found.draws)}",
            str(found.hits),
            *_share(found.hits, found.draws, found.interval),
        )
        for name, found in (("night", watch.quiet.by_night), ("comparison", watch.quiet.by_comparison))
    ]


def _share(hits: int, draws: int, interval: tuple[float, float]) -> tuple[str, str]:
    low, high = interval
    return short_percent(hits / draws) if draws else "–", f"{short_percent(low)}–{short_percent(high)}"


def night_row(night: SelfNight) -> tuple[str, ...]:
    """Return a text for each of `NIGHT_HEADS`."""
    return (
        night.date,
        clean_line(night.host),
        clean_line(night.release),
        str(night.comparisons),
        clean_line(", ".join(night.alarms)) or "–",
        str(night.withdrawn),
        str(night.faster),
        short_percent(night.deviation),
        effect(night.floor),
    )


def cell_rows(night: SelfNight) -> list[tuple[str, ...]]:
    """Return a text for each of `CELL_HEADS`, the noisiest first."""
    return [
        (
            clean_line(each.cell),
            each.metric,
            short_percent(each.deviation),
            effect(each.floor),
            str(each.blocks),
        )
        for each in sorted(night.cells, key=lambda each: -each.deviation)
    ]


def precision_row(found: Precision) -> tuple[str, ...]:
    """Return a text for each of `PRECISION_HEADS`."""
    counts = (str(found.counts[answer]) for answer in Answer)
    share = _share(found.counts[Answer.RIGHT], found.answered, found.interval) if found.answered else ("–", "–")
    return found.month or "all", *counts, str(found.unanswered), *share


def alarm_row(alarm: RaisedAlarm) -> tuple[str, ...]:
    """Return a text for each of `ALARM_HEADS`."""
    release, cell, metric, anchor = alarm.key
    return (
        alarm.date,
        clean_line(release),
        clean_line(cell),
        clean_line(metric) or BROKE,
        clean_line(f"anchor {anchor}") if anchor else "baseline",
        alarm.answer.value if alarm.answer else "–",
    )


def doubted_rows(watch: Watch) -> list[tuple[str, ...]]:
    """Return a text for each of `DOUBTED_HEADS`."""
    both = ((watch.doubted, "baseline"), (watch.doubted_drifts, "anchor"))
    return [(clean_line(cell), metric, name) for series, name in both for cell, metric in series]


def further(watch: Watch) -> str:
    """Return the blocks that doubted series have taken beyond those of others."""
    return f"This has taken {watch.further_blocks} further {plural('block', watch.further_blocks)} so far."
