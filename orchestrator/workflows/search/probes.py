"""The runs of a search: one for each pair of releases, below the search's folder, which grows with the blocks asked."""

from dataclasses import dataclass, replace
from pathlib import Path

from orchestrator import matrix
from orchestrator.catalog import load_faults
from orchestrator.errors import InputError
from orchestrator.planning import Selection
from orchestrator.regression.metrics import Gate
from orchestrator.regression.pairing import Pairing, PlanInputs
from orchestrator.regression.rules import Rules
from orchestrator.regression.search.probe import ProbeResult, probe_result
from orchestrator.regression.sides import Side
from orchestrator.regression.trials.carry_out import carry_out
from orchestrator.regression.trials.files import Trial, store_trial, stored_trial
from orchestrator.resources import IMAGES
from orchestrator.results.store import runs
from orchestrator.running import Policy
from orchestrator.workflows.measure import jobs, pairs
from orchestrator.workflows.measure.begin import Setting, begun
from orchestrator.workflows.measure.jobs import Job
from orchestrator.workflows.measure.runtime import RuntimeName


class StoppedError(Exception):
    """A search that was stopped on request; what is measured is kept."""


@dataclass(frozen=True, slots=True)
class Ground:
    """What every two releases are planned with."""

    matrix: matrix.Matrix
    known: PlanInputs
    site: pairs.Site
    cell: str
    """The glob that was given."""

    def pairing(self, one: Side, other: Side) -> Pairing:
        """Pair two sides in the one cell; raises `InputError` where that is none, or several."""
        try:
            found = pairs.paired(self.matrix, self.known, (one, other), Selection((self.cell,)), self.site)
        except InputError as error:
            raise InputError(*(message.replace("--select", "--cell") for message in error.messages)) from None
        if not found.pairs:
            lacking = (*found.gone, *found.new)[0]
            raise InputError(f"--cell {self.cell!r}: {lacking.id}: {lacking.reason}")
        if len(found.pairs) > 1:
            ids = ", ".join(pair.id for pair in found.pairs[:4])
            raise InputError(f"--cell {self.cell!r} matches {len(found.pairs)} cells, and a search is of one: {ids}")
        return found

    def refused(self, good: Side, side: Side) -> str:
        """Why a side cannot be held against the good one; empty where it can."""
        try:
            self.pairing(good, side)
        except InputError as error:
            return error.messages[0]
        return ""


@dataclass(frozen=True)
class Probes:
    """Measures two releases side by side, in a new run or in the one that was begun for them."""

    ground: Ground
    gate: Gate
    folder: Path
    runtime: RuntimeName
    jobs: int
    idle_wait_s: float
    anew: set[tuple[str, str]]
    """Baseline and candidate, as `Side.text` writes them, that go to a new run next: what one side failed at is not
    repeated beside what the other has done long ago."""

    def measure(self, one: Side, other: Side, blocks: int) -> ProbeResult:
        """Measure up to so many blocks; raises `HostError` where this host cannot, and `StoppedError`."""
        rules = Rules(gates=(self.gate,), looks=(blocks,), confirm=False)
        again = self._again(one, other)
        if again is None:
            try:
                again = self._new(one, other, rules)
            except InputError as error:  # the catalog or the matrix has no such environment
                return ProbeResult(reason=error.messages[0])
        job, trial = again[0], replace(again[1], rules=rules)
        policy = Policy(job.plan.seed, self.jobs, extra_repeats=1)
        setting = Setting(self.idle_wait_s, keep=lambda run: store_trial(run, trial))
        with begun(job, setting, self.ground.site.host) as surroundings:
            self.anew.discard((one.text, other.text))
            found = carry_out(trial, surroundings, policy, load_faults(IMAGES / "known_faults.yaml"))
        if not found.complete:
            raise StoppedError
        return probe_result(job.run, trial, blocks, found)

    def _again(self, one: Side, other: Side) -> tuple[Job, Trial] | None:
        if (one.text, other.text) in self.anew:
            return None
        for run in reversed(runs(self.folder)):
            trial = stored_trial(run)
            if (trial.baseline.text, trial.candidate.text) == (one.text, other.text):
                base_image = self.ground.site.base_image
                return jobs.resumed(self.folder, run.name, RuntimeName.AUTO, base_image, self.ground.site.host), trial
        return None

    def _new(self, one: Side, other: Side, rules: Rules) -> tuple[Job, Trial]:
        """A new run, where the first one of this search ran: figures of two runtimes do not mix."""
        first = next(iter(runs(self.folder)), None)
        runtime = RuntimeName(first.record().runtime) if first else self.runtime
        ground = self.ground
        places = (self.folder, runtime, ground.site)
        return pairs.new_job(ground.matrix, ground.known, ground.pairing(one, other), rules, places)
