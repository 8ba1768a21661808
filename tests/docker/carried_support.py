"""A plan and its images brought to the far side by the engine's own means, as far as `run` can tell."""

import hashlib
import json
import os
import threading
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path

import docker
import yaml
from far_support import FarSide

from orchestrator import images, matrix
from orchestrator.bundles.read.loaded_bundle import LoadedBundle, LoadedRecord
from orchestrator.bundles.read.registry import register
from orchestrator.engine import images as engine_images
from orchestrator.events import ignore
from orchestrator.results.records import plan_to_json
from orchestrator.runtimes import BundledImage
from orchestrator.workflows.host.host import Host
from orchestrator.workflows.inputs.planned_matrix import MatrixOptions, plan_matrix


def carry(engine: docker.DockerClient, far: FarSide, file: Path, base_image: str, name: str) -> LoadedBundle:
    """Build the images of a matrix here, bring them to the far engine, and register the plan there."""
    prepared = plan_matrix(MatrixOptions(file=file, base_image=base_image), Host(os.environ))
    built = images.build(
        prepared.plan.images, prepared.settings, engine, jobs=1, logs=file.parent / "builds", listener=ignore,
        stop=threading.Event(),
    )  # fmt: skip
    bundled = [_bundled_image(engine, far, spec.name, built[spec.name]) for spec in prepared.plan.images]
    document = yaml.safe_dump(matrix.long_form(prepared.matrix), sort_keys=False)
    files = {
        "manifest.json": json.dumps({"name": name}).encode(),
        "plan.json": json.dumps(plan_to_json(prepared.plan)).encode(),
        "matrix.yaml": document.encode(),
    }
    record = LoadedRecord(
        name=name,
        manifest_sha256=hashlib.sha256(files["manifest.json"]).hexdigest(),
        loaded_at=datetime.now(UTC).isoformat(timespec="microseconds"),
        images=tuple(bundled),
        files={path: hashlib.sha256(content).hexdigest() for path, content in files.items()},
    )
    bundles = far.home / ".local" / "share" / "framework-bench" / "bundles"
    return register(bundles, record, lambda path: BytesIO(files[path]))


def _bundled_image(
    engine: docker.DockerClient, far: FarSide, name: str, built: images.Built | images.BuildFailure
) -> BundledImage:
    assert isinstance(built, images.Built), built
    facts = engine_images.facts(engine, built.reference)
    assert facts is not None
    client = far.client()
    if engine_images.facts(client, facts.image_id) is None:
        client.images.load(engine.images.get(built.reference).save(named=True))
    client.close()
    return BundledImage(name, built.reference, facts.image_id)
