"""`compare`: stored runs held against each other, or the verdict of a regression test shown again."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import typer

from orchestrator.catalog import load_faults
from orchestrator.cli.compare.regress import Metrics
from orchestrator.cli.completion import run_names
from orchestrator.cli.options import Json, Results
from orchestrator.cli.output import verdicts
from orchestrator.cli.output.hosts import this_host
from orchestrator.cli.output.verdicts import Format, Output
from orchestrator.errors import InputError
from orchestrator.regression.metrics import parse_gates
from orchestrator.regression.model import Regression
from orchestrator.regression.stored_runs.comparison import compare_runs
from orchestrator.regression.stored_runs.operands import Operand
from orchestrator.regression.trials.files import stored_regression, stored_trial
from orchestrator.reporting.findings.gather import idle_builders
from orchestrator.reporting.formats import HTML
from orchestrator.resources import IMAGES
from orchestrator.workflows.inputs.stored_runs import DEFAULT_RESULTS, find_run, report_hidden_runs
from orchestrator.workflows.measure import pairs

BOTH_SIDES = ("baseline", "candidate")


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("compare")(compare)


def compare(
    one: Annotated[
        str,
        typer.Argument(
            metavar="A",
            autocompletion=run_names,
            help="A run, or several nights RUN,RUN,…; of one release of it: RUN:mxnet==1.5.1.",
        ),
    ],
    other: Annotated[
        str | None,
        typer.Argument(metavar="[B]", autocompletion=run_names, help="As A; without it, A is a regression test."),
    ] = None,
    metric: Metrics = [],
    results: Results = DEFAULT_RESULTS,
    json: Json = False,
    format_: Format = None,
    output: Output = None,
) -> None:
    """Hold stored runs against each other: B over A, where that can be done; exit 1 where B is worse or broke."""
    shown_as = verdicts.check_output(format_, output, json=json)
    report_hidden_runs(results, this_host(json=json))
    sides = _sides(one, other, anew=bool(metric))
    if len(sides) == 1:
        run = find_run(results, sides[0].names[0])
        found = stored_regression(run)
    elif shown_as == HTML and output is None:
        raise InputError(
            "--format html needs -o DIR: only the stored verdict of one test has its run's folder to go to"
        )
    else:
        run, found = None, _judged(results, sides, metric)
    verdicts.show(run, found, shown_as, output, json=json)
    if found.regressions:
        raise typer.Exit(1)


@dataclass(frozen=True, slots=True)
class _Written:
    """`RUN`, `RUN,RUN`, `RUN:mxnet==1.5.1` or `RUN:baseline`, taken apart."""

    text: str
    names: tuple[str, ...]
    pin: str = ""


def _written(text: str) -> _Written:
    """Take an operand apart; raises `InputError` where it is none, before any run is looked for."""
    before, colon, pin = (part.strip() for part in text.partition(":"))
    names = tuple(name.strip() for name in before.split(","))
    if not all(names) or (colon and not pin):
        raise InputError(f"{text!r}: name runs, as in RUN, RUN,RUN or RUN:mxnet==1.5.1")
    return _Written(text, names, pin)


def _sides(one: str, other: str | None, *, anew: bool) -> tuple[_Written, ...]:
    """Both operands; those of a test's own sides where it is judged anew, the test alone where it is shown again."""
    first = _written(one)
    if other is not None:
        return first, _written(other)
    if first.pin or (len(first.names) > 1 and not anew):
        names = ",".join(first.names)
        raise InputError(f"{one!r}: give B too, as in {names}:{BOTH_SIDES[0]} {names}:{BOTH_SIDES[1]}")
    # What was decided stands; by other metrics it is judged anew, from the same blocks.
    return tuple(replace(first, pin=side) for side in BOTH_SIDES) if anew else (first,)


def _judged(results: Path, sides: Sequence[_Written], metric: list[str]) -> Regression:
    baseline, candidate = (_operand(results, side) for side in sides)
    models = [cell.workload.model for side in (baseline, candidate) for run in side.runs for cell in run.plan().cells]
    gates = parse_gates(metric, "--metric", models)
    return compare_runs(baseline, candidate, gates, load_faults(IMAGES / "known_faults.yaml"), idle_builders())


def _operand(results: Path, written: _Written) -> Operand:
    """Find what is meant; what is reported of it names the runs that were found, and not `latest`."""
    runs = tuple(find_run(results, name) for name in written.names)
    twice = [run.name for number, run in enumerate(runs) if run in runs[:number]]
    if twice:
        raise InputError(f"{written.text!r}: {twice[0]} is given twice; a night counts once")
    pin, text = written.pin, ",".join(run.name for run in runs)
    if not pin:
        return Operand(text, runs)
    text = f"{text}:{pin}"
    if pin in BOTH_SIDES:
        trials = [stored_trial(run) for run in runs]
        ids = [getattr(pair, pin) for trial in trials for pair in trial.pairs]
        unpaired = [each for trial in trials for each in (trial.gone if pin == BOTH_SIDES[0] else trial.new)]
        return Operand(text, runs, cell_ids=frozenset(ids), unpaired=tuple(unpaired))
    return Operand(text, runs, pairs.side(pin, text))
