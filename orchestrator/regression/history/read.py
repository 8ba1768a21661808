"""Every measured cell of the runs below a results folder, with its figures."""

import contextlib
import hashlib
import json
import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from orchestrator import modes
from orchestrator.analysis.measurements import RepeatMeasurement
from orchestrator.domain import Cell
from orchestrator.errors import InputError
from orchestrator.modes.parts.figures import ExactFigures
from orchestrator.modes.parts.metrics import Metric
from orchestrator.regression.history.series import MeasuredCell, release_text, release_versions, tracked_id
from orchestrator.regression.judge import comparable
from orchestrator.regression.judge.evidence import measured
from orchestrator.regression.judge.exact_metrics import StoredFigures
from orchestrator.results.evidence import read_repeats
from orchestrator.results.listing import index
from orchestrator.results.listing.derived import Derivation
from orchestrator.results.records import RunRecord
from orchestrator.results.store import Run

Figure = tuple[str, float, int]
"""Metric, value, and the number of repeats it is the mean of."""
_VERSION = 4
"""Raised when the text of a cell is made in another way from the same metrics."""


def _cell_figures(run: Run, cell: Cell, image_bytes: int | None) -> tuple[Mapping[str, str], tuple[Figure, ...]]:
    """Return the conditions of a cell's last repeat, and the figures of the repeats measured in the same way."""
    repeats = list(_repeats(run, cell))
    # A mean over two ways of measuring says nothing.
    conditions = repeats[-1].conditions if repeats else {}
    alike = [repeat.measurement for repeat in repeats if repeat.conditions == conditions]
    exact = StoredFigures(run, cell, image_bytes)
    return conditions, tuple(figures_of(cell.workload.rules.metrics, alike, exact)) if alike else ()


@dataclass(frozen=True, slots=True)
class _Repeat:
    measurement: RepeatMeasurement
    conditions: Mapping[str, str]


def _repeats(run: Run, cell: Cell) -> Iterator[_Repeat]:
    """Yield the repeats that ended `ok` and can be read, in order."""
    for stored in read_repeats(run, cell.id, range(cell.repeats)):
        if stored.result is None:
            continue
        with contextlib.suppress(ValueError):
            conditions = comparable.reported(comparable.surrounding([stored.result]))
            yield _Repeat(measured(stored.result, stored.outcome, cell), conditions)


def figures_of(
    metrics: Iterable[Metric], repeats: Sequence[RepeatMeasurement], exact: ExactFigures
) -> Iterator[Figure]:
    """Yield the geometric mean of each metric over its repeats, and the value of each exact metric.

    A metric with a repeat of 0 has no figure, since the mean of the others would hide it.
    """
    for metric in metrics:
        taken = [metric.exact(exact)] if metric.exact else [metric.take(each) for each in repeats if metric.take]
        values = [float(value) for value in taken if value is not None]
        if values and min(values) > 0:
            # One value by itself: the way over logarithms does not come back to it.
            mean = math.exp(math.fsum(map(math.log, values)) / len(values)) if len(values) > 1 else values[0]
            yield metric.name, mean, len(values)


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
    """Read cells of a run.

    Scripts, cells without figures and those of a run that cannot be read have no text, nor do those of a smoke run.
    """
    try:
        record, plan = run.record(), run.plan()
    except InputError:
        return {}
    if plan.profile:
        return {}
    try:
        sizes = {entry.image: entry.size_bytes for entry in run.environments().environments}
    except InputError:
        sizes = {}
    builders = {image.name: image.environment.builder for image in plan.images}
    of_run = run_conditions(record)
    texts = {}
    for cell in plan.cells:
        if cell.id not in cell_ids or cell.script:
            continue
        conditions, figures = _cell_figures(run, cell, sizes.get(cell.image))
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


def run_conditions(record: RunRecord) -> dict[str, str]:
    """Return the conditions of a whole run that break a series if they change, by title."""
    facts = {f"host {title}": comparable.host_fact(record.host, fact) for fact, title in comparable.HOST}
    return {"runtime": record.runtime} | {title: str(value) for title, value in facts.items() if value is not None}
