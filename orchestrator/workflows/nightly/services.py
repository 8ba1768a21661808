"""The services that a night uses on a host."""

import platform
import secrets
from datetime import UTC, datetime

from orchestrator.regression.nightly.files import NightFiles
from orchestrator.regression.nightly.night import NightServices
from orchestrator.regression.releases.package_index import Offered, offered_releases
from orchestrator.running import new_run_name
from orchestrator.workflows.inputs.package_index import with_own_index
from orchestrator.workflows.nightly.budget import Budget
from orchestrator.workflows.nightly.planner import NightlyPlanner
from orchestrator.workflows.nightly.trials import Trials


def night_services(planner: NightlyPlanner, trials: Trials, budget: Budget, files: NightFiles) -> NightServices:
    """Return the package index, the measuring, the checks and the clock of a night."""
    nightly, host = planner.nightly, planner.setup.host
    settings = planner.setup.build_settings()
    if nightly.settings.package is None:
        settings = with_own_index(settings, planner.setup.planner.catalog, nightly.name)

    def offered() -> Offered:
        return offered_releases(nightly.distribution, settings, nightly.settings.index_timeout)

    return NightServices(
        offered=offered,
        measure=trials.measure,
        unsupported_reason=planner.unsupported_reason,
        check_listed=planner.check_listed,
        now=_now,
        is_over=host.stop.is_set,
        is_interrupted=lambda: budget.is_interrupted,
        listener=host.listener,
        host=platform.node(),
        new_name=new_run_name(_now(), secrets.token_hex(2), [night.night for night in files.nights()]),
    )


def _now() -> datetime:
    """Return the time in UTC."""
    return datetime.now(UTC)
