"""The runs of a search, one for each pair of releases, which grow with the blocks that are asked for."""

from dataclasses import dataclass, replace
from pathlib import Path

from orchestrator.errors import InputError
from orchestrator.regression.metrics import Gate
from orchestrator.regression.rules import Rules
from orchestrator.regression.search.probe import ProbeResult, probe_result
from orchestrator.regression.sides import Side
from orchestrator.regression.trials.files import stored_trial
from orchestrator.results.store import runs
from orchestrator.workflows.host.host import Host
from orchestrator.workflows.measure.pair import MeasureOptions, PairRun, measure, new_pair_run, resumed_pair_run
from orchestrator.workflows.option_values import RuntimeName
from orchestrator.workflows.search.setup import SearchSetup


class StoppedError(Exception):
    """A search that was stopped on request. What is measured is stored."""


@dataclass(frozen=True)
class Probes:
    """The measuring of pairs of releases, each in a new run or in the one that was begun for it."""

    setup: SearchSetup
    gate: Gate
    folder: Path
    runtime: RuntimeName
    options: MeasureOptions
    host: Host
    retried: set[tuple[str, str]]
    """Baseline and candidate, as `Side.text` writes them, whose next run is a new one.

    What one side failed at is not repeated next to what the other has done long ago.
    """

    def measure(self, baseline: Side, candidate: Side, blocks: int) -> ProbeResult:
        """Measure up to so many blocks. Raises `HostError` where this host cannot, and `StoppedError`."""
        rules = Rules(gates=(self.gate,), looks=(blocks,), confirm=False)
        pair_run = self._begun(baseline, candidate)
        if pair_run is None:
            try:
                pair_run = self._new(baseline, candidate, rules)
            except InputError as error:  # the catalog or the matrix has no such environment
                return ProbeResult(reason=error.messages[0])
        trial = replace(pair_run.trial, rules=rules)
        measured = measure(replace(pair_run, trial=trial), self.options, self.host)
        self.retried.discard((baseline.text, candidate.text))
        if not measured.regression.complete:
            raise StoppedError
        return probe_result(measured, blocks)

    def _begun(self, baseline: Side, candidate: Side) -> PairRun | None:
        """Return the newest run of two sides, or None if the next one is to be new."""
        if (baseline.text, candidate.text) in self.retried:
            return None
        for run in reversed(runs(self.folder)):
            trial = stored_trial(run)
            if (trial.baseline.text, trial.candidate.text) == (baseline.text, candidate.text):
                return resumed_pair_run(self.folder, run.name, self.setup.tests.options.base_image, self.host)
        return None

    def _new(self, baseline: Side, candidate: Side, rules: Rules) -> PairRun:
        """Return a new run, on the runtime of the first run of this search."""
        first = next(iter(runs(self.folder)), None)
        runtime = RuntimeName(first.record().runtime) if first else self.runtime
        pairing = self.setup.pair(baseline, candidate)
        return new_pair_run(self.setup.tests, pairing, rules, self.folder, runtime)
