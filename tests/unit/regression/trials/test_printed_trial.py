"""Trials of scripts at two releases of a package, judged by the figures that they print."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from orchestrator.analysis.comparison import Verdict
from orchestrator.errors import InputError
from orchestrator.modes.parts.metrics import Better
from orchestrator.processes import Cause, Stop, Watch
from orchestrator.regression.judge.comparable import OF_SCRIPT
from orchestrator.regression.model import Judged, Regression
from orchestrator.regression.pairing import Pairing
from orchestrator.regression.rules import DEFAULT_GATES, Gate, Rules, printed_gates
from orchestrator.regression.stored_runs.comparison import compare_runs
from orchestrator.regression.stored_runs.operands import Operand
from orchestrator.regression.trials.files import stored_regression, stored_trial
from orchestrator.results.store import Run
from orchestrator.runtimes import Ended, Task
from tests.unit.regression.trials.bench_trials import Bench, Rate, steady, try_out

Pair = Callable[..., Pairing]
GOLDEN = Path(__file__).parents[3] / "golden/contract/script.json"
SCRIPT = """scripts:
  - name: bert
    file: bert.py
    packages: {transformers: 4.40.0}
    metrics:
      step: {pattern: x, unit: ms, better: lower}
      speed: {pattern: x, unit: words/s, better: higher}
"""


@dataclass
class PrintingBench(Bench):
    """Prints figures in place of measuring: the time of a step, and a speed that never changes."""

    step_ms: Rate = field(default_factory=steady)

    def seen(self, path: Path, mounted: str) -> str:
        del path
        return mounted

    def launch(self, task: Task, *, stop: Stop, watch: Watch) -> Ended:
        request = json.loads((task.folder / "request.json").read_text())
        cell, repeat = request["cell"], request["repeat"]
        if not cell.endswith("-script"):
            return super().launch(task, stop=stop, watch=watch)
        self.launched.append(request)
        step, speed = self.step_ms(cell, repeat), 100 * steady()("speed", repeat)
        printed = {"step": [step, 3 * step, step], "speed": [speed]}
        metrics = {name: {"values": values, "matches": len(values)} for name, values in printed.items()}
        answer = json.loads(GOLDEN.read_text()) | {"cell": cell, "repeat": repeat, "metrics": metrics}
        (task.folder / "result.json").write_text(json.dumps(answer))
        task.log.write_text("it ran\n")
        return Ended(Cause.EXITED, 0, wall_s=1.0, create_s=0.2)


@pytest.fixture
def pairing(tmp_path: Path, pair: Pair) -> Pairing:
    """The script and no model, at two releases of Transformers."""
    (tmp_path / "bert.py").write_text("print('x')")
    return pair("transformers==4.40.0", "transformers==4.45.0", SCRIPT)


def rules_of(pairing: Pairing) -> Rules:
    scripts = {cell.script.name: cell.script for cell in pairing.plan.cells if cell.script}
    return Rules(gates=(*DEFAULT_GATES, *printed_gates(scripts.values())))


def metrics(regression: Regression) -> dict[str, Judged]:
    (pair,) = regression.pairs
    return {metric.metric: metric for metric in pair.metrics}


def test_a_printed_figure_decides(tmp_path: Path, pairing: Pairing) -> None:
    """A printed figure is judged in its direction, by the median of a repeat, and an alarm is confirmed."""
    runtime = PrintingBench(step_ms=steady(**{"4.45.0": 1.2}))
    regression = try_out(tmp_path / "run", pairing, runtime, rules_of(pairing))

    judged = metrics(regression)
    assert list(judged) == ["printed.step", "printed.speed"]
    step = judged["printed.step"]
    assert (step.verdict, step.title, step.unit, step.better) == (Verdict.SLOWER, "step", "ms", Better.LOWER)
    assert step.confirmation is not None
    assert (step.confirmation.confirmed, step.confirmation.blocks, step.tolerance) == (True, 6, 0.05)
    assert step.ratio == pytest.approx(1.2, abs=0.02)
    assert step.baseline == pytest.approx(1000, rel=0.01)
    assert judged["printed.speed"].verdict is Verdict.SAME
    assert (regression.baseline.label, regression.family) == ("transformers 4.40.0 in mxnet 1.9.1", 2)
    assert regression.pairs[0].notes == (OF_SCRIPT,)
    assert stored_regression(Run(tmp_path / "run")) == regression


def test_a_trial_of_a_script_goes_on(tmp_path: Path, pairing: Pairing) -> None:
    """The trial is stored with the figures and the package, and no further key in other trials."""
    try_out(tmp_path / "run", pairing, PrintingBench(), rules_of(pairing))

    stored = stored_trial(Run(tmp_path / "run"))
    assert (stored.candidate, stored.rules) == (pairing.candidate, rules_of(pairing))
    written = json.loads((tmp_path / "run" / "trial.json").read_text())
    assert written["baseline"]["is_package"] is True
    assert [sorted(gate) for gate in written["rules"]["gates"]] == [
        *[["metric", "model", "tolerance"]] * 2,
        *[["better", "metric", "model", "tolerance", "unit"]] * 2,
    ]


def test_what_is_not_named_is_shown(tmp_path: Path, pairing: Pairing) -> None:
    """A figure that does not decide is shown, and a script is not measured by a metric of models."""
    step = Gate("printed.step", 0.01, "bert", Better.LOWER, "ms")
    regression = try_out(tmp_path / "run", pairing, PrintingBench(), Rules(gates=(step,)))

    assert {name: (each.gates, each.tolerance) for name, each in metrics(regression).items()} == {
        "printed.step": (True, 0.01),
        "printed.speed": (False, 0.05),
    }
    by_models = try_out(tmp_path / "other", pairing, PrintingBench(), Rules())
    assert (by_models.pairs[0].verdict, by_models.tells_nothing) == (Verdict.NOT_MEASURED, True)


def test_a_stored_trial_of_a_script_is_judged_again(tmp_path: Path, pairing: Pairing) -> None:
    """`compare` takes a script as the two sides of its regression test, and never as a cell of a whole run."""
    try_out(tmp_path / "run", pairing, PrintingBench(step_ms=steady(**{"4.45.0": 1.2})), rules_of(pairing))
    run = Run(tmp_path / "run")
    sides = [
        Operand(name, (run,), cell_ids=frozenset(getattr(pair, name) for pair in pairing.pairs))
        for name in ("baseline", "candidate")
    ]

    again = compare_runs(sides[0], sides[1], (Gate("printed.step", 0.1, "bert", Better.LOWER, "ms"),))

    step = metrics(again)["printed.step"]
    assert (step.verdict, step.tolerance, step.gates) == (Verdict.SLOWER, 0.1, True)
    with pytest.raises(InputError, match="no such cells in the plan"):
        compare_runs(Operand("run", (run,)), Operand("run", (run,)), DEFAULT_GATES)
