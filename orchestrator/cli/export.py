"""`export`: all that a server without internet needs, as one bundle."""

import contextlib
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer
import yaml

from orchestrator import images, matrix
from orchestrator.bundles.format import layout, signature
from orchestrator.bundles.format.base import BaseBundle, open_base
from orchestrator.bundles.format.manifest import Manifest
from orchestrator.bundles.format.streams import STOPPED, TransferStoppedError
from orchestrator.bundles.write import export as writing
from orchestrator.bundles.write import output_folder, parts, plan_files
from orchestrator.bundles.write.request import Export
from orchestrator.bundles.write.tar import check_replaceable, write_tar
from orchestrator.cli import composition, disk, places, speech, views
from orchestrator.cli.data import to_carry
from orchestrator.cli.options import (
    DEFAULT_LIMIT,
    BaseImage,
    Exclude,
    Jobs,
    Json,
    Limit,
    MatrixFile,
    ModelsFolder,
    NoParity,
    Select,
)
from orchestrator.cli.signals import stop_on_signals
from orchestrator.engine.client import Client, connect
from orchestrator.errors import InputError, OrchestratorError
from orchestrator.events import Listener, Notice
from orchestrator.images import Built
from orchestrator.processes import Stop
from orchestrator.running.active_runs import announced
from orchestrator.runtimes import remove_leftovers, this_process
from orchestrator.runtimes.environments import Workshop

DEFAULT_FOLDER = Path("offline_bundle")


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
    app.command("export")(export)


def export(
    offline: Offline = False,
    file: MatrixFile = None,
    select: Select = [],
    exclude: Exclude = [],
    limit: Limit = DEFAULT_LIMIT,
    no_parity: NoParity = False,
    base_image: BaseImage = None,
    models: ModelsFolder = None,
    jobs: Jobs = 2,
    output: Output = None,
    since: Since = None,
    data: Data = [],
    python: Pythons = [],
    no_wheel_check: NoWheelCheck = False,
    no_orchestrator: NoOrchestrator = False,
    key: Sign = None,
    tar: Tar = False,
    json: Json = False,
) -> None:
    """Write a bundle with images, plan and orchestrator; GPU images too, no GPU is needed for that."""
    if not offline:
        raise InputError("say --offline: a bundle for a host without internet is all that export writes")
    prepared = composition.prepare(file, select, exclude, limit, base_image, models, no_parity=no_parity)
    # Whatever can be wrong is found before hours of work, not after them.
    text = _matrix(prepared)
    plan_files.plan_documents(prepared.plan, text)
    datasets = to_carry(data, prepared.matrix)
    _check_pythons(python)
    if key:
        signature.sign(b"", key, os.environ)
    base = open_base(since) if since else None
    folder, archive = _places(output or DEFAULT_FOLDER / prepared.plan.name, base, tar=tar)
    with (
        contextlib.closing(connect(os.environ)) as client,
        announced(places.cache_folder()),
        stop_on_signals() as stop,
        views.follow(json=json) as listener,
    ):
        warnings = [f"warning: {warning}" for warning in prepared.plan.warnings]
        for line in warnings:
            listener(Notice(line))
        disk.require_for_images(client, prepared.plan.images, prepared.settings)
        if base is None:
            disk.require_for_bundle(folder, prepared.plan.images)
        wanted = Export(
            name=_name(prepared.plan.name),
            folder=folder,
            plan=prepared.plan,
            matrix=text,
            own_models=prepared.own_models,
            built=_built(prepared, client, jobs, listener, stop),
            settings=prepared.settings,
            client=client,
            listener=listener,
            stop=stop,
            base=base,
            data=datasets,
            scripts=composition.scripts_of(prepared.matrix),
            workshop=Workshop(places.cache_folder(), prepared.settings, os.environ),
            pythons=tuple(python),
            try_wheels=not no_wheel_check,
            sign=(lambda content: signature.sign(content, key, os.environ)) if key else None,
        )
        manifest = writing.write(wanted, parts.all_parts(orchestrator=not no_orchestrator))
        if archive:
            write_tar(folder, archive)
    _tell(folder, manifest, archive, json=json)


def _places(folder: Path, base: BaseBundle | None, *, tar: bool) -> tuple[Path, Path | None]:
    """Where the bundle is written, and its one file; raises `InputError` where that would take what is not ours."""
    output_folder.check_folder(folder, base)
    archive = folder.with_name(f"{folder.name}.tar") if tar else None
    if archive:
        check_replaceable(archive, base)
    return folder, archive


def _check_pythons(pythons: list[str]) -> None:
    wrong = [name for name in pythons if not re.fullmatch(r"3\.(1[1-9]|[2-9][0-9])", name)]
    if wrong:
        raise InputError(f"--python {wrong[0]}: the orchestrator runs on 3.11 and newer; write it as 3.12")


def _matrix(prepared: composition.Prepared) -> str:
    document = composition.without_credentials(matrix.long_form(prepared.matrix), prepared.settings)
    document = composition.with_frozen_scripts(document)
    document["models_folder"] = layout.MODELS if prepared.own_models else None
    return str(yaml.safe_dump(document, sort_keys=False, allow_unicode=True))


def _name(name: str) -> str:
    """A matrix may be called anything; a bundle's name is that of a folder."""
    plain = "".join(character if character.isascii() and character.isalnum() else "-" for character in name)
    return plain.strip("-")[:100] or "bundle"


def _built(
    prepared: composition.Prepared, client: Client, jobs: int, listener: Listener, stop: Stop
) -> Mapping[str, Built]:
    """Every image of the plan, built where it was missing; raises where one cannot be had."""
    remove_leftovers(client, this_process(), listener)
    ends = images.build(
        prepared.plan.images,
        prepared.settings,
        client,
        jobs=jobs,
        logs=places.cache_folder() / "build-logs",
        listener=listener,
        stop=stop,
    )
    if stop.is_set():
        raise TransferStoppedError(STOPPED)
    failures = [end for end in ends.values() if isinstance(end, images.BuildFailure)]
    if failures:
        lines = [f"{failure.image}: {failure.reason} (log: {failure.log})" for failure in failures]
        lines.append("no bundle is written: cure these, or leave them out with --exclude")
        raise OrchestratorError("\n".join(lines))
    return {name: end for name, end in ends.items() if isinstance(end, Built)}


def _tell(folder: Path, manifest: Manifest, archive: Path | None, *, json: bool) -> None:
    size_bytes = sum(file.size_bytes for file in manifest.files)
    if json:
        speech.print_json({
            "bundle": str(folder),
            "tar": str(archive) if archive else None,
            "name": manifest.name,
            "base": manifest.base.name if manifest.base else None,
            "images": [image.name for image in manifest.images],
            "files": len(manifest.files),
            "size_bytes": size_bytes,
        })  # fmt: skip
        return
    built_on = f", on top of {manifest.base.name}" if manifest.base else ""
    speech.say(f"{archive or folder}: {len(manifest.images)} images, {size_bytes / 1e6:,.0f} MB{built_on}")
    ways = [f"orchestrator load {(archive or folder).name}"]
    if any(file.path == layout.INSTALL for file in manifest.files):
        ways.insert(0, f"sh {folder.name}/{layout.INSTALL}")
    speech.say(f"on the other side: {', or where there is an orchestrator '.join(ways)}")
