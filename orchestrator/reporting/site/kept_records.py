"""The records of nights and searches, and the claims of studies, as the site shows them."""

from collections.abc import Iterable, Iterator, Sequence

from orchestrator.analysis.comparison import Comparison
from orchestrator.regression.nightly.state import Alarm, Night, Trying
from orchestrator.regression.search.conclusion import Conclusion, Span
from orchestrator.regression.search.earlier_record import EarlierBisection
from orchestrator.regression.search.record import Bisection
from orchestrator.reporting.site.encoding import Document, numbers, significant
from orchestrator.reporting.site.overall import StoredRun
from orchestrator.reporting.site.regressions import verdicts
from orchestrator.wording import clean_line


def nights_document(folders: Iterable[tuple[str, Sequence[Night]]]) -> Document:
    """Return all nights of each watch, newest first."""
    return {
        "watches": [{"name": name, "nights": [_night(each) for each in reversed(nights)]} for name, nights in folders]
    }


def _night(night: Night) -> Document:
    return {
        "night": clean_line(night.night), "began": clean_line(night.began_at), "host": clean_line(night.host),
        "watched": clean_line(night.watched), "baseline": clean_line(night.baseline),
        "accepted": clean_line(night.accepted), "ending": str(night.ending), "code": night.exit_code,
        "tried": [_trying(each) for each in night.tried],
        "drifts": [
            [each.release, each.anchor, each.cell, each.metric, significant(each.ratio), clean_line(each.acknowledged)]
            for trying in night.tried for each in trying.drifts
        ],
        "changes": [
            [
                each.series, each.metric, each.host, each.date, each.since, each.release, significant(each.ratio),
                each.worse,
            ]
            for each in night.changes
        ],
        "problems": [clean_line(each) for each in night.problems],
    }  # fmt: skip


def _trying(trying: Trying) -> Document:
    return {
        "release": clean_line(trying.record.version), "judgement": str(trying.record.judgement),
        "reason": clean_line(trying.record.reason), "run": clean_line(trying.record.run),
        "alarms": [_alarm(each) for each in trying.alarms], "known": [_alarm(each) for each in trying.known],
        "regression": verdicts(trying.regression) if trying.regression else None,
    }  # fmt: skip


def _alarm(alarm: Alarm) -> list[object]:
    interval = [significant(alarm.ratio), significant(alarm.low), significant(alarm.high)]
    return [alarm.cell, alarm.metric, *interval, clean_line(alarm.reason), clean_line(alarm.acknowledged)]


def searches_document(searches: Iterable[tuple[str, Bisection | EarlierBisection]]) -> Document:
    """Return every search over releases, newest first."""
    return {"searches": [_search(folder, record) for folder, record in sorted(searches, key=_created, reverse=True)]}


def _created(search: tuple[str, Bisection | EarlierBisection]) -> str:
    return search[1].created_at


def _search(folder: str, record: Bisection | EarlierBisection) -> Document:
    asked = record.asked
    found = record.found.releases if record.found else None
    return {
        "folder": clean_line(folder), "created": clean_line(record.created_at), "host": clean_line(record.host),
        "good": asked.good, "bad": asked.bad, "cell": clean_line(asked.pair), "metric": asked.metric.metric,
        "searched": record.searched, "releases": list(record.releases),
        "left_out": [[each.release, clean_line(each.reason)] for each in record.left_out],
        "values": _values(record) if isinstance(record, Bisection) else [],
        "ended": found is not None,
        "spans": list(_spans(found)) if found else [],
        "ends": _comparison(found.ends) if found else None,
    }  # fmt: skip


def _values(record: Bisection) -> list[list[object]]:
    """Return the values of each release in all blocks of the search over releases.

    Rounds have the texts of environments, and the first one of a Python has all its releases in their order.
    """
    chain = record.asked.chain
    releases = {span.python: span.of(record.releases) for span in chain.spans} if chain else {"": record.releases}
    names: dict[str, dict[str, str]] = {}
    values: dict[str, list[float | None]] = {release: [] for release in record.releases}
    for measured in record.rounds:
        if measured.change:
            continue
        first = zip(measured.releases, releases.get(measured.python, ()), strict=False)
        named = names.setdefault(measured.python, dict(first))
        for block in measured.values:
            for text, value in zip(measured.releases, block, strict=True):
                if text in named:
                    values[named[text]].append(value)
    return [[release, numbers(of_release)] for release, of_release in values.items()]


def _spans(found: Conclusion) -> Iterator[list[object]]:
    kinds = (("change", found.changes), ("further", found.further), ("gradual", found.gradual))
    for kind, spans in (*kinds, ("unsettled", found.unsettled)):
        yield from (_span(kind, span) for span in spans)


def _span(kind: str, span: Span) -> list[object]:
    return [kind, span.before, span.after, list(span.between), _comparison(span.comparison)]


def _comparison(comparison: Comparison | None) -> list[object] | None:
    if comparison is None:
        return None
    interval = [significant(comparison.ratio), significant(comparison.low), significant(comparison.high)]
    return [str(comparison.verdict), *interval]


def claims_document(runs: Sequence[StoredRun]) -> Document:
    """Return the claims of the studies that runs repeat, newest run first."""
    studied = [run.document for run in runs if run.document["study"]]
    return {"studies": [{"run": each["run"], "host": each["host"], **each["study"]} for each in reversed(studied)]}
