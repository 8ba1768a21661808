"""Every part of a bundle beside its images, in the order in which they are written."""

import json
import shutil

from orchestrator.bundles import layout
from orchestrator.bundles.descriptions import write_bills, write_provenance
from orchestrator.bundles.export import Export, Part
from orchestrator.bundles.programs import write_programs
from orchestrator.bundles.sources import FolderSource
from orchestrator.results.plans import plan_to_json


def write_plan(export: Export) -> None:
    """The frozen plan, the matrix it comes from, and the user's own models."""
    plan = json.dumps(plan_to_json(export.plan), indent=1, ensure_ascii=False)
    (export.folder / layout.PLAN).write_text(plan + "\n", encoding="utf-8")
    (export.folder / layout.MATRIX).write_text(export.matrix, encoding="utf-8")
    for model in export.own_models:
        for name, text in model.files.items():
            path = export.folder / layout.MODELS / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")


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
    described: tuple[Part, ...] = (write_plan, write_data, write_bills, write_provenance)
    return (*described, write_programs) if orchestrator else described
