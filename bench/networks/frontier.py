"""The frontier that a run finds by `batch_size: frontier`, beside the whole grid of batch sizes, on real frameworks.

    python -m bench frontier [--only encoder resnet50_v1_5] [--runtime docker] [--keep FOLDER]

Each row is two runs of one matrix on one and two CPUs: one asks for the frontier, the other names every batch size that
this stands for. The search is to take at most 0.4 of the cells of the grid and find the same frontier: it offers, by a
cell or by a line that it goes by, whatever is on the frontier of the grid, and names nothing that a cell of the grid
beats. Two figures are apart only where their 95 % intervals are apart, and by more than the tolerance of a search. The
text also counts what is apart by the intervals alone, without that tolerance. A size on a line has no interval.
The ResNet50 is `resnet50_v1_5`, that of inference benchmarks on images of 224 × 224. The `resnet50` of the program is
that of Keras 2.1 on images of 256 × 256, with biases in its convolutions.
Both CPUs are measured on, so nothing else may run on a host of two. It takes an hour. With `--keep` it goes on where it
was, and the runs stay.
"""

import argparse
import json
import statistics
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.kept_run import kept_run
from orchestrator.analysis.estimates import Estimate, estimate
from orchestrator.analysis.frontier.points import TOLERANCE, FrontierPoint, best_under, expected, known_by, on_frontier
from orchestrator.modes.parts.frontier import SIZES

MATRIX = """\
version: 1
name: {model}-{name}
systems: {{one: {{cpus: 1, memory: 8g}}, two: {{cpus: 2, memory: 8g}}}}
frameworks: [{framework}]
models: [{{name: {model}, {axes}batch_size: {sizes}, {heavy}}}]
modes: infer
parity: false
repeats: 3
"""
MOST = 0.4
"""The largest share of the cells of the grid."""
LIMITS_S = (0.1, 1.0, 10.0)
"""Limits of the time of a step, under which the best rates are compared."""


@dataclass(frozen=True)
class Searched:
    """A model whose frontier is searched, and the steps that fit its size."""

    framework: str
    model: str
    axes: str = ""
    heavy: str = "blocks: 5"

    def matrix(self, name: str, sizes: str) -> str:
        """Return the matrix of a run over batch sizes."""
        return MATRIX.format(
            framework=self.framework, model=self.model, axes=self.axes, heavy=self.heavy, name=name, sizes=sizes
        )


ROWS = {
    "encoder": Searched("torch==2.13.0", "encoder", "size: tiny, "),
    "resnet50_v1_5": Searched(
        "onnxruntime==1.32.0", "resnet50_v1_5", heavy="blocks: 5, steps: 5, warmup_steps: 1, latency_steps: 10"
    ),
}

Series = Mapping[int, FrontierPoint]
"""The points of one system by batch size."""


