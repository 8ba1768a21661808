"""The commands `models`, `frameworks` and `schema`."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from orchestrator.cli.examples import examples
from orchestrator.cli.options import Json, MatrixFile, ModelsFolder
from orchestrator.cli.output import speech
from orchestrator.cli.output.tables import plain_table, texts
from orchestrator.workflows.option_values import SchemaName

if TYPE_CHECKING:
    from orchestrator.catalog import ModelInfo


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("models", epilog=examples("orchestrator models --file matrix.yaml --json"))(models)
    app.command("frameworks", epilog=examples("orchestrator frameworks --json"))(frameworks)
    app.command("schema", epilog=examples("orchestrator schema matrix", "orchestrator schema regression"))(schema)


def models(file: MatrixFile = None, models: ModelsFolder = None, json: Json = False) -> None:
    """List the models, with their defaults: those of the program, of the matrix's models_folder, and of --models."""
    from orchestrator.workflows.look import catalog as workflow

    listed = workflow.models(workflow.ModelsOptions(file=file, models=models))
    if json:
        speech.print_json([_model_entry(model) for model in listed])
        return
    table = plain_table(
        "model", "title", "input", "classes", "batch", "samples", "optimizer", "own definitions", "whose"
    )
    for model in listed:
        shape = "×".join(map(str, model.input_shape))
        optimizer = f"{model.optimizer['name']} {model.optimizer.get('learning_rate', '')}"
        defined = ", ".join(each.builder for each in model.definitions)
        figures = (shape, str(model.classes), str(model.batch_size), str(model.samples), optimizer, defined)
        table.add_row(*texts(model.name, model.title, *figures, "yours" if model.own else "the program's"))
    speech.output().print(table)


def _model_entry(model: "ModelInfo") -> dict[str, Any]:
    entry = {field: getattr(model, field) for field in ("name", "title", "input_shape", "classes", "batch_size")}
    own = {"sha256": model.own.sha256} if model.own else None
    definitions = {each.builder: each.sha256 for each in model.definitions}
    optimizer = dict(model.optimizer)
    return entry | {"samples": model.samples, "optimizer": optimizer, "own": own, "definitions": definitions}


def frameworks(json: Json = False) -> None:
    """List the frameworks of the catalog, with releases that were seen to train and their options."""
    from orchestrator.workflows.look import catalog as workflow

    entries = workflow.frameworks()
    if json:
        speech.print_json({name: entry.model_dump(mode="json") for name, entry in entries.items()})
        return
    table = plain_table("framework", "title", "names", "seen to train", "ranges", "on", "options")
    for name, entry in entries.items():
        ranges = " or ".join(release.versions for release in entry.releases if not release.unsupported)
        table.add_row(
            *texts(
                name, entry.title, ", ".join(entry.packages), ", ".join(entry.known), ranges,
                ", ".join(entry.backends), ", ".join(entry.options),
            )
        )  # fmt: skip
    speech.output().print(table)


def schema(name: Annotated[SchemaName, typer.Argument(help="Of which file.")] = SchemaName.MATRIX) -> None:
    """Print a JSON Schema: of matrix.yaml for editors, of a file of results or a bundle, or of a line of progress."""
    from orchestrator.workflows.look import catalog as workflow

    speech.print_json(workflow.schema(name))
