"""The columns over all runs, which the first page loads: runs, distinct cells, and a column for each metric."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from orchestrator.reporting.site.axes import AXES, places_of_releases
from orchestrator.reporting.site.encoding import Document, decoded, dictionary
from orchestrator.reporting.site.figures import ORDER

_OF_RUNS = ("run", "created", "host", "runtime", "matrix", "profile", "cluster")


@dataclass(frozen=True, slots=True)
class StoredRun:
    """A run of a site."""

    file: str
    """The name of its document, which is made of its content."""
    document: Document


@dataclass(slots=True)
class _Cells:
    """The distinct cells of all runs, where a cell of one id with other values on its axes is another cell."""

    plans: dict[str, int] = field(default_factory=dict)
    lists: list[list[int]] = field(default_factory=list)
    known: dict[tuple[Any, ...], int] = field(default_factory=dict)
    releases: dict[str, list[str]] = field(default_factory=dict)
    """The versions of framework and packages by the text of the axis `version`."""
    limits: dict[int, str] = field(default_factory=dict)
    """The limits of the latency of each cell, as the newest run has them."""

    def plan(self, document: Document) -> int:
        """Return the place of the list of cells of a run, which runs of one plan share."""
        plan = document["plan"]
        if plan not in self.plans:
            self.plans[plan] = len(self.plans)
            columns = {axis: decoded(column) for axis, column in document["cells"].items()}
            rows = zip(*(columns[axis] for axis in AXES), document["idle"], strict=True)
            places = [self.known.setdefault(row, len(self.known)) for row in rows]
            self.lists.append(places)
            self.releases |= zip(columns["version"], columns["versions"], strict=True)
            self.limits |= zip(places, columns["limits"], strict=True)
        return self.plans[plan]

    def columns(self) -> dict[str, Any]:
        """Return the columns of the distinct cells."""
        columns = list(zip(*self.known, strict=True)) or [()] * (len(AXES) + 1)
        found = {axis: dictionary(list(column)) for axis, column in zip(AXES, columns, strict=False)}
        releases = [self.releases[version] for version in found["version"]["of"]]
        return found | {
            "limits": dictionary([self.limits[place] for place in range(len(self.known))]),
            "idle": [place for place, idle in enumerate(columns[-1]) if idle],
            # Browsers know no order of versions: of the values of `version`, this is the place of each.
            "release_order": places_of_releases(releases),
        }


@dataclass(frozen=True, slots=True)
class Overall:
    """The facts of all runs together."""

    index: Document
    metrics: dict[str, Document]
    """A column for each metric, with a row for each cell of each run, run by run."""
    plans: dict[str, list[int]]
    """The distinct cells of each plan."""


def overall(runs: Sequence[StoredRun]) -> Overall:
    """Return the columns over all runs, which are given in the order of their beginning."""
    cells = _Cells()
    plans = [cells.plan(run.document) for run in runs]
    metrics = _metrics(runs, [len(cells.lists[plan]) for plan in plans])
    documents = [run.document for run in runs]
    index = {
        "runs": {
            **{name: dictionary([each[name] for each in documents]) for name in _OF_RUNS[2:]},
            **{name: [each[name] for each in documents] for name in _OF_RUNS[:2]},
            "file": [run.file for run in runs],
            "plan": plans,
            "study": [place for place, each in enumerate(documents) if each["study"]],
            "regression": [place for place, each in enumerate(documents) if each["regression"]],
            "planned": [sum(each["planned"]) for each in documents],
            "ok": [sum(each["ok"]) for each in documents],
        },
        "plans": cells.lists,
        "cells": cells.columns(),
        "ends": _ends(documents),
        "apart": _apart(documents, [cells.lists[plan] for plan in plans]),
        "metrics": [
            {name: column[name] for name in ("name", "title", "unit", "better")} for column in metrics.values()
        ],
    }
    columns = {name: {"v": column["v"], "e": column["e"]} for name, column in metrics.items()}
    return Overall(index, columns, {name: cells.lists[place] for name, place in cells.plans.items()})


def _metrics(runs: Sequence[StoredRun], sizes: Sequence[int]) -> dict[str, Document]:
    """Return a column of values and half widths for each metric, those of our own first."""
    found: dict[str, Document] = {}
    rows = 0
    for run, size in zip(runs, sizes, strict=True):
        for column in run.document["metrics"]:
            name = column["name"]
            whole = found.get(name)
            if whole is None:
                whole = found[name] = {key: column[key] for key in ("name", "title", "unit", "better")}
                whole |= {"v": [], "e": []}
            for key in ("v", "e"):
                whole[key] += [None] * (rows - len(whole[key]))
                whole[key] += column[key]
        rows += size
    for whole in found.values():
        for key in ("v", "e"):
            whole[key] += [None] * (rows - len(whole[key]))
    measured = {name: whole for name, whole in found.items() if any(value is not None for value in whole["v"])}
    return dict(sorted(measured.items(), key=lambda item: _place(item[0])))


def _place(metric: str) -> tuple[int, str]:
    return (ORDER.index(metric), "") if metric in ORDER else (len(ORDER), metric)


def _ends(documents: Iterable[Document]) -> Document:
    """Return the rows whose repeats did not all end well and undisturbed."""
    rows, ok, planned, disturbed, status = [], [], [], [], []
    row = 0
    for each in documents:
        for place, (well, of) in enumerate(zip(each["ok"], each["planned"], strict=True)):
            if well != of or each["disturbed"][place]:
                rows.append(row + place)
                ok.append(well)
                planned.append(of)
                disturbed.append(each["disturbed"][place])
                status.append(each["status"][place])
        row += len(each["ok"])
    return {"row": rows, "ok": ok, "planned": planned, "disturbed": disturbed, "status": dictionary(status)}


def _apart(documents: Iterable[Document], cells: Iterable[Sequence[int]]) -> list[list[Any]]:
    """Return the pairs of distinct cells that do other work, by the newest run that says so or does not."""
    found: dict[tuple[int, int], str] = {}
    for document, of_run in zip(documents, cells, strict=True):
        here = {(of_run[one], of_run[other]): reason for one, other, reason in document["apart"]}
        if document["paired"] and found:
            there = set(of_run)
            found = {pair: why for pair, why in found.items() if pair in here or not there.issuperset(pair)}
        found |= here
    return [[one, other, reason] for (one, other), reason in sorted(found.items())]
