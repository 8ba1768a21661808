"""A night without engine or index: what the index offers and what trials find is said by the test."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from orchestrator.analysis.comparison import Verdict
from orchestrator.catalog import UnsupportedError
from orchestrator.catalog.source import Source
from orchestrator.domain import Outcome, Status
from orchestrator.errors import OrchestratorError
from orchestrator.modes.parts.metrics import Better
from orchestrator.regression.history.acknowledged import AcknowledgedEntry
from orchestrator.regression.model import Anchored, Confirmation, Judged, JudgedPair, Regression, SideRecord
from orchestrator.regression.nightly.decide import TrialOutcomes
from orchestrator.regression.nightly.files import NightFiles
from orchestrator.regression.nightly.loading import Nightly
from orchestrator.regression.nightly.night import NightInProgress
from orchestrator.regression.nightly.services import NightServices, TrialResult
from orchestrator.regression.nightly.settings import NightlyFile
from orchestrator.regression.nightly.state import Judgement, Night, Tonight
from orchestrator.regression.releases.package_index import Offered
from orchestrator.regression.releases.pages import PublishedRelease

CELL = "cpu/lenet-train-b200"


def nightly(folder: Path, **more: object) -> Nightly:
    asked = NightlyFile.model_validate({"version": 1, "watch": "mxnet", "first": "1.5.1"} | more)
    places = {name: folder / name for name in ("matrix", "results", "reports")}
    return Nightly(asked, Source("nightly.yaml", {}), acknowledged=None, distribution="mxnet", **places)


def releases(*versions: str, **more: object) -> tuple[PublishedRelease, ...]:
    return tuple(PublishedRelease(version, **more) for version in versions)  # type: ignore[arg-type]


def judged(verdict: Verdict, ratio: float = 1.0, metric: str = "throughput") -> Judged:
    confirmation = Confirmation(confirmed=True, blocks=6) if verdict is Verdict.SLOWER else None
    return Judged(
        metric=metric, title=metric, unit="samples/s", better=Better.HIGHER, gates=True, verdict=verdict,
        tolerance=0.02, baseline=100.0, candidate=100.0 * ratio, ratio=ratio, low=ratio * 0.99, high=ratio * 1.01,
        blocks=6, values=((100.0, 100.0 * ratio),) * 6, confirmation=confirmation,
    )  # fmt: skip


def pair(verdict: Verdict, ratio: float = 1.0, cell: str = CELL, reason: str = "") -> JudgedPair:
    metrics = (judged(verdict, ratio),) if verdict in {Verdict.SLOWER, Verdict.FASTER, Verdict.SAME} else ()
    return JudgedPair(
        id=cell, baseline_cell=cell, candidate_cell=cell, verdict=verdict, reason=reason, model="lenet", metrics=metrics
    )


def regression(tonight: Tonight, *pairs: JudgedPair, complete: bool = True) -> Regression:
    return Regression(
        run=tonight.run or f"run-{tonight.release}", created_at="2026-11-22T03:00:00+00:00", host="far",
        runtime="docker", baseline=side(tonight.baseline), candidate=side(tonight.release), measurement_version=4,
        alpha=0.05, family=1, looks=(6,), confirms=True, complete=complete, pairs=pairs,
    )  # fmt: skip


def anchored(pair: JudgedPair, *, anchor: str = "1.4.1") -> Anchored:
    """The finding on a release next to the anchor."""
    return Anchored(anchor=side(anchor), tolerance=0.05, pairs=(pair,))


def side(version: str) -> SideRecord:
    return SideRecord(text=f"mxnet=={version}", label=f"mxnet {version}")


@dataclass
class World:
    """The outside world, and the calls that it got."""

    folder: Path
    offered: Offered
    found: dict[str, Sequence[JudgedPair] | OrchestratorError | UnsupportedError | Status] = field(default_factory=dict)
    """By release: what its trial finds; clean where nothing is said."""
    trials: list[tuple[str, str, str]] = field(default_factory=list)
    """Release, baseline and the run that was to be taken up, of every trial."""
    asked: dict[str, object] = field(default_factory=dict)
    known: tuple[AcknowledgedEntry, ...] = ()
    baseline: Status = Status.OK
    """The ends of the baseline's repeats."""
    why: str = "no matching distribution"
    """That a build fails."""
    lacking: dict[str, Outcome] = field(default_factory=dict)
    """The ends of the candidate in further cells, in which the baseline runs."""
    over_after: int | None = None
    """Trials after which the budget is spent."""
    cut: bool = False
    """True if the last of them is cut short."""
    at_trial: Callable[[], None] = lambda: None
    """Called within a trial: where a test kills the night."""
    anchored: dict[str, JudgedPair] = field(default_factory=dict)
    """By release: what is found of it next to the anchor."""
    itself: Sequence[JudgedPair] | OrchestratorError | None = None
    """The finding on the baseline against itself; None if no night measures it."""
    judged_names: list[str] = field(default_factory=list)
    """The names that were judged in place of the baseline."""
    nights: int = 0
    said: list[str] = field(default_factory=list)

    def night(self) -> Night:
        """Hold a night to its end."""
        holding = self.begin()
        night = holding.try_releases()
        holding.end(night)
        return night

    def begin(self) -> NightInProgress:
        self.nights += 1
        (self.folder / "reports").mkdir(exist_ok=True)
        began = len(self.trials)
        over = self.over_after
        means = NightServices(
            offered=lambda: self.offered,
            measure=self._measure,
            now=lambda: datetime(2026, 11, 21, 3, tzinfo=UTC) + timedelta(days=self.nights),
            is_over=lambda: over is not None and len(self.trials) - began >= over,
            is_interrupted=lambda: False,
            listener=lambda event: self.said.append(str(getattr(event, "message", event))),
            host="far",
            new_name=f"night-{self.nights}",
            measure_itself=None if self.itself is None else self._measure_itself,
        )
        return NightInProgress(
            nightly(self.folder, **self.asked), NightFiles(self.folder / "reports"), means, self.known
        )

    def _measure(self, tonight: Tonight, told: Callable[[str], None]) -> TrialResult:
        self.trials.append((tonight.release, tonight.baseline, tonight.run))
        run = tonight.run or f"run-{tonight.release}"
        found = self.found.get(tonight.release, (pair(Verdict.SAME),))
        if isinstance(found, OrchestratorError | UnsupportedError):
            raise found
        told(run)
        self.at_trial()
        status = found if isinstance(found, Status) else Status.OK
        pairs = (pair(Verdict.NOT_MEASURED, reason="build failed"),) if isinstance(found, Status) else found
        ended = TrialOutcomes(
            (self.outcome(self.baseline), *(Outcome(cell, 0, Status.OK) for cell in self.lacking)),
            (self.outcome(status), *self.lacking.values()),
        )
        found = regression(tonight, *pairs, complete=not self.cut)
        if tonight.release in self.anchored:
            found = found.model_copy(update={"anchored": anchored(self.anchored[tonight.release])})
        return TrialResult(found, ended, (f"bench/mxnet:{tonight.release}",))

    def _measure_itself(self, tonight: Tonight, told: Callable[[str], None]) -> TrialResult:
        self.judged_names.append(tonight.release)
        self.trials.append((tonight.release, tonight.baseline, tonight.run))
        if isinstance(self.itself, OrchestratorError):
            raise self.itself
        told(tonight.run or f"run-{tonight.release}")
        self.at_trial()
        ended = TrialOutcomes((self.outcome(self.baseline),), (self.outcome(self.baseline),))
        return TrialResult(regression(tonight, *self.itself or (), complete=not self.cut), ended)

    def outcome(self, status: Status) -> Outcome:
        return Outcome(CELL, 0, status, reason="" if status is Status.OK else self.why)


def judgements(night: Night) -> dict[str, Judgement]:
    """Return the result of each release that was tried."""
    return {trying.record.version: trying.record.judgement for trying in night.tried}
