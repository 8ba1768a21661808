"""Operands of a comparison that are files of other benchmark tools."""

from pathlib import Path

from orchestrator.errors import InputError
from orchestrator.foreign import read
from orchestrator.regression.model import Regression
from orchestrator.regression.stored_runs.foreign_gates import parse_foreign_gates
from orchestrator.regression.stored_runs.foreign_runs import ForeignSide, compare_files

_ENDING = ".json"


def names_files(text: str) -> bool:
    """Return true if an operand is a file, several as in `FILE,FILE`, or a benchmark of it as in `FILE:NAME`.

    What ends like a file and is none is meant as one.
    """
    paths, _ = _taken_apart(text)
    return any(Path(path).is_file() or path.endswith(_ENDING) for path in paths)


def compared_files(baseline: str, candidate: str | None, metrics: tuple[str, ...]) -> Regression:
    """Compare files of another tool. Raises `InputError` with every mistake in them."""
    if candidate is None:
        raise InputError(f"{baseline}: is a file of another tool; give B too, the file that it is compared with")
    sides = [_taken_apart(text) for text in (baseline, candidate)]
    missing = [path for paths, _ in sides for path in paths if not Path(path).is_file()]
    if missing:
        raise InputError(*(f"{path}: there is no such file; files are compared with files" for path in missing))
    twice = {path for paths, _ in sides for path in paths if paths.count(path) > 1}
    if twice:
        raise InputError(*(f"{path}: is given twice; a file counts once" for path in sorted(twice)))
    one, other = (
        ForeignSide(text, tuple(read(Path(path)) for path in paths), name)
        for text, (paths, name) in zip((baseline, candidate), sides, strict=True)
    )
    there = dict.fromkeys(
        metric
        for side in (one, other)
        for file in side.files
        for each in file.benchmarks.values()
        for metric in each.metrics
    )
    return compare_files(one, other, parse_foreign_gates(metrics, list(there), "--metric"))


def _taken_apart(text: str) -> tuple[list[str], str]:
    """Return the paths of an operand, and the benchmark that it names behind them."""
    for end in (len(text), *(index for index, character in enumerate(text) if character == ":")):
        paths = text[:end].split(",")
        if all(Path(path).is_file() for path in paths):
            return paths, text[end + 1 :]
    return text.split(","), ""
