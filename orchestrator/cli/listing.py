"""`runs`, `show`, `models`, `frameworks`, `schema`: what there is."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from datetime import timedelta
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from orchestrator import matrix
from orchestrator.bundles.format.manifest import manifest_schema
from orchestrator.catalog import ModelInfo
from orchestrator.cli import composition, places, speech
from orchestrator.cli.completion import run_cells, run_names
from orchestrator.cli.options import DEFAULT_RESULTS, Json, MatrixFile, ModelsFolder, Results
from orchestrator.domain import Outcome
from orchestrator.errors import InputError
from orchestrator.regression.history.acknowledged import acknowledged_schema
from orchestrator.regression.nightly import settings as nightly_settings
from orchestrator.regression.nightly.state import Night
from orchestrator.regression.search import record as search_record
from orchestrator.regression.trials.files import regression_schema
from orchestrator.reporting.live.lines import event_schema
from orchestrator.results.contract import Result
from orchestrator.results.evidence import read_repeat
from orchestrator.results.listing import index
from orchestrator.results.schemas import NAMES, contract_schema
from orchestrator.results.store import Run
from orchestrator.results.throughput import throughput
from orchestrator.wording import clean_line, rate, seconds

_HOW_TO_NAME_A_CELL = "; a cell is written IMAGE/WORK, as `orchestrator show` lists them"


class SchemaName(StrEnum):
    """What has a published schema."""

    MATRIX = "matrix"
    REQUEST = "request"
    RESULT = "result"
    OUTCOME = "outcome"
    RUN = "run"
    ENVIRONMENTS = "environments"
    EVENT = "event"
    PARITY = "parity"
    SCRIPT = "script"
    MANIFEST = "manifest"
    REGRESSION = "regression"
    NIGHTLY = "nightly"
    ACKNOWLEDGED = "acknowledged"
    NIGHT = "night"
    BISECT = "bisect"


def register(app: typer.Typer) -> None:
    """Add the commands."""
    for command in (runs, show, models, frameworks, schema):
        app.command(command.__name__)(command)


def runs(results: Results = DEFAULT_RESULTS, json: Json = False) -> None:
    """List the runs of a results folder, oldest first."""
    if not results.is_dir():
        raise InputError(f"{results}: no such folder; `orchestrator run` makes one, --results DIR looks elsewhere")
    composition.tell_of_hidden(results)
    found = index.summaries(results, places.cache_folder())
    if json:
        speech.print_json([asdict(run) for run in found])
        return
    table = _table("run", "matrix", "runtime", "host", "took", "cells", "repeats", "outcomes")
    for run in found:
        counts = ", ".join(f"{count} {status}" for status, count in run.counts)
        pending = f"{run.pending} without outcome" if run.pending else ""
        took = "" if run.wall_s is None else str(timedelta(seconds=round(run.wall_s)))
        ended = run.problem or "; ".join(part for part in (counts, pending) if part)
        table.add_row(
            *_texts(run.name, run.matrix, run.runtime, run.host, took, str(run.cells), str(run.planned), ended)
        )
    speech.output().print(table)


def show(
    run: Annotated[
        str,
        typer.Argument(
            metavar="[RUN]",
            autocompletion=run_names,
            help="A run's name or the beginning of it, the latest by default; or a CELL of the latest run that has it.",
        ),
    ] = "",
    cell: Annotated[
        str,
        typer.Argument(
            metavar="[CELL]", autocompletion=run_cells, help="Only the repeats of this cell, with figures and files."
        ),
    ] = "",
    results: Results = DEFAULT_RESULTS,
    json: Json = False,
) -> None:
    """Show how every repeat of a run ended; of one cell also its figures and files."""
    composition.tell_of_hidden(results)
    if "/" in run and not cell:  # the id of a cell always holds one, the name of a run never does
        run, cell = _latest_with(results, run), run
    found = composition.find_run(results, run, "" if cell else _HOW_TO_NAME_A_CELL)
    outcomes = index.outcomes(results, places.cache_folder(), found.name)
    problem = index.problem(results, places.cache_folder(), found.name)
    if cell:
        outcomes = tuple(outcome for outcome in outcomes if outcome.cell_id == cell)
        if not outcomes:
            raise InputError(
                problem or f"{found.name}: no outcome of a cell {cell!r}; `orchestrator show {found.name}` lists them"
            )
    if problem and not outcomes:
        raise InputError(problem)
    if problem:
        speech.say(problem)
    if json:
        speech.print_json([_entry(outcome, found, whole=bool(cell)) for outcome in outcomes])
        return
    speech.output().print(_cell_table(found, outcomes) if cell else _run_table(outcomes))


def _latest_with(results: Path, cell: str) -> str:
    """The latest run that holds an outcome of a cell; raises `InputError` if there is none."""
    latest = composition.find_run(results, "").name
    name = index.latest_with(results, places.cache_folder(), cell)
    if name is None:
        raise InputError(
            f"{results}: no run has an outcome of a cell {cell!r}; `orchestrator show {latest}` lists some"
        )
    return name


def _run_table(outcomes: Sequence[Outcome]) -> Table:
    table = _table("cell", "repeat", "status", "wall", "reason or log")
    for outcome in outcomes:
        table.add_row(*_texts(*_ended(outcome), outcome.reason or outcome.disturbance or outcome.log or ""))
    return table


def _cell_table(run: Run, outcomes: Sequence[Outcome]) -> Table:
    disturbed = any(outcome.disturbance for outcome in outcomes)
    table = _table("cell", "repeat", "status", "wall", "samples/s", "files", *(("disturbed by",) if disturbed else ()))
    for outcome in outcomes:
        last = (outcome.disturbance,) if disturbed else ()
        table.add_row(*_texts(*_ended(outcome), *_details(run, outcome), *last))
    return table


def _ended(outcome: Outcome) -> tuple[str, str, str, str]:
    """Which repeat of which cell, how it ended, and how long it took."""
    status = f"{outcome.status.value}, disturbed" if outcome.disturbance else outcome.status.value
    return outcome.cell_id, str(outcome.repeat), status, seconds(outcome.wall_s) if outcome.wall_s else "–"


def _details(run: Run, outcome: Outcome) -> tuple[str, str]:
    """The throughput of a repeat, or why there is none, and where its files are."""
    folder = str(run.repeat_folder(outcome.cell_id, outcome.repeat))
    result, problem = _result(run, outcome)
    if result is None:
        return problem or outcome.reason, folder
    return rate(throughput(result, epochs=_in_epochs(run, outcome.cell_id))), folder


def _in_epochs(run: Run, cell_id: str) -> bool:
    """Whether the timed blocks of a cell are epochs, of which the first does not count."""
    return any(cell.id == cell_id and cell.duration.epochs is not None for cell in run.plan().cells)


def _entry(outcome: Outcome, run: Run, *, whole: bool) -> dict[str, Any]:
    entry = asdict(outcome)
    if whole:
        result, problem = _result(run, outcome)
        entry |= {"result": result.model_dump(mode="json", by_alias=True) if result else None, "problem": problem}
    return entry


def _result(run: Run, outcome: Outcome) -> tuple[Result | None, str]:
    """A repeat's result, or what has become of its file."""
    stored = read_repeat(run, outcome)
    return stored.result, "" if stored.outcome is outcome else stored.outcome.reason


