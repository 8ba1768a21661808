"""Every part of a bundle beside its images, in the order in which they are written."""

import json
import shutil

from orchestrator.bundles import layout
from orchestrator.bundles.descriptions import write_bills, write_provenance
from orchestrator.bundles.export import Export, Part
from orchestrator.bundles.places import without_places
from orchestrator.bundles.programs import write_programs
from orchestrator.bundles.sources import FolderSource
from orchestrator.domain import Plan
from orchestrator.errors import InputError
from orchestrator.results import frozen_scripts
from orchestrator.results.plans import plan_to_json


def documents(plan: Plan, matrix: str) -> dict[str, bytes]:
    """The files of the plan and of the matrix; raises `InputError` for what is larger than any `load` would read."""
    frozen = json.dumps(plan_to_json(without_places(plan)), indent=1, ensure_ascii=False)
    found = {layout.PLAN: f"{frozen}\n".encode(), layout.MATRIX: matrix.encode()}
    for name, content in found.items():
        most = layout.MAX_DOCUMENT_BYTES[name]
        if len(content) > most:
            raise InputError(
                f"{name} of the bundle would have {len(content):,} bytes, and at most {most:,} are read on the other "
                "side; split the matrix, or take a part of it with --select"
            )
    return found


def write_plan(export: Export) -> None:
    """The frozen plan, the matrix it comes from, and the user's own models."""
    for name, content in documents(export.plan, export.matrix).items():
        (export.folder / name).write_bytes(content)
    for model in export.own_models:
        for name, text in model.files.items():
            path = export.folder / layout.MODELS / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")


def write_scripts(export: Export) -> None:
    """The scripts of the matrix with the files that they declare; raises as `frozen_scripts.freeze` does."""
    frozen_scripts.freeze(export.folder, export.scripts)


def write_data(export: Export) -> None:
    """The datasets that were asked for, each a folder of its name."""
    for name, folder in export.data:
        source = FolderSource(folder)
        for path in source.sizes:
            target = export.folder / layout.DATA / name / path
            target.parent.mkdir(parents=True, exist_ok=True)
            with source.open(path) as file, target.open("wb") as copy:
                shutil.copyfileobj(file, copy, 1 << 20)


def of(*, orchestrator: bool) -> tuple[Part, ...]:
    """Every part, with or without the orchestrator itself."""
    described: tuple[Part, ...] = (write_plan, write_scripts, write_data, write_bills, write_provenance)
    return (*described, write_programs) if orchestrator else described
