"""The plan, the matrix and the user's own models in a bundle."""

import json

from orchestrator.bundles.format import layout
from orchestrator.bundles.format.portable_plan import portable_plan
from orchestrator.bundles.write.request import Export
from orchestrator.domain import Plan
from orchestrator.errors import InputError
from orchestrator.results.records import plan_to_json


def write_plan(export: Export) -> None:
    """Write the frozen plan, its matrix, and the user's own models."""
    for name, content in plan_documents(export.plan, export.matrix).items():
        (export.folder / name).write_bytes(content)
    for model in export.own_models:
        for name, text in model.files.items():
            path = export.folder / layout.MODELS / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")


def plan_documents(plan: Plan, matrix: str) -> dict[str, bytes]:
    """Return the files of the plan and of the matrix. Raises `InputError` if one is too large for `load`."""
    frozen = json.dumps(plan_to_json(portable_plan(plan)), indent=1, ensure_ascii=False)
    documents = {layout.PLAN: f"{frozen}\n".encode(), layout.MATRIX: matrix.encode()}
    for name, content in documents.items():
        most = layout.MAX_DOCUMENT_BYTES[name]
        if len(content) > most:
            raise InputError(
                f"{name} of the bundle would have {len(content):,} bytes, and at most {most:,} are read on the other "
                "side; split the matrix, or take a part of it with --select"
            )
    return documents