def models(file: MatrixFile = None, models: ModelsFolder = None, json: Json = False) -> None:
    """List the models, with their defaults: those of the program, of the matrix's models_folder, and of --models."""
    found = composition.listed_models(file, models)
    if json:
        speech.print_json([_model_entry(model) for model in found])
        return
    table = _table("model", "title", "input", "classes", "batch", "samples", "optimizer", "own definitions", "whose")
    for model in found:
        shape = "×".join(map(str, model.input_shape))
        optimizer = f"{model.optimizer['name']} {model.optimizer.get('learning_rate', '')}"
        defined = ", ".join(each.builder for each in model.definitions)
        figures = (shape, str(model.classes), str(model.batch_size), str(model.samples), optimizer, defined)
        table.add_row(*_texts(model.name, model.title, *figures, "yours" if model.own else "the program's"))
    speech.output().print(table)


def _model_entry(model: ModelInfo) -> dict[str, Any]:
    entry = {field: getattr(model, field) for field in ("name", "title", "input_shape", "classes", "batch_size")}
    own = {"sha256": model.own.sha256} if model.own else None
    definitions = {each.builder: each.sha256 for each in model.definitions}
    optimizer = dict(model.optimizer)
    return entry | {"samples": model.samples, "optimizer": optimizer, "own": own, "definitions": definitions}


def frameworks(json: Json = False) -> None:
    """List the frameworks of the catalog, with releases that were seen to train and their options."""
    entries = composition.the_catalog().entries
    if json:
        speech.print_json({name: entry.model_dump(mode="json") for name, entry in entries.items()})
        return
    table = _table("framework", "title", "names", "seen to train", "ranges", "on", "options")
    for name, entry in entries.items():
        ranges = " or ".join(release.versions for release in entry.releases if not release.unsupported)
        table.add_row(
            *_texts(
                name, entry.title, ", ".join(entry.packages), ", ".join(entry.known), ranges,
                ", ".join(entry.backends), ", ".join(entry.options),
            )
        )  # fmt: skip
    speech.output().print(table)


def _night_schema() -> dict[str, Any]:
    body = Night.model_json_schema(mode="serialization", by_alias=True)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **body}


_OWN_SCHEMAS: Mapping[SchemaName, Callable[[], dict[str, Any]]] = {
    SchemaName.NIGHTLY: nightly_settings.schema,
    SchemaName.ACKNOWLEDGED: acknowledged_schema,
    SchemaName.NIGHT: _night_schema,
    SchemaName.REGRESSION: regression_schema,
    SchemaName.BISECT: search_record.schema,
}


def schema(name: Annotated[SchemaName, typer.Argument(help="Of which file.")] = SchemaName.MATRIX) -> None:
    """Print a JSON Schema: of matrix.yaml for editors, of a file of results or a bundle, or of a line of progress."""
    if name is SchemaName.EVENT:
        speech.print_json(event_schema())
        return
    if name is SchemaName.MANIFEST:
        speech.print_json(manifest_schema())
        return
    own = _OWN_SCHEMAS.get(name)
    if own is not None:
        speech.print_json(own())
        return
    speech.print_json(contract_schema(name) if name in NAMES else matrix.schema())


def _table(*columns: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        table.add_column(column, overflow="fold")
    return table


def _texts(*cells: str) -> list[Text]:
    return [Text(clean_line(cell)) for cell in cells]
