"""Bundles of a few kilobytes, exported from a fake engine, and read again."""

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bundle_fake_engine import FakeEngine, layer

from orchestrator.bundles import export as exporting
from orchestrator.bundles.earlier import open_earlier
from orchestrator.bundles.export import Export, Part
from orchestrator.bundles.load import Receiver, load_images
from orchestrator.bundles.manifest import Image, Manifest
from orchestrator.bundles.parts import write_data, write_plan
from orchestrator.bundles.sources import open_source
from orchestrator.bundles.verify import open_bundle, verify
from orchestrator.domain import BuildSettings, Environment, Framework, ImageSpec, Plan
from orchestrator.events import ignore
from orchestrator.images import Built

BASE = layer({"etc/os-release": b"small", "lib/base": bytes(range(256)) * 64})
PARTS: tuple[Part, ...] = (write_plan, write_data)


def an_engine(*releases: str) -> FakeEngine:
    """An engine with one image for each release, all on one base."""
    engine = FakeEngine()
    for release in releases:
        own = layer({f"opt/{release}": release.encode() * 50_000})
        engine.add(f"bench/small:{release}-cpu-0123456789ab", [BASE, own])
    return engine


def an_export(engine: FakeEngine, folder: Path, releases: Sequence[str], **more: Any) -> Export:
    """What is asked for, with fields replaced."""
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
    }
    return Export(**(fields | more))


def exported(
    engine: FakeEngine, folder: Path, releases: Sequence[str], since: Path | None = None, **more: Any
) -> Manifest:
    """Write a bundle."""
    earlier = open_earlier(since) if since else None
    return exporting.write(an_export(engine, folder, releases, earlier=earlier, **more), PARTS)


def verified(path: Path) -> None:
    """Verify a bundle whole."""
    verify(open_bundle(open_source(path)), lambda size: None)


def loaded(engine: FakeEngine, path: Path) -> list[Image]:
    """Load a bundle, and return what was missing before."""
    to = Receiver(engine, lambda size: None, lambda line: None, threading.Event())  # type: ignore[arg-type]
    return load_images(open_bundle(open_source(path)), path, to)


def content(folder: Path) -> dict[str, bytes]:
    """Every file below a folder."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}
