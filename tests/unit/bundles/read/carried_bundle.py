"""The small files of a bundle, as `load` registers them."""

import hashlib
import io
import json
from collections.abc import Callable, Mapping
from typing import Any, BinaryIO

from orchestrator.bundles.read.loaded_bundle import LoadedRecord
from orchestrator.results.records import plan_to_json
from orchestrator.runtimes import BundledImage
from tests.unit.reporting import synthetic as s

PLAN = s.plan([s.cell(s.TORCH, repeats=2)])
IMAGE = BundledImage(PLAN.images[0].name, f"{PLAN.images[0].name}-0123", "sha256:" + "1" * 64)
FILES = {
    "manifest.json": b"{}",
    "plan.json": json.dumps(plan_to_json(PLAN)).encode(),
    "matrix.yaml": b"version: 1\nname: carried\nframeworks: [torch==2.13.0]\n",
    "sbom/torch.cdx.json": b"{}",
}


def a_record(files: Mapping[str, bytes] = FILES, **changes: Any) -> LoadedRecord:
    """Return the record of a bundle of these files."""
    record = LoadedRecord(
        name="carried",
        manifest_sha256="a" * 64,
        loaded_at="2026-11-21T15:30:00+00:00",
        images=(IMAGE,),
        files={path: hashlib.sha256(content).hexdigest() for path, content in files.items()},
    )
    return record.model_copy(update=changes)


def opened(files: Mapping[str, bytes] = FILES) -> Callable[[str], BinaryIO]:
    """Open one of these files. Raises `KeyError` for any other path."""
    return lambda path: io.BytesIO(files[path])
