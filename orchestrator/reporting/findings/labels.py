"""Names of cells that tell them apart within their group."""

from collections import Counter
from collections.abc import Sequence

from orchestrator.domain import Cell
from orchestrator.reporting.figures import options
from orchestrator.wording import clean_line


def labels(cells: Sequence[Cell]) -> tuple[str, ...]:
    """Name the cells of a group by the framework and what tells its cells apart."""
    axes = [_axes(cell) for cell in cells]
    values: dict[tuple[str, str], set[str | None]] = {}
    alike = Counter(cell.framework.label for cell in cells)
    having: Counter[tuple[str, str]] = Counter()
    for cell, mine in zip(cells, axes, strict=True):
        for name, text in mine.items():
            values.setdefault((cell.framework.label, name), set()).add(text)
            having[cell.framework.label, name] += 1
    for (label, name), some in values.items():
        if having[label, name] < alike[label]:
            some.add(None)
    named_by = []
    for cell, mine in zip(cells, axes, strict=True):
        varying = [text for name, text in mine.items() if len(values[cell.framework.label, name]) > 1]
        varying += ["own definition"] if cell.definition else []
        named_by.append(clean_line(" · ".join([cell.framework.label, *varying])))
    named = Counter(named_by)
    return tuple(label if named[label] == 1 else cell.id for label, cell in zip(named_by, cells, strict=True))


def _axes(cell: Cell) -> dict[str, str]:
    framework = cell.framework
    return {
        "python": f"Python {framework.python}",
        **{f"package {name}": f"{name} {version}" for name, version in framework.packages},
        **{f"option {name}": options(((name, value),)) for name, value in cell.options},
        "image": framework.image or framework.dockerfile or "own image",
    }
