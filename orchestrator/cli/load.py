"""`verify` and `load`: a bundle on the far side."""

import contextlib
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from orchestrator.bundles.format import layout, signature
from orchestrator.bundles.format.sources import open_source, read_whole
from orchestrator.bundles.format.streams import Meter
from orchestrator.bundles.read import stored_files
from orchestrator.bundles.read.load import load_images
from orchestrator.bundles.read.receiver import Receiver
from orchestrator.bundles.read.verify import OpenedBundle, open_bundle
from orchestrator.bundles.read.verify import verify as verify_bundle
from orchestrator.cli import carried, places, speech, views
from orchestrator.cli.options import Json
from orchestrator.cli.signals import stop_on_signals
from orchestrator.engine import transfer
from orchestrator.engine.client import connect
from orchestrator.events import Notice
from orchestrator.planning import script_document
from orchestrator.results.scripts.frozen import scripts_of

Bundle = Annotated[Path, typer.Argument(metavar="BUNDLE", help="The folder or the tar that `export` wrote.")]


AllowedSigners = Annotated[
    Path | None,
    typer.Option(
        "--allowed-signers",
        metavar="FILE",
        envvar="ORCHESTRATOR_ALLOWED_SIGNERS",
        help="Accept the bundle only from those named here, as in ssh-keygen(1); without it, from anybody.",
    ),
]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("verify")(verify)
    app.command("load")(load)


def verify(bundle: Bundle, allowed_signers: AllowedSigners = None, json: Json = False) -> None:
    """Prove every byte of a bundle against its manifest; no engine is needed."""
    opened = _opened(bundle, allowed_signers)
    with views.follow(json=json) as listener:
        verify_bundle(opened, Meter(listener, "verified", _size_bytes(opened)))
    if json:
        speech.print_json(_described(opened))
    else:
        speech.say(f"{bundle}: whole: {_counted(opened)}")


def load(bundle: Bundle, allowed_signers: AllowedSigners = None, json: Json = False) -> None:
    """Verify a bundle, and put its images on the engine: only those, and only the layers, that are missing."""
    opened = _opened(bundle, allowed_signers)
    with (
        contextlib.closing(connect(os.environ)) as client,
        stop_on_signals() as stop,
        views.follow(json=json) as listener,
    ):
        meter = Meter(listener, "read", _size_bytes(opened))
        kept_in = places.bundles_folder()
        sources = stored_files.check_stored_files(opened, bundle, kept_in)
        by_manifest = transfer.knows_by_manifest(client)
        to = Receiver(client, meter, lambda line: listener(Notice(line)), stop, by_manifest)
        loaded = load_images(opened, bundle, to)
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        kept = stored_files.store(kept_in, opened, sources, to.identity, now)
    plan = kept.plan()
    if json:
        described = _described(opened) | {"loaded": [image.name for image in loaded]}
        speech.print_json(described | {"scripts": [script_document(script) for script in scripts_of(plan)]})
    else:
        there = len(opened.manifest.images) - len(loaded)
        speech.say(f"{bundle}: {len(loaded)} images loaded, {there} were there already")
        for line in carried.script_lines(plan):
            speech.say(line)
        speech.say(f"run its plan with: orchestrator run --plan {kept.name}")


def _opened(bundle: Path, allowed_signers: Path | None) -> OpenedBundle:
    """Open a bundle, and say who made it; raises where that must be somebody else."""
    opened = open_bundle(open_source(bundle))
    source = opened.source
    made = (
        read_whole(source, layout.SIGNATURE, signature.MAX_SIGNATURE_BYTES)
        if layout.SIGNATURE in source.sizes
        else None
    )
    verdict = signature.check(opened.manifest.encoded(), made, allowed_signers, os.environ, bundle=str(bundle))
    speech.say(verdict.sentence)
    return opened


def _described(opened: OpenedBundle) -> dict[str, object]:
    manifest = opened.manifest
    return {
        "name": manifest.name,
        "manifest_sha256": opened.manifest_sha256,
        "base": manifest.base.name if manifest.base else None,
        "images": [image.name for image in manifest.images],
        "files": len(manifest.files),
        "size_bytes": _size_bytes(opened),
    }


def _counted(opened: OpenedBundle) -> str:
    return (
        f"{len(opened.manifest.images)} images, {len(opened.manifest.files)} files, {_size_bytes(opened) / 1e6:,.0f} MB"
    )


def _size_bytes(opened: OpenedBundle) -> int:
    return sum(file.size_bytes for file in opened.manifest.files)
