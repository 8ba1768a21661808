"""One run as the documents that its pages load."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from orchestrator.analysis.parity.sides import quantisation
from orchestrator.catalog import idle_builders
from orchestrator.domain import Cell, Plan, Status
from orchestrator.errors import InputError
from orchestrator.regression.history.read import run_conditions
from orchestrator.reporting.findings import compose
from orchestrator.reporting.findings.cells import flatten
from orchestrator.reporting.findings.groups import MOST_IN_MATRIX
from orchestrator.reporting.site.axes import axes
from orchestrator.reporting.site.encoding import Document, compact, dictionary, digest, half_width, script, significant
from orchestrator.reporting.site.figures import CellFigures, MetricName, cell_figures
from orchestrator.reporting.site.regressions import regression_document
from orchestrator.reporting.site.repeats import facts_of, repeats_of
from orchestrator.results.evidence import Stored, read_repeats
from orchestrator.results.records import RunRecord
from orchestrator.results.store import Run
from orchestrator.wording import clean_line

MOST_CHUNK = 200_000
"""Characters after which the details of further cells go into another file."""


@dataclass(frozen=True, slots=True)
class RunFiles:
    """The documents of one run."""

    document: Document
    """Its cells with their figures, which names the files of the details."""
    details: dict[str, str]
    """Scripts with the repeats of its cells, by the name of the file, which is made of its content."""


@dataclass(slots=True)
class _Details:
    """Details of cells that are written together."""

    run: str
    files: dict[str, str] = field(default_factory=dict)
    names: list[str] = field(default_factory=list)
    cells: list[str] = field(default_factory=list)
    facts: dict[tuple[tuple[str, str], ...], int] = field(default_factory=dict)
    size: int = 0

    def add(self, cell: Document, facts: tuple[tuple[str, str], ...]) -> list[int]:
        """Add a cell, and return the file and the place in it."""
        if self.size > MOST_CHUNK:
            self.flush()
        text = compact(cell | {"facts": self.facts.setdefault(facts, len(self.facts))})
        self.cells.append(text)
        self.size += len(text)
        return [len(self.names), len(self.cells) - 1]

    def flush(self) -> None:
        """End a file."""
        if not self.cells:
            return
        text = f'{{"run":{compact(self.run)},"cells":[{",".join(self.cells)}],"facts":{compact(list(self.facts))}}}'
        name = f"d-{digest(text)}"
        self.files[name] = script(name, text)
        self.names.append(name)
        self.cells, self.facts, self.size = [], {}, 0


def run_files(run: Run, cluster: str = "") -> RunFiles:
    """Read a run. `cluster` is the run on a cluster that it is part of.

    Raises `InputError` if its record or its plan cannot be read.
    """
    record, plan = run.record(), run.plan()
    sizes = _image_sizes(run)
    details = _Details(run.name)
    figures, ends, places = [], [], []
    for cell in plan.cells:
        stored = list(read_repeats(run, cell.id, range(cell.repeats), of_script=bool(cell.script)))
        of_cell = cell_figures(run, cell, stored, sizes.get(cell.image))
        figures.append(of_cell)
        ends.append(_end(cell, stored))
        document = repeats_of(stored, of_cell, lambda outcome: compose.log_tail(run, outcome))
        places.append(details.add(document, facts_of(stored)))
    details.flush()
    return RunFiles(_document(run, record, plan, cluster, figures, ends, places, details.names), details.files)


def _document(  # noqa: PLR0913, PLR0917 -- all that is known of a run
    run: Run, record: RunRecord, plan: Plan, cluster: str, figures: Sequence[CellFigures],
    ends: Sequence[Document], places: Sequence[list[int]], files: Sequence[str],
) -> Document:  # fmt: skip
    idle = idle_builders()
    builders = {image.name: image.environment.builder for image in plan.images}
    of_run = run_conditions(record)
    conditions = [tuple({**of_run, **each.conditions}.items()) if each.conditions else () for each in figures]
    cells = axes(plan.cells)
    idle_cells = [bool(builders.get(cell.image) in idle) for cell in plan.cells]
    return {
        "run": run.name,
        "plan": digest(compact([cells, idle_cells])),
        "cluster": cluster,
        "created": clean_line(record.created_at),
        "host": clean_line(str(record.host.get("hostname") or "")),
        "host_facts": [list(fact) for fact in flatten(record.host)],
        "runtime": clean_line(record.runtime),
        "matrix": clean_line(plan.name),
        "orchestrator": clean_line(record.orchestrator_version),
        "profile": plan.profile.title if plan.profile else "",
        "seed": plan.seed,
        "warnings": [clean_line(each) for each in plan.warnings],
        "skips": [[clean_line(each.cell_id), clean_line(each.reason)] for each in plan.skips],
        "cells": cells,
        "builders": [builders.get(cell.image, "") for cell in plan.cells],
        "idle": idle_cells,
        "conditions": dictionary(conditions),
        **{name: [end[name] for end in ends] for name in ("planned", "ok", "disturbed", "status", "reason")},
        "options": dictionary([_options(cell) for cell in plan.cells]),
        "metrics": _metric_columns(figures),
        "paired": plan.parity,
        "apart": _apart(run, plan),
        "study": _study(run, plan),
        "regression": regression_document(run),
        "details": places,
        "files": list(files),
    }


def _options(cell: Cell) -> str:
    return ", ".join(
        f"{name}={str(value).lower() if value in (True, False) else value}" for name, value in cell.options
    )


def _image_sizes(run: Run) -> Mapping[str, int | None]:
    try:
        return {entry.image: entry.size_bytes for entry in run.environments().environments}
    except InputError:
        return {}


def _end(cell: Cell, stored: Sequence[Stored]) -> Document:
    """Return how the repeats of a cell ended: the status is that of the first that did not end well."""
    outcomes = [each.outcome for each in stored]
    other = next((each for each in outcomes if each.status is not Status.OK), None)
    missing = Status.NOT_RUN if len(outcomes) < cell.repeats else Status.OK
    return {
        "planned": cell.repeats,
        "ok": sum(each.status is Status.OK for each in outcomes),
        "disturbed": sum(bool(each.disturbance) for each in outcomes),
        "status": str(other.status if other else missing),
        "reason": clean_line(other.reason) if other else "",
    }


def _metric_columns(figures: Sequence[CellFigures]) -> list[Document]:
    """Return a column of values, half widths and numbers of repeats for each metric that a cell has."""
    names: dict[MetricName, None] = {name: None for each in figures for name in (*each.estimates, *each.repeats)}
    columns = []
    for name in names:
        found = [each.estimates.get(name) for each in figures]
        columns.append(
            asdict(name)
            | {
                "v": [significant(each.value) if each else None for each in found],
                "e": [half_width(each) if each else None for each in found],
                "n": [each.n if each else 0 for each in found],
            }
        )
    return columns


def _apart(run: Run, plan: Plan) -> list[list[Any]]:
    """Return the pairs of cells that are known to do other work, with the reason.

    Of a group that is too large for a matrix in its report, nothing is said.
    """
    groups: dict[object, list[int]] = {}
    for place, cell in enumerate(plan.cells):
        if cell.workload.rules.times_steps and not cell.script:
            groups.setdefault((cell.system, cell.workload), []).append(place)
    compared = [members for members in groups.values() if 1 < len(members) <= MOST_IN_MATRIX]
    known = compose.parity(run, plan) if plan.parity and compared else None
    found: list[list[Any]] = []
    for members in compared:
        for one, other in _pairs(members):
            first, second = plan.cells[one], plan.cells[other]
            pair = known.judge(first, second) if known else None
            if pair is not None and pair.is_other_work:
                found.append([one, other, clean_line(pair.reason or pair.note)])
            elif quantisation(first.options) != quantisation(second.options):
                found.append([one, other, "one of them is quantised otherwise"])
    return found


def _pairs(members: Collection[int]) -> Iterator[tuple[int, int]]:
    ordered = sorted(members)
    return ((one, other) for place, one in enumerate(ordered) for other in ordered[place + 1 :])


def _study(run: Run, plan: Plan) -> Document | None:
    """Return the claims of the published study that a run repeats."""
    if plan.study is None:
        return None
    study = compose.report(run).study
    if study is None:
        return None
    return {
        "title": clean_line(study.title),
        "citation": clean_line(study.citation),
        "smoke": study.smoke_run,
        "claims": [
            {
                "name": clean_line(each.claim.name), "text": clean_line(each.claim.text),
                "metric": clean_line(each.title), "of": clean_line(each.claim.of), "over": clean_line(each.claim.over),
                "published": significant(each.claim.published.ratio), "approximate": each.claim.published.approximate,
                "source": clean_line(each.claim.source),
                "verdict": str(each.verdict), "reason": clean_line(each.reason), "ratio": significant(each.ratio),
                "low": significant(each.low), "high": significant(each.high), "repeats": each.repeats,
                "caveats": [clean_line(caveat) for caveat in each.caveats],
            }
            for each in study.claims
        ],
    }  # fmt: skip
