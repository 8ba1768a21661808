"""The answers to alarms of nights, which say whether an alarm was right."""

from dataclasses import dataclass
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from pathlib import Path

from orchestrator.errors import InputError, did_you_mean
from orchestrator.regression.history.acknowledged import BROKE
from orchestrator.regression.nightly.files import NightFiles
from orchestrator.regression.nightly.records import Answer, Score
from orchestrator.regression.nightly.state import State
from orchestrator.regression.nightly.watch.scores import doubted
from orchestrator.workflows import option_values
from orchestrator.workflows.host.host import Host
from orchestrator.workflows.measure.pair import SourceOptions
from orchestrator.workflows.nightly.accept import named_version
from orchestrator.workflows.nightly.planner import NightlyPlanner

MAX_LISTED = 5
"""Alarms that a message names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AckOptions:
    """The options of `ack`."""

    release: str
    """The release whose alarms are answered, as in `mxnet==1.9.1` or `1.9.1`."""
    answer: Answer
    """The answer to the alarms."""
    cell: str = "*"
    """Glob of the cells, as in `cpu/lenet-*`."""
    metric: str = ""
    """The metric, or `broke`. Empty for all."""
    reason: str = ""
    """For those who come after."""
    file: Path = option_values.NIGHTLY_FILE
    """The package that is watched, and the way it is measured."""
    models: Path | None = None
    """A folder with models of the user's own."""


@dataclass(frozen=True, slots=True)
class AckResult:
    """The alarms that were answered."""

    name: str
    """The name before `==` of a watched release."""
    scores: tuple[Score, ...]
    doubted: tuple[tuple[str, str], ...]
    """Cell and metric of all series that need more blocks to alarm again."""


def ack(options: AckOptions, host: Host) -> AckResult:
    """Answer the alarms of a release. An answer takes the place of an earlier one, which stays on record.

    Raises `InputError` if there is no such alarm.

    Example: `ack(AckOptions(release="1.9.1", answer=Answer.WRONG), this_host()).scores`
    """
    nightly = NightlyPlanner.of(options.file, SourceOptions(models=options.models), host).nightly
    version = named_version(options.release, nightly)
    files = NightFiles(nightly.reports)
    with files.held():
        state = files.state(nightly.watched)
        keys = [key for key in _alarms(state) if _is_meant(key, version, options)]
        if not keys:
            raise InputError(f"{options.release!r}: {_nothing(state, version)}")
        at = datetime.now(UTC).isoformat(timespec="seconds")
        scores = tuple(
            Score(
                release=release,
                cell=cell,
                metric=metric,
                anchor=anchor,
                answer=options.answer,
                at=at,
                reason=options.reason,
            )
            for release, cell, metric, anchor in keys
        )
        state = state.model_copy(update={"scores": (*state.scores, *scores)})
        files.write_state(state)
    series = (*doubted(state.scores, of_anchor=False), *doubted(state.scores, of_anchor=True))
    return AckResult(nightly.name, scores, tuple(dict.fromkeys(series)))


def _alarms(state: State) -> list[tuple[str, str, str, str]]:
    """Return release, cell, metric and anchor of all alarms, oldest first."""
    alarms = [(*alarm.key, "") for alarm in state.alarms]
    drifts = [(each.release, each.cell, each.metric, each.anchor) for each in state.drifts]
    return [*alarms, *drifts]


def _is_meant(key: tuple[str, str, str, str], version: str, options: AckOptions) -> bool:
    release, cell, metric, _ = key
    is_metric = not options.metric or (metric or BROKE) == options.metric
    return release == version and fnmatchcase(cell, options.cell) and is_metric


def _nothing(state: State, version: str) -> str:
    """Return the reason that no alarm is meant, with what there is."""
    alarms = _alarms(state)
    own = [f"{cell} {metric or BROKE}" for release, cell, metric, _ in alarms if release == version]
    if own:
        more = f" and {len(own) - MAX_LISTED} more" if len(own) > MAX_LISTED else ""
        return f"no alarm of it matches; there is {', '.join(own[:MAX_LISTED])}{more}"
    releases = tuple(dict.fromkeys(release for release, *_ in alarms))
    if not releases:
        return "no night has raised an alarm"
    return f"no night has raised an alarm for it{did_you_mean(version, releases)}"
