"""Is a result that is measured again where the report said it would be? A real cell, in containers.

    python -m bench.remeasure [--repeats 6] [--pairs 10] [--framework torch==2.13.0]

The first repeats of a cell state a prediction interval; then it is measured again, each time in a fresh container, and
those that lie inside are counted: nine of ten are wanted.
"""

import argparse
import json
import sys
import tempfile
from pathlib import Path

from bench import inside
from orchestrator.analysis import PREDICTION, estimate, repeat_measurement
from orchestrator.domain import Duration, Framework
from orchestrator.results.store import Run


def measured(run: Run, cell_id: str, repeats: int) -> list[float]:
    """Samples per second of every repeat of a run's cell, in order."""
    values = []
    for repeat in range(repeats):
        outcome = run.outcome(cell_id, repeat)
        assert outcome is not None
        result = run.result(outcome)
        assert result is not None
        values.append(repeat_measurement(result, None).samples_per_s)
    return values


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=10, help="re-measurements")
    parser.add_argument("--repeats", type=int, default=6, help="repeats that state the interval")
    parser.add_argument("--framework", default="torch==2.13.0")
    parser.add_argument("--model", default="lenet")
    parser.add_argument("--batch", type=int, default=64)
    arguments = parser.parse_args()
    name, version = arguments.framework.split("==")
    plan = inside.training(
        Framework(name, version, python="3.11"), tag=f"{version}-cpu", model=arguments.model, batch=arguments.batch,
        duration=Duration(), repeats=arguments.repeats + arguments.pairs,
    )  # fmt: skip
    with tempfile.TemporaryDirectory(prefix="bench-remeasure-") as scratch:
        run, outcomes = inside.begin(plan, Path(scratch, "run"))
        for number, _ in enumerate(outcomes, 1):
            print(f"  repeat {number}/{plan.cells[0].repeats}", file=sys.stderr, flush=True)
        values = measured(run, plan.cells[0].id, plan.cells[0].repeats)
    stated = estimate(values[: arguments.repeats])
    again = values[arguments.repeats :]
    assert stated.next_low is not None
    assert stated.next_high is not None
    kept = sum(stated.next_low <= value <= stated.next_high for value in again)
    print(
        f"  stated from {stated.n} repeats: {stated.value:.4g} samples/s, a further repeat {stated.next_low:.4g} to "
        f"{stated.next_high:.4g} ({PREDICTION:.0%}); {kept} of {len(again)} lie inside",
        file=sys.stderr,
    )
    figure = {
        "name": f"{arguments.framework}, {arguments.model}, measured again",
        "text": f"{kept} of {len(again)} inside the {PREDICTION:.0%} prediction interval of {stated.n} repeats",
        "wanted": "at least 9 of 10",
        "within": kept >= 0.9 * len(again),
        "stated": {"low": stated.next_low, "value": stated.value, "high": stated.next_high, "unit": "samples/s"},
        "values": again,
    }
    print(json.dumps([figure]))


if __name__ == "__main__":
    main()
