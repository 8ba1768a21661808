"""`build`: the images alone, for this host or another."""

import contextlib
import os
from pathlib import Path
from typing import Annotated

import typer

from orchestrator import images
from orchestrator.bundles.read.loaded_bundle import LoadedBundle
from orchestrator.cli import carried, composition, disk, places, speech, views
from orchestrator.cli.carried import PlanName
from orchestrator.cli.options import (
    DEFAULT_LIMIT,
    BaseImage,
    Exclude,
    Jobs,
    Json,
    Limit,
    MatrixFile,
    ModelsFolder,
    Select,
)
from orchestrator.cli.signals import INTERRUPTED, stop_on_signals
from orchestrator.domain import Plan
from orchestrator.engine.client import connect
from orchestrator.errors import HostError, InputError
from orchestrator.events import Notice
from orchestrator.results.writing import write_atomically
from orchestrator.running.active_runs import announced
from orchestrator.runtimes import remove_leftovers, this_process


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("build")(build)


def build(
    file: MatrixFile = None,
    plan: PlanName = None,
    select: Select = [],
    exclude: Exclude = [],
    limit: Limit = DEFAULT_LIMIT,
    base_image: BaseImage = None,
    models: ModelsFolder = None,
    jobs: Jobs = 2,
    json: Json = False,
    logs: Annotated[Path | None, typer.Option("--logs", metavar="DIR", help="Where the build logs go.")] = None,
    render: Annotated[
        Path | None, typer.Option("--render", metavar="DIR", help="Only write the Dockerfiles there; no engine needed.")
    ] = None,
) -> None:
    """Build the images that are missing, GPU images too: no GPU is needed for that."""
    bundle = carried.chosen("build", file, plan)
    if bundle is not None:
        carried.refuse_matrix_options(base_image, models)
        _nothing_to_build(bundle, carried.plan_of(bundle, select, exclude), render, json=json)
        return
    prepared = composition.prepare(file, select, exclude, limit, base_image, models)
    if render is not None:
        for warning in prepared.plan.warnings:
            speech.say(f"warning: {warning}")
        written = _render(prepared, render)
        if json:
            speech.print_json([str(path) for path in written])
        return
    with (
        contextlib.closing(connect(os.environ)) as client,
        announced(places.cache_folder()),
        stop_on_signals() as stop,
        views.follow(json=json) as listener,
    ):
        for warning in prepared.plan.warnings:
            listener(Notice(f"warning: {warning}"))
        disk.require_for_images(client, prepared.plan.images, prepared.settings)
        place = logs or places.cache_folder() / "build-logs"
        remove_leftovers(client, this_process(), listener)
        built = images.build(
            prepared.plan.images,
            prepared.settings,
            client,
            jobs=jobs,
            logs=place,
            listener=listener,
            stop=stop,
        )
    failures = [end for end in built.values() if isinstance(end, images.BuildFailure)]
    if json:
        speech.print_json([_entry(end) for end in built.values()])
    else:
        # The view has named each image that failed, with its reason.
        logged = f"; logs: {place}" if any(failure.log for failure in failures) else ""
        speech.say(f"{len(built) - len(failures)} of {len(built)} images are ready{logged}")
    if stop.is_set():
        raise typer.Exit(INTERRUPTED)
    if failures:
        raise typer.Exit(1)


def _nothing_to_build(bundle: LoadedBundle, plan: Plan, render: Path | None, *, json: bool) -> None:
    """The images of a bundle are there or are brought: say which; raises `HostError` with those that are not there."""
    if render is not None:
        raise InputError(
            f"--render: the images of the bundle {bundle.name} are built already; take a matrix with --file"
        )
    with contextlib.closing(connect(os.environ)) as client:
        missing = carried.missing_images(client, bundle, plan)
    if missing:
        raise HostError(missing)
    given = carried.images_of(bundle, plan)
    if json:
        speech.print_json([
            {"image": image.name, "ok": True, "reference": image.reference, "image_id": image.image_id, "cached": True}
            for image in given
        ])  # fmt: skip
    else:
        speech.say(f"nothing to build: all {len(given)} images came with the bundle {bundle.name}, and are here")


def _entry(end: images.Built | images.BuildFailure) -> dict[str, object]:
    if isinstance(end, images.BuildFailure):
        return {"image": end.image, "ok": False, "reason": end.reason, "log": str(end.log) if end.log else None}
    return {
        "image": end.image, "ok": True, "reference": end.reference, "image_id": end.image_id,
        "base_digest": end.base_digest, "cached": end.cached, "wall_s": end.wall_s,
    }  # fmt: skip


def _render(prepared: composition.Prepared, folder: Path) -> list[Path]:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise HostError(f"{folder}: cannot be made: {error.strerror}; name another folder") from error
    written = []
    for recipe in images.recipes(prepared.plan.images, prepared.settings):
        path = folder / f"{recipe.spec.name.replace('/', '-').replace(':', '-')}.Dockerfile"
        write_atomically(path, recipe.dockerfile)
        speech.say(str(path))
        written.append(path)
    return written
