"""The services that a night uses on a host, and its time budget."""

import contextlib
import platform
import secrets
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from orchestrator.regression.nightly.files import NightFiles
from orchestrator.regression.nightly.services import NightServices
from orchestrator.regression.releases.package_index import Offered, offered_releases
from orchestrator.running import new_run_name
from orchestrator.workflows.inputs.planned_matrix import with_own_index
from orchestrator.workflows.nightly.planner import NightlyPlanner
from orchestrator.workflows.nightly.trials import Trials


@dataclass
class Budget:
    """Sets the event that stops a night when its time is over. A signal may set the same event."""

    stop: threading.Event
    is_spent: bool = False

    def _spend(self) -> None:
        self.is_spent = True
        self.stop.set()

    @property
    def is_interrupted(self) -> bool:
        """Return true if the stop was requested, rather than due to the end of the budget."""
        return self.stop.is_set() and not self.is_spent

    @contextlib.contextmanager
    def running(self, seconds: float | None) -> Iterator[None]:
        """Let the time run until the context ends."""
        timer = threading.Timer(seconds, self._spend) if seconds is not None else None
        if timer is not None:
            timer.daemon = True
            timer.start()
        try:
            yield
        finally:
            if timer is not None:
                timer.cancel()


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
        measure_itself=trials.measure_itself if nightly.settings.self_test else None,
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
