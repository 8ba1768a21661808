"""The environments between two neighbours, one package apart, as a search can take them."""

from collections.abc import Mapping
from dataclasses import dataclass

START = "as before"
"""Name of the stage at which nothing has moved."""


@dataclass(frozen=True, slots=True)
class Move:
    """A package that two environments hold in different versions."""

    package: str
    before: str | None
    """None if only the later environment has it."""
    after: str | None

    def __str__(self) -> str:
        if self.before is None:
            return f"{self.package} {self.after} added"
        if self.after is None:
            return f"{self.package} {self.before} removed"
        return f"{self.package} {self.before} → {self.after}"


@dataclass(frozen=True, slots=True)
class Stage:
    """An environment on the way from one neighbour to the other."""

    name: str
    """Unique among the stages of a way; what `search` takes as a release."""
    packages: Mapping[str, str]
    moved: Move | None
    """The move from the stage before; None for the first."""


def stages(before: Mapping[str, str], after: Mapping[str, str], *, last: str) -> tuple[Stage, ...]:
    """Go from one environment to the other, one package at a time in the order of their names, `last` at the end.

    Versions by package. `search` over the names of the stages then tells which move changed it, all others held; what
    an installer refuses on the way is untestable, and stepped over. A single stage where nothing moved.
    """
    names = sorted(before.keys() | after.keys(), key=lambda name: (name == last, name))
    steps = [Stage(START, dict(before), None)]
    for name in names:
        if before.get(name) == after.get(name):
            continue
        move = Move(name, before.get(name), after.get(name))
        packages = {each: version for each, version in steps[-1].packages.items() if each != name}
        if move.after is not None:
            packages[name] = move.after
        steps.append(Stage(str(move), packages, move))
    return tuple(steps)
