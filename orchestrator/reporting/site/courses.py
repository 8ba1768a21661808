"""Series over all runs with their change points, of which only those with another run are made again."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from orchestrator.regression.history.acknowledged import AcknowledgedEntry
from orchestrator.regression.history.series import (
    LEAST_POINTS,
    MeasuredCell,
    Series,
    Shift,
    release_order,
    series,
)
from orchestrator.reporting.site.encoding import Document, compact, decoded, digest, significant
from orchestrator.reporting.site.overall import StoredRun
from orchestrator.wording import clean_line

_MOST_REASON = 160


@dataclass(frozen=True, slots=True)
class SeriesQuestion:
    """The question that is put to series."""

    min_effect: float
    known: tuple[AcknowledgedEntry, ...] = ()

    @property
    def text(self) -> str:
        """Return a text that changes with the question."""
        return compact([self.min_effect, [entry.model_dump(mode="json") for entry in self.known]])


Key = tuple[str, str]
"""The name of a series, and its host."""


def courses(runs: Sequence[StoredRun], question: SeriesQuestion, before: Mapping[Key, Document]) -> list[Document]:
    """Return the series of all metrics of each cell and host, oldest run first.

    `before` holds those of an earlier call, by name and host.
    """
    groups: dict[Key, list[tuple[int, list[int]]]] = {}
    places = _Places()
    for number, run in enumerate(runs):
        if not run.document["profile"]:
            for tracked, cells in places.of(run.document).items():
                groups.setdefault((tracked, run.document["host"]), []).append((number, cells))
    asked = question.text
    found = []
    for key, members in sorted(groups.items()):
        if len(members) < LEAST_POINTS:
            continue
        content = digest(compact([asked, [runs[number].file for number, _ in members]]))
        old = before.get(key)
        judged = old if old is not None and old["digest"] == content else _judged(runs, members, question)
        at = [_newest(runs[number].document, cells) for number, cells in members]
        pairs = runs[members[-1][0]].document["cells"]["pair"]
        found.append(
            {
                "name": key[0], "host": key[1], "digest": content, "pair": pairs["of"][pairs["at"][at[-1]]],
                "run": [number for number, _ in members], "at": at[0] if len(set(at)) == 1 else at,
                "changes": judged["changes"], "breaks": judged["breaks"],
            }
        )  # fmt: skip
    return found


class _Places:
    """The places of cells in the plans of runs, by the name of their series."""

    def __init__(self) -> None:
        self._known: dict[str, dict[str, list[int]]] = {}

    def of(self, document: Document) -> dict[str, list[int]]:
        plan = document["plan"]
        if plan not in self._known:
            scripts = decoded(document["cells"]["script"])
            found: dict[str, list[int]] = {}
            for place, tracked in enumerate(decoded(document["cells"]["tracked"])):
                if not scripts[place]:
                    found.setdefault(tracked, []).append(place)
            self._known[plan] = found
        return self._known[plan]


def _newest(document: Document, places: Sequence[int]) -> int:
    """Return the place of the newest of several releases of one run."""
    if len(places) == 1:
        return places[0]
    versions = document["cells"]["versions"]
    return max(places, key=lambda place: release_order(versions["of"][versions["at"][place]]))


def _judged(runs: Sequence[StoredRun], members: Sequence[tuple[int, list[int]]], question: SeriesQuestion) -> Document:
    measured = [_measured(runs[number].document, _newest(runs[number].document, places)) for number, places in members]
    idle = {measured[-1].builder} if _is_idle(runs[members[-1][0]].document, members[-1][1]) else set()
    every = series(measured, question.known, min_effect=question.min_effect, idle_builders=idle)
    return {
        "changes": {one.metric: [_change(shift) for shift in one.shifts] for one in every if one.shifts},
        "breaks": {one.metric: list(_breaks(one)) for one in every if one.breaks},
    }


def _is_idle(document: Document, places: Sequence[int]) -> bool:
    return any(document["idle"][place] for place in places)


def _measured(document: Document, place: int) -> MeasuredCell:
    cells = {name: column["of"][column["at"][place]] for name, column in document["cells"].items()}
    conditions = document["conditions"]
    columns = document["metrics"]
    return MeasuredCell(
        run=document["run"], created_at=document["created"], host=document["host"],
        conditions=dict(conditions["of"][conditions["at"][place]]), cell_id=cells["tracked"],
        tracked=cells["tracked"], pair=cells["pair"], release=cells["version"], versions=tuple(cells["versions"]),
        figures=tuple(
            (column["name"], float(column["v"][place]), column["n"][place])
            for column in columns
            if column["v"][place] is not None
        ),
        builder=document["builders"][place],
    )  # fmt: skip


def _change(shift: Shift) -> list[object]:
    return [
        shift.index, significant(shift.before), significant(shift.after), significant(shift.p_value, 2),
        shift.since, shift.point.release, clean_line(shift.acknowledged),
    ]  # fmt: skip


def _breaks(one: Series) -> Iterator[list[object]]:
    """Yield the points from which on something else is measured, and the first condition that changed."""
    known: dict[str, str] = {}
    for index, point in enumerate(one.points):
        if index in one.breaks:
            yield [index, _difference(known, point.conditions)]
            known = {}
        known |= point.conditions


def _difference(before: Mapping[str, str], after: Mapping[str, str]) -> str:
    text = next(
        (f"{title}: {before[title]} → {value}" for title, value in after.items() if before.get(title, value) != value),
        "",
    )
    return clean_line(text)[:_MOST_REASON]
