"""`compare`: stored runs held against each other, or the verdict of a regression test shown again."""

from pathlib import Path
from typing import Annotated

import typer

from orchestrator.catalog import load_faults
from orchestrator.cli import composition, pairs, verdicts
from orchestrator.cli.completion import run_names
from orchestrator.cli.options import DEFAULT_RESULTS, Json, Results
from orchestrator.cli.regress import Metrics
from orchestrator.cli.verdicts import Format, FormatName, Output
from orchestrator.errors import InputError
from orchestrator.regression import Operand, across, parse_gates, stored_regression, stored_trial
from orchestrator.resources import IMAGES

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
        str,
        typer.Argument(metavar="[B]", autocompletion=run_names, help="As A; without it, A is a regression test."),
    ] = "",
    metric: Metrics = [],
    results: Results = DEFAULT_RESULTS,
    json: Json = False,
    format_: Format = FormatName.TABLE,
    output: Output = None,
) -> None:
    """Hold stored runs against each other: B over A, where hosts, environments and work allow that."""
    verdicts.check_output(format_, output, json=json)
    if not other and metric:
        # What was decided stands; by other metrics it is judged anew, from the same blocks.
        one, other = (f"{one}:{side}" for side in BOTH_SIDES)
    if not other:
        run = composition.find_run(results, one)
        verdicts.show(run, stored_regression(run), format_, output, json=json)
        return
    sides = _operand(results, one), _operand(results, other)
    models = [cell.workload.model for side in sides for run in side.runs for cell in run.plan().cells]
    gates = parse_gates(metric, "--metric", models)
    found = across(*sides, gates, load_faults(IMAGES / "known_faults.yaml"))
    verdicts.show(None, found, format_, output, json=json)


def _operand(results: Path, text: str) -> Operand:
    """Read `RUN`, `RUN,RUN`, `RUN:mxnet==1.5.1` or `RUN:baseline`; raises `InputError` where it is none of them."""
    names, colon, pin = text.partition(":")
    if not all(name.strip() for name in names.split(",")) or (colon and not pin.strip()):
        raise InputError(f"{text!r}: name runs, as in RUN, RUN,RUN or RUN:mxnet==1.5.1")
    runs = tuple(composition.find_run(results, name.strip()) for name in names.split(","))
    twice = [run.name for number, run in enumerate(runs) if run in runs[:number]]
    if twice:
        raise InputError(f"{text!r}: {twice[0]} is given twice; a night counts once")
    if not colon:
        return Operand(text, runs)
    if pin in BOTH_SIDES:
        trials = [stored_trial(run) for run in runs]
        ids = [getattr(pair, pin) for trial in trials for pair in trial.pairs]
        unpaired = [each for trial in trials for each in (trial.gone if pin == BOTH_SIDES[0] else trial.new)]
        return Operand(text, runs, cell_ids=frozenset(ids), unpaired=tuple(unpaired))
    return Operand(text, runs, pairs.side(pin, text))
