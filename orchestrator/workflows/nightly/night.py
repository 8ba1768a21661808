"""One night, which measures the new releases on the package index."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from orchestrator.errors import InputError
from orchestrator.regression.history.acknowledged import AcknowledgedEntry, load_acknowledged
from orchestrator.regression.nightly.decide import baseline, dropped_images
from orchestrator.regression.nightly.files import NightFiles
from orchestrator.regression.nightly.lasting_changes import new_changes
from orchestrator.regression.nightly.loading import Nightly
from orchestrator.regression.nightly.night import NightInProgress
from orchestrator.regression.nightly.notify import message
from orchestrator.regression.nightly.state import Night
from orchestrator.regression.nightly.watch.heartbeat import metrics
from orchestrator.regression.nightly.watch.whole import watch, with_watch
from orchestrator.regression.rules import Gate, parse_gates
from orchestrator.workflows import option_values
from orchestrator.workflows.host.host import Host
from orchestrator.workflows.host.images import remove_images
from orchestrator.workflows.measure.pair import MeasureOptions, RegressionSetup, SourceOptions
from orchestrator.workflows.nightly.anchor import check_anchor
from orchestrator.workflows.nightly.mistaken import tell_of_mistake
from orchestrator.workflows.nightly.past import Past
from orchestrator.workflows.nightly.planner import NightlyPlanner
from orchestrator.workflows.nightly.reports import (
    nightly_history,
    notify,
    with_pages,
    write_overview,
    write_reports,
    write_watch,
)
from orchestrator.workflows.nightly.services import Budget, night_services
from orchestrator.workflows.nightly.settings import load_nightly
from orchestrator.workflows.nightly.trials import Trials


@dataclass(frozen=True, kw_only=True)
class NightlyOptions(SourceOptions):
    """The options of `nightly`."""

    file: Path = option_values.NIGHTLY_FILE
    """The package that is watched, and the way it is measured."""
    idle_wait_s: float = option_values.IDLE_WAIT_S
    """Longest wait for an idle host before a cell."""


@dataclass(frozen=True, slots=True)
class NightResult:
    """A night with its page."""

    night: Night
    page: Path


def night(options: NightlyOptions, host: Host) -> NightResult:
    """Measure the new releases next to the baseline, and write the reports of the night.

    The stop of the host is set, too, when the time budget is over. Raises `InputError` with every mistake, before
    anything is measured, and `HostError` where this host cannot measure.

    Example: `night(NightlyOptions(file=Path("nightly.yaml")), this_host()).night`
    """
    nightly = load_nightly(options.file, options.models)
    try:
        return _held(nightly, options, host)
    except InputError as error:
        tell_of_mistake(nightly, error, host)
        raise


def _held(nightly: Nightly, options: NightlyOptions, host: Host) -> NightResult:
    """Hold the night of a `nightly.yaml`. Raises as `night` does."""
    planner = NightlyPlanner.of_nightly(nightly, options, host)
    setup = planner.setup
    known = load_acknowledged(nightly.acknowledged)
    printed = setup.printed(of_package=nightly.is_of_matrix)
    gates = parse_gates(nightly.settings.metrics or (), f"{nightly.path}: metrics", setup.model_names, printed)
    files = NightFiles(nightly.reports)
    with files.held(), host.working():
        measuring = MeasureOptions(jobs=1, idle_wait_s=options.idle_wait_s)
        trials = Trials(planner, gates, measuring, Past.of(files.state(nightly.watched)))
        budget = Budget(host.stop)
        progress = NightInProgress(nightly, files, night_services(planner, trials, budget, files), known)
        planner.check_baseline(baseline(nightly.settings, progress.state), trials.rules)
        check_anchor(planner, trials.rules)
        with budget.running(nightly.settings.budget):
            progress.try_releases()
            measured = progress.test_itself()
        return _finish(progress, measured, known, gates, setup)


def _finish(
    progress: NightInProgress,
    measured: Night,
    known: Sequence[AcknowledgedEntry],
    gates: Sequence[Gate],
    setup: RegressionSetup,
) -> NightResult:
    """Remove images, report, notify, and end the night."""
    nightly, files, host = progress.nightly, progress.files, setup.host
    removed = remove_images(dropped_images(nightly.settings, progress.state), host)
    history = nightly_history(nightly.results, host.cache, known)
    changes = new_changes(history.tracked, {gate.metric for gate in gates}, progress.state.changes)
    record = with_pages(files, nightly.results, measured)
    record = record.model_copy(update={"removed_images": removed, "changes": changes})
    record = with_watch(record, files.nights(), nightly.settings.heartbeat)
    page = write_reports(files, record)
    webhook = nightly.settings.webhook
    told = message(record, str(page))
    posted = notify(webhook, told, setup.build_settings(), host.environment) if webhook else None
    record = record.model_copy(update={"posted": posted})
    write_reports(files, record)
    progress.end(record)
    files.write_metrics(metrics(record))
    ended = datetime.fromisoformat(record.ended_at)
    write_watch(watch(progress.state, files.nights(), ended, nightly.settings.heartbeat), files.watch_folder)
    write_overview(files, history)
    return NightResult(record, page)
