"""The axes of a mode that measures something else than models, such as single operators."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

AxisValues = tuple[tuple[str, int], ...]
"""Axes of one cell with their values, in the order of the mode."""
StoredAxes = Annotated[AxisValues, Field(exclude_if=lambda axes: not axes)]
"""The same in a document, which lacks them where there are none."""


@dataclass(frozen=True, slots=True)
class Axis:
    """A whole number that a mode varies for each of its subjects."""

    name: str
    help: str
    """Shown in the schema of the matrix."""
    values: Callable[[str], tuple[int, ...]]
    """Returns the values for a subject unless the matrix gives others. They are the default if there is only one."""
    most: Callable[[str], int]
    """Returns the largest value for a subject. The least is 1."""

    def is_default(self, subject: str, value: int) -> bool:
        """Return true if a value is the only one that the mode takes by itself, so that no id shows it."""
        return self.values(subject) == (value,)


@dataclass(frozen=True, slots=True)
class Subjects:
    """The subjects of a mode in place of models, listed by the matrix in a section of the mode's name."""

    kind: str
    """The key of an entry that names some of them, such as `operator`."""
    names: tuple[str, ...]
    axes: tuple[Axis, ...]
    blocks: Callable[[Mapping[str, int]], tuple[int, int]]
    """Returns the blocks that the axes of a cell ask for, and the steps of each. Every step is synchronised."""
    of_blocks: Callable[[Mapping[str, int], int, int], dict[str, int]]
    """Returns axes that ask for so many blocks, each of so many steps, and are else those of a cell."""

    def label(self, subject: str, values: AxisValues) -> str:
        """Return the axes that are off their default, each after a dash."""
        known = {axis.name: axis for axis in self.axes}
        return "".join(
            f"-{name}={value}"
            for name, value in values
            if name not in known or not known[name].is_default(subject, value)
        )
