"""The command `export`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from orchestrator.cli.options import (
    BaseImage,
    Exclude,
    Jobs,
    Json,
    Limit,
    MatrixFile,
    ModelsFolder,
    NoParity,
    Quick,
    Select,
    examples,
)
from orchestrator.cli.output import speech
from orchestrator.cli.output.hosts import this_host
from orchestrator.errors import InputError
from orchestrator.workflows import option_values

if TYPE_CHECKING:
    from orchestrator.workflows.ship.export import ExportResult


Offline = Annotated[bool, typer.Option("--offline", help="As a bundle for a host without internet.")]
Output = Annotated[
    Path | None, typer.Option("-o", "--output", metavar="DIR", help="The bundle; offline_bundle/NAME by default.")
]
Since = Annotated[
    Path | None,
    typer.Option("--since", metavar="BUNDLE", help="Leave out what this bundle (or manifest.json) holds."),
]
Data = Annotated[
    list[str],
    typer.Option(
        "--data",
        metavar="NAME[=DIR]",
        help="A dataset to carry along, from DIR or the folder of its name in the data folder; may be repeated.",
    ),
]
Docs = Annotated[
    Path | None,
    typer.Option("--docs", metavar="DIR", help="The documentation to carry along: build/site, after `make docs`."),
]
Pythons = Annotated[
    list[str],
    typer.Option("--python", metavar="X.Y", help="A Python of the far side; 3.11 to 3.14 by default. May be repeated."),
]
NoWheelCheck = Annotated[
    bool, typer.Option("--no-wheel-check", help="Do not install the wheels here to see that they are enough.")
]
NoOrchestrator = Annotated[
    bool, typer.Option("--no-orchestrator", help="Leave the orchestrator out: the other side has one already.")
]
Sign = Annotated[
    Path | None,
    typer.Option("--sign", metavar="KEY", help="Sign the manifest with this SSH key, or the agent's to a KEY.pub."),
]
Tar = Annotated[bool, typer.Option("--tar", help="Beside the folder, as one file too: DIR.tar.")]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(
        "export",
        epilog=examples(
            "orchestrator export --offline --output bundle --tar",
            "orchestrator export --offline --since offline_bundle/harness",
        ),
    )(export)


def export(
    offline: Offline = False,
    file: MatrixFile = None,
    select: Select = [],
    exclude: Exclude = [],
    limit: Limit = option_values.LIMIT,
    no_parity: NoParity = False,
    quick: Quick = False,
    base_image: BaseImage = None,
    models: ModelsFolder = None,
    jobs: Jobs = option_values.JOBS,
    output: Output = None,
    since: Since = None,
    data: Data = [],
    docs: Docs = None,
    python: Pythons = [],
    no_wheel_check: NoWheelCheck = False,
    no_orchestrator: NoOrchestrator = False,
    key: Sign = None,
    tar: Tar = False,
    json: Json = False,
) -> None:
    """Write a bundle with images, plan and orchestrator; GPU images too, no GPU is needed for that."""
    from orchestrator.workflows.ship import export as workflow
    from orchestrator.workflows.ship.export import ExportOptions

    if not offline:
        raise InputError("say --offline: a bundle for a host without internet is all that export writes")
    options = ExportOptions(
        file=file, select=select, exclude=exclude, limit=limit, no_parity=no_parity, quick=quick, base_image=base_image,
        models=models, jobs=jobs, output=output, since=since, data=data, documentation=docs,
        pythons=python, wheel_check=not no_wheel_check, orchestrator=not no_orchestrator, key=key, tar=tar,
    )  # fmt: skip
    _show(workflow.export(options, this_host()), json=json)


def _show(result: "ExportResult", *, json: bool) -> None:
    from orchestrator.bundles.format import layout
    from orchestrator.workflows.documents.ship import export_document

    if json:
        speech.print_document(export_document(result))
        return
    folder, manifest, archive = result.folder, result.manifest, result.archive
    built_on = f", on top of {manifest.base.name}" if manifest.base else ""
    speech.say(f"{archive or folder}: {len(manifest.images)} images, {result.size_bytes / 1e6:,.0f} MB{built_on}")
    ways = [f"orchestrator load {(archive or folder).name}"]
    if any(file.path == layout.INSTALL for file in manifest.files):
        ways.insert(0, f"sh {folder.name}/{layout.INSTALL}")
    speech.say(f"on the other side: {', or where there is an orchestrator '.join(ways)}")
