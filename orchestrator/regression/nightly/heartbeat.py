"""The time since a night had a result, and the file of metrics that programs outside read it from."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta

from orchestrator.regression.nightly.records import Heartbeat
from orchestrator.regression.nightly.state import Ending, Night

_NIGHT = timedelta(hours=24)


def had_result(night: Night) -> bool:
    """Return true if a night measured what was new, or found that nothing was."""
    failed = night.self_test is not None and bool(night.self_test.reason)
    return night.ending in {Ending.MEASURED, Ending.NOTHING_NEW} and not failed


def heartbeat(nights: Sequence[Night], now: datetime, limit: int, tonight: Night | None = None) -> Heartbeat:
    """Return the heartbeat after the recorded nights, oldest first, and the one under way.

    Silence is an alarm once it lasts for more than `limit` times 24 hours, or for as many nights in a row. A night that
    ends a silence reports it too, since nobody could do so before.
    """
    success = next((night for night in reversed(nights) if had_result(night)), None)
    since = success.ended_at if success else nights[0].began_at if nights else ""
    failed = len(nights) - (nights.index(success) + 1 if success else 0)
    ends_well = tonight is not None and had_result(tonight)
    failed += tonight is not None and not ends_well
    until = _moment(tonight.began_at) if tonight is not None and ends_well else now
    lasts = until - _moment(since) if since else timedelta()
    is_silent = limit > 0 and (lasts > limit * _NIGHT or failed >= limit)
    last = tonight.ended_at if tonight is not None and ends_well else success.ended_at if success else ""
    return Heartbeat(last_success=last, since=since, failed=failed, limit=limit, is_silent=is_silent)


def _moment(iso: str) -> datetime:
    moment = datetime.fromisoformat(iso)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


_PREFIX = "orchestrator_nightly"


def metrics(night: Night) -> str:
    """Return the metrics of a night in the text format of OpenMetrics, which Prometheus reads from a folder of files.

    Source: OpenMetrics 1.0, https://github.com/prometheus/OpenMetrics
    """
    labels = f'{{watched="{_escaped(night.watched)}",host="{_escaped(night.host)}"}}'
    return "".join(f"{line}\n" for line in (*_lines(night, labels), "# EOF"))


def _lines(night: Night, labels: str) -> Iterable[str]:
    beat = night.heartbeat
    rows: list[tuple[str, str, str, float | None]] = [
        ("last_night_timestamp_seconds", "seconds", "End of the newest night.", _moment(night.ended_at).timestamp()),
        ("exit_status", "", "Exit status of the newest night.", night.exit_code),
        ("alarms", "", "Regressions and drifts that the newest night reports.", len(night.alarms) + len(night.drifts)),
    ]
    if beat is not None:
        last = _moment(beat.last_success).timestamp() if beat.last_success else 0.0
        limit = beat.limit * _NIGHT.total_seconds()
        rows += [
            ("last_success_timestamp_seconds", "seconds", "End of the last night with a result; 0: none.", last),
            ("silence_limit_seconds", "seconds", "Silence after which it is an alarm; 0: never.", limit),
            ("silent", "", "1 if there was no result for so long.", int(beat.is_silent)),
        ]
    rows.append(("noisy", "", "1 if the rig is noisier than it was.", int(night.noise is not None)))
    for name, unit, help_text, value in rows:
        yield f"# TYPE {_PREFIX}_{name} gauge"
        if unit:
            yield f"# UNIT {_PREFIX}_{name} {unit}"
        yield f"# HELP {_PREFIX}_{name} {help_text}"
        yield f"{_PREFIX}_{name}{labels} {value}"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
