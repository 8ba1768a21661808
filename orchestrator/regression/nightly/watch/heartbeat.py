"""The time since a night had a result, and the file of metrics that programs outside read it from."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta

from orchestrator import openmetrics
from orchestrator.openmetrics import Family
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


def metrics(night: Night, exit_code: int | None = None) -> str:
    """Return the metrics of a night, which Prometheus reads from a folder of files.

    A night that a mistake has ended has an exit code of its own.
    """
    labels = {"watched": night.watched, "host": night.host}
    return openmetrics.text(
        Family(f"{_PREFIX}_{name}", help_text, ((labels, value),), unit)
        for name, unit, help_text, value in _rows(night, night.exit_code if exit_code is None else exit_code)
    )


def _rows(night: Night, exit_code: int) -> Iterable[tuple[str, str, str, float]]:
    beat = night.heartbeat
    yield "last_night_timestamp_seconds", "seconds", "End of the newest night.", _moment(night.ended_at).timestamp()
    yield "exit_status", "", "Exit status of the newest night.", exit_code
    alarms = len(night.alarms) + len(night.drifts)
    yield "alarms", "", "Regressions and drifts that the newest night reports.", alarms
    if beat is not None:
        last = _moment(beat.last_success).timestamp() if beat.last_success else 0.0
        limit = beat.limit * _NIGHT.total_seconds()
        yield "last_success_timestamp_seconds", "seconds", "End of the last night with a result; 0: none.", last
        yield "silence_limit_seconds", "seconds", "Silence after which it is an alarm; 0: never.", limit
        yield "silent", "", "1 if there was no result for so long.", int(beat.is_silent)
    yield "noisy", "", "1 if the rig is noisier than it was.", int(night.noise is not None)