def main() -> None:
    """Search each frontier, measure its grid, and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=list(ROWS), default=list(ROWS))
    parser.add_argument("--keep", type=Path, help="a folder to keep the runs in, and to go on in")
    parser.add_argument("--runtime", default="docker")
    parser.add_argument("--pairs", type=int, help="ignored: one search stands beside one grid")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="bench-frontier-") as scratch:
        folder = (options.keep or Path(scratch)).absolute()
        print(json.dumps([_measured_row(folder / name, ROWS[name], options.runtime) for name in options.only]))


def _measured_row(folder: Path, row: Searched, runtime: str) -> dict[str, Any]:
    folder.mkdir(parents=True, exist_ok=True)
    found = points(kept_run(folder, "frontier", row.matrix("frontier", "frontier"), runtime))
    grid = points(kept_run(folder, "grid", row.matrix("grid", json.dumps(SIZES)), runtime))
    return figure(row, found, grid)


def points(report: Mapping[str, Any]) -> dict[str, dict[int, FrontierPoint]]:
    """Return the points of a report by system and batch size."""
    systems: dict[str, dict[int, FrontierPoint]] = {}
    for cell in report["cells"]:
        timed = [each["measurement"] for each in cell["repeats"] if each["measurement"]]
        if timed:
            size = cell["cell"]["workload"]["batch_size"]
            systems.setdefault(cell["cell"]["system"]["name"], {})[size] = FrontierPoint(
                size,
                estimate([each["latency"]["p50_s"] for each in timed]),
                estimate([each["samples_per_s"] for each in timed]),
            )
    return systems


def figure(row: Searched, found: Mapping[str, Series], grid: Mapping[str, Series]) -> dict[str, Any]:
    """Return the figure on the cells of a search, and on how its frontier and that of the grid differ."""
    every, cells = _all(grid), _all(found)
    share = len(cells) / len(every)
    missed, beaten = list(not_offered(found, grid)), list(beaten_by(found, grid))
    bare_missed, bare_beaten = list(not_offered(found, grid, 0.0)), list(beaten_by(found, grid, 0.0))
    return {
        "name": f"frontier of {row.model} in {row.framework} on one and two CPUs",
        "text": f"{len(cells)} of {len(every)} cells ({share:.2f}); {len(_frontier(every))} cells of the grid are on "
        f"its frontier, {len(missed)} of them not offered{_listed(missed)}; {len(beaten)} that the search names are "
        f"beaten{_listed(beaten)}; by intervals alone {len(bare_missed)} not offered{_listed(bare_missed)}, "
        f"{len(bare_beaten)} beaten{_listed(bare_beaten)}; best rates of the search as a share of those of the grid: "
        f"{_best_rates(cells, every)}; half-widths of the rates: {_half_width(every):.1%} in the median",
        "wanted": f"≤ {MOST} of the cells, the same frontier within intervals",
        "within": share <= MOST and not missed and not beaten,
        "within_by_intervals_alone": share <= MOST and not bare_missed and not bare_beaten,
        "found": _stored(found),
        "grid": _stored(grid),
    }


def not_offered(
    found: Mapping[str, Series], grid: Mapping[str, Series], tolerance: float = TOLERANCE
) -> Iterator[FrontierPoint]:
    """Yield each cell on the frontier of the grid that no cell of the search and none of its lines is as good as."""
    offered = [*_all(found), *(point for name in found for point in _on_lines(found, name))]
    for point in _frontier(_all(grid)):
        if not any(_is_as_good(other, point, tolerance) for other in offered):
            yield point


def beaten_by(
    found: Mapping[str, Series], grid: Mapping[str, Series], tolerance: float = TOLERANCE
) -> Iterator[FrontierPoint]:
    """Yield each cell on the frontier of the search that a cell of the grid beats."""
    every = _all(grid)
    for point in _frontier(_all(found)):
        if any(_is_better(other, point, tolerance) for other in every):
            yield point


def _on_lines(found: Mapping[str, Series], name: str) -> Iterator[FrontierPoint]:
    """Yield what the search says of the sizes of a system that it left out because they lie on a line."""
    others = [point for other, series in found.items() if other != name for point in series.values()]
    reasons = known_by(SIZES, found[name], others)
    for size, latency_s, rate in expected(SIZES, found[name]):
        if reasons[size].startswith("straight"):
            yield FrontierPoint(size, estimate([latency_s]), estimate([rate]))


def _is_as_good(one: FrontierPoint, other: FrontierPoint, tolerance: float) -> bool:
    """Return true unless one is slower or yields less by more than both intervals and the tolerance."""
    return not _is_above(one.latency_s, other.latency_s, tolerance) and not _is_above(other.rate, one.rate, tolerance)


def _is_better(one: FrontierPoint, other: FrontierPoint, tolerance: float) -> bool:
    """Return true if one is quicker and yields more, beyond intervals and tolerance, than what the other says."""
    return _is_above(other.latency_s, one.latency_s, tolerance) and _is_above(one.rate, other.rate, tolerance)


def _is_above(one: Estimate, other: Estimate, tolerance: float) -> bool:
    low = one.value if one.low is None else one.low
    high = other.value if other.high is None else other.high
    return low > high * (1 + tolerance)


def _all(systems: Mapping[str, Series]) -> list[FrontierPoint]:
    return [point for series in systems.values() for point in series.values()]


def _frontier(every: Sequence[FrontierPoint]) -> list[FrontierPoint]:
    return [point for point, is_on in zip(every, on_frontier(every), strict=True) if is_on]


def _best_rates(cells: Sequence[FrontierPoint], every: Sequence[FrontierPoint]) -> str:
    both = ((limit_s, best_under(cells, limit_s), best_under(every, limit_s)) for limit_s in LIMITS_S)
    return ", ".join(
        f"{mine.rate.value / best.rate.value:.3f} within {limit_s:g} s" for limit_s, mine, best in both if mine and best
    )


def _half_width(every: Sequence[FrontierPoint]) -> float:
    bounded = [point.rate for point in every if point.rate.low is not None and point.rate.high is not None]
    return statistics.median((each.high - each.low) / 2 / each.value for each in bounded)  # type: ignore[operator]


def _listed(some: Sequence[FrontierPoint]) -> str:
    return f" (batches of {', '.join(str(point.size) for point in some)})" if some else ""


def _stored(systems: Mapping[str, Series]) -> dict[str, list[list[float]]]:
    return {
        name: [[point.size, point.latency_s.value, point.rate.value] for point in series.values()]
        for name, series in systems.items()
    }


if __name__ == "__main__":
    main()
