"""The globs over ids of cells that `--select` and `--exclude` take."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

from orchestrator.domain import Cell, Plan, Skip
from orchestrator.errors import InputError, did_you_mean


@dataclass(frozen=True, slots=True)
class Selection:
    """Globs that select and exclude cells.

    A cell is selected if any of `select` matches, or there is none, and none of `exclude` matches.
    """

    select: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()

    @property
    def takes_all(self) -> bool:
        """Return True if there are no globs."""
        return not self.select and not self.exclude

    @property
    def options(self) -> str:
        """Return the options that have globs, such as `--select and --exclude`."""
        named = (("--select", self.select), ("--exclude", self.exclude))
        return " and ".join(option for option, globs in named if globs)

    def takes(self, *ids: str) -> bool:
        """Return True if what goes by these ids is selected, such as both cells of a pair."""
        return any(_match_any(self.select or ("*",), each) for each in ids) and not any(
            _match_any(self.exclude, each) for each in ids
        )


def matches(glob: str, cell_id: str) -> bool:
    """Return true if a glob matches the whole id of a cell or, without a slash, either part of it.

    `mxnet-*`, `lenet-*`, `mxnet-1.9.1-cpu` and `*-cpu/lenet-train-*` are globs. They are case-sensitive.
    """
    if fnmatchcase(cell_id, glob):
        return True
    return "/" not in glob and any(fnmatchcase(part, glob) for part in cell_id.split("/"))


def _match_any(globs: Sequence[str], cell_id: str) -> bool:
    return any(matches(glob, cell_id) for glob in globs)


def select(
    cells: Sequence[Cell], skips: Sequence[Skip], selection: Selection
) -> tuple[list[Cell], list[Skip], list[str]]:
    """Return the selected cells and skips, with warnings about globs to exclude that match nothing.

    Raises `InputError` for every glob to select that matches no cell, and if nothing is left.
    """
    if selection.takes_all:
        return list(cells), list(skips), []
    ids = [cell.id for cell in cells]
    check(selection, ids, skips)
    selected = [cell for cell in cells if selection.takes(cell.id)]
    if not selected:
        raise InputError("--exclude leaves nothing to run of what is selected; drop one of its globs")
    taken = [skip for skip in skips if selection.takes(skip.cell_id)]
    return selected, taken, idle_globs(selection, [*ids, *(skip.cell_id for skip in skips)])


def check(selection: Selection, ids: Sequence[str], skips: Sequence[Skip] = ()) -> None:
    """Raise `InputError` for every glob to select that matches no id, with a hint."""
    mistakes = [_no_match(glob, ids, skips) for glob in selection.select if not _matches_any(glob, ids)]
    if mistakes:
        raise InputError(*mistakes)


def idle_globs(selection: Selection, ids: Sequence[str]) -> list[str]:
    """Return a warning for every glob to exclude that matches no id."""
    return [f"--exclude {glob!r} matches nothing" for glob in selection.exclude if not _matches_any(glob, ids)]


def narrowed(plan: Plan, selection: Selection) -> Plan:
    """Return the selected part of an existing plan, with only its images and models.

    Raises `InputError` as `select` does.
    """
    cells, skips, warnings = select(plan.cells, plan.skips, selection)
    images = {cell.image for cell in cells}
    models = {cell.workload.model for cell in cells}
    defined = {(cell.workload.model, cell.definition) for cell in cells}
    return replace(
        plan,
        cells=tuple(cells),
        skips=tuple(skips),
        images=tuple(image for image in plan.images if image.name in images),
        models=tuple(model for model in plan.models if model.name in models),
        networks=tuple(each for each in plan.networks if each.name in models),
        definitions=tuple(each for each in plan.definitions if (each.model, each.sha256) in defined),
        warnings=(*plan.warnings, *warnings),
    )


def _matches_any(glob: str, ids: Iterable[str]) -> bool:
    return any(matches(glob, each) for each in ids)


def _no_match(glob: str, ids: Sequence[str], skips: Sequence[Skip]) -> str:
    for skip in skips:
        if matches(glob, skip.cell_id):
            return f"--select {glob!r} matches only what the plan leaves out: {skip.cell_id}: {skip.reason}"
    parts = dict.fromkeys(part for each in ids for part in each.split("/"))
    if any(glob in part for part in parts):
        return f"--select {glob!r} matches no cell as a whole; did you mean '*{glob}*'?"
    return f"--select {glob!r} matches no cell{did_you_mean(glob, tuple(parts))}"
