"""Every measured cell of the runs below a results folder."""

import hashlib
import json
from collections.abc import Collection
from dataclasses import asdict
from pathlib import Path

from orchestrator import modes
from orchestrator.errors import InputError
from orchestrator.regression.history.figures import cell_figures
from orchestrator.regression.history.series import MeasuredCell, release_text, release_versions, tracked_id
from orchestrator.regression.judge import comparable
from orchestrator.results.listing import index
from orchestrator.results.listing.derived import Derivation
from orchestrator.results.records import RunRecord
from orchestrator.results.store import Run

_VERSION = 2
"""Raised when the text of a cell is made in another way from the same metrics."""


def measured_cells(results: Path, cache: Path) -> tuple[MeasuredCell, ...]:
    """Read the measured cells of a results folder. What has not changed since it was read is not read again."""
    texts = index.derived(results, cache, Derivation("history", _version(), _texts))
    return tuple(_measured_cell(text) for text in texts)


def _version() -> str:
    """Return a text that changes when a mode, its metrics or what its parity compares changes."""
    described = {
        mode: [[metric.name for metric in rules.metrics], sorted(rules.parity.compared)]
        for mode, rules in modes.RULES.items()
    }
    return f"{_VERSION} {hashlib.sha256(json.dumps(described).encode()).hexdigest()}"


def _measured_cell(text: str) -> MeasuredCell:
    document = json.loads(text)
    document["versions"] = tuple(document["versions"])
    document["figures"] = tuple(map(tuple, document["figures"]))
    return MeasuredCell(**document)


def _texts(run: Run, cell_ids: Collection[str]) -> dict[str, str]:
    """Read cells of a run. Scripts, cells without figures and those of a run that cannot be read have no text."""
    try:
        record, plan = run.record(), run.plan()
    except InputError:
        return {}
    try:
        sizes = {entry.image: entry.size_bytes for entry in run.environments().environments}
    except InputError:
        sizes = {}
    builders = {image.name: image.environment.builder for image in plan.images}
    of_run = _run_conditions(record)
    texts = {}
    for cell in plan.cells:
        if cell.id not in cell_ids or cell.script:
            continue
        conditions, figures = cell_figures(run, cell, sizes.get(cell.image))
        if figures:
            measured = MeasuredCell(
                run=run.name,
                created_at=record.created_at,
                host=str(record.host.get("hostname") or ""),
                conditions={**of_run, **conditions},
                cell_id=cell.id,
                tracked=tracked_id(cell),
                pair=f"{cell.system.name}/{cell.id.partition('/')[2]}",
                release=release_text(cell),
                versions=release_versions(cell),
                figures=figures,
                builder=builders.get(cell.image, ""),
            )
            texts[cell.id] = json.dumps(asdict(measured))
    return texts


def _run_conditions(record: RunRecord) -> dict[str, str]:
    facts = {f"host {title}": record.host.get(fact) for fact, title in comparable.HOST}
    return {"runtime": record.runtime} | {title: str(value) for title, value in facts.items() if value is not None}
