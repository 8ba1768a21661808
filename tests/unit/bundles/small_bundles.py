"""Bundles of a few kilobytes, exported from a fake engine and read again."""

import hashlib
import json
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from orchestrator.build_settings import BuildSettings
from orchestrator.bundles.describe.package_files import package_files
from orchestrator.bundles.format import layout
from orchestrator.bundles.format.base import open_base
from orchestrator.bundles.format.manifest import Image, Manifest
from orchestrator.bundles.format.sources import open_source
from orchestrator.bundles.read.load import load_images
from orchestrator.bundles.read.receiver import Receiver
from orchestrator.bundles.read.verify import open_bundle, verify
from orchestrator.bundles.write import export as exporting
from orchestrator.bundles.write.parts import write_data, write_documentation, write_frozen
from orchestrator.bundles.write.plan_files import write_plan
from orchestrator.bundles.write.request import Export, Part
from orchestrator.domain import Environment, Framework, ImageSpec, Plan
from orchestrator.engine import transfer
from orchestrator.events import ignore
from orchestrator.images import Built
from orchestrator.runtimes.environments import Workshop
from tests.unit.bundles.bundle_fake_engine import FakeEngine, layer

BASE = layer({"etc/os-release": b"small", "lib/base": bytes(range(256)) * 64})
PARTS: tuple[Part, ...] = (write_plan, write_frozen, write_data, write_documentation)


def an_engine(*releases: str) -> FakeEngine:
    """Return an engine with one image for each release, all on one base."""
    engine = FakeEngine()
    for release in releases:
        own = layer({f"opt/{release}": release.encode() * 50_000})
        engine.add(f"bench/small:{release}-cpu-0123456789ab", [BASE, own])
    return engine


def an_export(engine: FakeEngine, folder: Path, releases: Sequence[str], **more: Any) -> Export:
    """Return an export of some releases. Keywords replace its fields."""
    specs = [
        ImageSpec("bench/small", f"{release}-cpu", "cpu", Framework("small", release), Environment("noop", "3.11"))
        for release in releases
    ]
    built = {
        spec.name: Built(spec.name, engine.names[f"{spec.name}-0123456789ab"], f"{spec.name}-0123456789ab")
        for spec in specs
    }
    fields: dict[str, Any] = {
        "name": "small",
        "folder": folder,
        "plan": Plan("small", 1, tuple(specs), ()),
        "matrix": "version: 1\n",
        "own_models": (),
        "built": built,
        "settings": BuildSettings(),
        "client": engine,
        "listener": ignore,
        "stop": threading.Event(),
        "workshop": Workshop(folder.parent / "cache", BuildSettings(), {}),
        "package_files": package_files,
    }
    return Export(**(fields | more))


def exported(
    engine: FakeEngine, folder: Path, releases: Sequence[str], since: Path | None = None, **more: Any
) -> Manifest:
    """Write a bundle."""
    base = open_base(since) if since else None
    return exporting.write(an_export(engine, folder, releases, base=base, **more), PARTS)


def verified(path: Path) -> None:
    """Verify every byte of a bundle."""
    verify(open_bundle(open_source(path)), lambda size: None)


def loaded(engine: FakeEngine, path: Path) -> list[Image]:
    """Load a bundle, and return the images that the engine lacked."""
    by_manifest = transfer.knows_by_manifest(engine)  # type: ignore[arg-type]
    to = Receiver(engine, lambda size: None, lambda line: None, threading.Event(), by_manifest)  # type: ignore[arg-type]
    return load_images(open_bundle(open_source(path)), path, to)


def content(folder: Path) -> dict[str, bytes]:
    """Return the bytes of every file below a folder."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def resealed(folder: Path, change: Callable[[dict[str, Any]], None]) -> None:
    """Change the manifest and its checksums, as a forger of an unsigned bundle can."""
    document = json.loads((folder / layout.MANIFEST).read_text())
    change(document)
    text = json.dumps(document, indent=1, ensure_ascii=False) + "\n"
    listed = [(file["path"], file["sha256"]) for file in document["files"]]
    listed.append((layout.MANIFEST, hashlib.sha256(text.encode()).hexdigest()))
    (folder / layout.MANIFEST).write_text(text)
    (folder / layout.SUMS).write_text("".join(f"{digest}  {path}\n" for path, digest in sorted(listed)))


def replaced_blob(folder: Path, document: dict[str, Any], digest: str, content: bytes) -> str:
    """Replace the content of a blob and its entries in the manifest, and return the new digest."""
    (folder / layout.blob_path(digest)).unlink()
    new = hashlib.sha256(content).hexdigest()
    (folder / layout.blob_path(f"sha256:{new}")).write_bytes(content)
    for file in document["files"]:
        if file["path"] == layout.blob_path(digest):
            file.update(path=layout.blob_path(f"sha256:{new}"), sha256=new, size_bytes=len(content))
    document["files"].sort(key=lambda file: file["path"])
    return f"sha256:{new}"
