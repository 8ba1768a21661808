"""The commands `models` and `frameworks`."""

import typer

from orchestrator.cli.options import Json, MatrixFile, ModelsFolder, examples
from orchestrator.cli.output import speech
from orchestrator.cli.output.tables import plain_table, texts


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("models", epilog=examples("orchestrator models --file matrix.yaml --json"))(models)
    app.command("frameworks", epilog=examples("orchestrator frameworks --json"))(frameworks)


def models(file: MatrixFile = None, models: ModelsFolder = None, json: Json = False) -> None:
    """List the models, with their defaults: those of the program, of the matrix and its folder, and of --models."""
    from orchestrator.workflows.documents.look import models_document
    from orchestrator.workflows.look import catalog as workflow
    from orchestrator.workflows.look.catalog import ModelsOptions

    listed = workflow.models(ModelsOptions(file=file, models=models))
    if json:
        speech.print_document(models_document(listed))
        return
    table = plain_table(
        "model", "title", "input", "classes", "batch", "samples", "optimizer", "sizes", "own definitions", "whose"
    )
    for model in listed:
        shape = "×".join(map(str, model.input_shape))
        optimizer = f"{model.optimizer.get('name')} {model.optimizer.get('learning_rate', '')}"
        defined = ", ".join(each.builder for each in model.definitions)
        learned = ("–", "–", "–") if model.network else (str(model.classes), str(model.samples), optimizer)
        classes, samples, optimizer = learned
        whose = "yours" if model.own or model.network else "the program's"
        figures = (shape, classes, str(model.batch_size), samples, optimizer, ", ".join(model.sizes), defined)
        table.add_row(*texts(model.name, model.title, *figures, whose))
    speech.output().print(table)


def frameworks(json: Json = False) -> None:
    """List the frameworks of the catalog, with releases that were seen to train and their options."""
    from orchestrator.workflows.documents.look import frameworks_document
    from orchestrator.workflows.look import catalog as workflow

    entries = workflow.frameworks()
    if json:
        speech.print_document(frameworks_document(entries))
        return
    table = plain_table("framework", "title", "names", "seen to train", "ranges", "on", "options")
    for name, entry in entries.items():
        ranges = " or ".join(
            release.versions for release in entry.releases if not (release.unsupported or release.backend_only)
        )
        table.add_row(
            *texts(
                name, entry.title, ", ".join(entry.packages), ", ".join(entry.known), ranges,
                ", ".join(entry.backends), ", ".join(entry.options),
            )
        )  # fmt: skip
    speech.output().print(table)
