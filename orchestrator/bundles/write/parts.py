"""The parts of a bundle besides its images, in the order in which they are written."""

import json
import shutil

from orchestrator.bundles.format import layout
from orchestrator.bundles.format.portable_plan import portable_plan
from orchestrator.bundles.format.sources import FolderSource
from orchestrator.bundles.write.bills import write_bills
from orchestrator.bundles.write.program import write_program
from orchestrator.bundles.write.provenance_files import write_provenance
from orchestrator.bundles.write.request import Export, Part
from orchestrator.domain import Plan
from orchestrator.errors import InputError
from orchestrator.results import frozen_scripts
from orchestrator.results.plans import plan_to_json


def documents(plan: Plan, matrix: str) -> dict[str, bytes]:
    """Return the files of the plan and of the matrix. Raises `InputError` if one is too large for `load`."""
    frozen = json.dumps(plan_to_json(portable_plan(plan)), indent=1, ensure_ascii=False)
    contents = {layout.PLAN: f"{frozen}\n".encode(), layout.MATRIX: matrix.encode()}
    for name, content in contents.items():
        most = layout.MAX_DOCUMENT_BYTES[name]
        if len(content) > most:
            raise InputError(
                f"{name} of the bundle would have {len(content):,} bytes, and at most {most:,} are read on the other "
                "side; split the matrix, or take a part of it with --select"
            )
    return contents


def write_plan(export: Export) -> None:
    """Write the frozen plan, its matrix, and the user's own models."""
    for name, content in documents(export.plan, export.matrix).items():
        (export.folder / name).write_bytes(content)
    for model in export.own_models:
        for name, text in model.files.items():
            path = export.folder / layout.MODELS / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")


def write_scripts(export: Export) -> None:
    """Write the scripts of the matrix with their declared files. Raises as `frozen_scripts.freeze` does."""
    frozen_scripts.freeze(export.folder, export.scripts)


def write_data(export: Export) -> None:
    """Write each dataset into a folder of its name."""
    for name, folder in export.data:
        source = FolderSource(folder)
        for path in source.sizes:
            target = export.folder / layout.DATA / name / path
            target.parent.mkdir(parents=True, exist_ok=True)
            with source.open(path) as file, target.open("wb") as copy:
                shutil.copyfileobj(file, copy, 1 << 20)


def all_parts(*, orchestrator: bool) -> tuple[Part, ...]:
    """Return every part, with or without the orchestrator itself."""
    parts: tuple[Part, ...] = (write_plan, write_scripts, write_data, write_bills, write_provenance)
    return (*parts, write_program) if orchestrator else parts
