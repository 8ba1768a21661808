"""The error rates of a night's statistics, with `docs/detection.md` and the figures behind it.

Simulated data is drawn from seeds, and judged by the functions of `orchestrator.analysis` that the product calls.
Real figures are measured in containers, by `python -m bench regress bisect nights corpus`.
"""

import argparse
import json
import math
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict
from functools import partial
from inspect import cleandoc
from typing import Any

import numpy as np

from bench.records import ROOT, conditions, counted, merged, where
from bench.rows import Row, mean, share
from bench.verdicts import corpus, otava_change_points, precision, rankings, simulated, watches
from orchestrator.analysis.change_points import change_points
from orchestrator.analysis.comparison import Verdict, looks
from orchestrator.analysis.percentiles import bounds
from orchestrator.modes.parts.settings import LATENCY_STEPS

FIGURES, PAGE = ROOT / "docs" / "detection.json", ROOT / "docs" / "detection.md"
CELLS = 20
ALARMS = (Verdict.SLOWER, Verdict.FASTER)


def nights(count: int = 4000) -> Iterator[Row]:
    """Nights of twenty equal cells, and the verdict on each cell."""
    draw, plan = np.random.default_rng(501), looks(CELLS)
    ends = [[simulated.decided(draw, plan, 1.0) for _ in range(CELLS)] for _ in range(count)]
    cells = [each for night in ends for each in night]
    false = sum(any(each.verdict in ALARMS for each in night) for night in ends)
    same = sum(each.verdict is Verdict.SAME for each in cells)
    yield share("nights of twenty equal cells with any false `slower` or `faster`", false, count, "nights", high=0.05)
    yield share("equal versions end as `same` within 24 blocks", same, len(cells), "cells", low=0.80)
    yield mean("… blocks spent on a cell", [each.blocks for each in cells], "cells", "blocks")


def limits(count: int = 2000) -> Iterator[Row]:
    """Twenty cells just at the tolerance, where both errors are most likely: an alarm, and `same`."""
    draw, plan, limit = np.random.default_rng(502), looks(CELLS), 1 + simulated.TOLERANCE
    ends = [[simulated.decided(draw, plan, limit).verdict for _ in range(CELLS)] for _ in range(count)]
    false = sum(any(each in ALARMS for each in night) for night in ends)
    same = sum(each is Verdict.SAME for night in ends for each in night)
    what = "twenty cells all 2 % slower, the very tolerance: nights with any `slower`"
    yield share(what, false, count, "nights", high=0.05)
    yield share("… cells called `same`", same, count * CELLS, "cells", high=0.05)


def slowdowns(count: int = 20_000) -> Iterator[Row]:
    """One of the twenty cells is slower."""
    plan = looks(CELLS)
    for number, (percent, low) in enumerate(((3, 0.0), (4, 0.0), (5, 0.90), (7, 0.0), (10, 0.0))):
        draw = np.random.default_rng(510 + number)
        ends = [simulated.decided(draw, plan, 1 + percent / 100) for _ in range(count)]
        named = sum(each.verdict is Verdict.SLOWER for each in ends)
        yield share(f"a slowdown of {percent} % is found within 24 blocks", named, count, "cells", low=low)
        yield mean("… blocks spent", [each.blocks for each in ends], "cells", "blocks")


def coverage(count: int = 10_000) -> Iterator[Row]:
    """The share of 95 % intervals that hold the truth."""
    number = 520
    for runs in (None, "of the runs too"):
        for shape in simulated.SHAPES:
            for repeats in (6, 24):
                for paired in (True, False):
                    number += 1
                    draw = np.random.default_rng(number)
                    hits = sum(
                        simulated.covered(draw, shape, shape if runs else "normal", repeats, paired=paired)
                        for _ in range(count)
                    )
                    of = "pairs" if paired else "repeats of each side"
                    what = f"95 % intervals over {repeats} {of}, {shape} step times{f', and {runs}' if runs else ''}"
                    bars = {} if runs else {"low": 0.94, "high": 0.965}
                    if not (runs and shape == "normal"):
                        yield share(what, hits, count, "intervals", **bars)


def percentiles(count: int = 1000) -> Iterator[Row]:
    """The share of 95 % intervals of percentiles of single steps that hold the true one, with 150 steps a repeat.

    If repeats differ by more than the steps within them, the p99 belongs to one repeat in a hundred. A dozen repeats
    say little about that one, and their intervals are too narrow. Resampling whole repeats is shown for comparison.
    """
    number = 580
    for what, shape in simulated.STEP_TIMES.items():
        for name, at in (("p50", 0.5), ("p99", 0.99)):
            truth = shape.percentile(at)
            for repeats in (3, 6, 12):
                number += 1
                draw = np.random.default_rng(number)
                cells = shape.drawn(draw, count, repeats, LATENCY_STEPS)
                intervals = [bounds(cell, at) or (truth, 0.0) for cell in cells.tolist()]
                bar = {} if shape.between > shape.within else {"low": 0.90}
                yield share(
                    f"{name} over {repeats} repeats: {what}", _holding(intervals, truth), count, "intervals", **bar
                )
                if name == "p99":
                    yield mean("… their width", [high / low - 1 for low, high in intervals if high], "intervals", "%")
                    other = simulated.resampled(draw, cells[:300], at)
                    yield share("… by resampling whole repeats", _holding(other, truth), len(other), "intervals")


def _holding(intervals: list[tuple[float, float]], truth: float) -> int:
    return sum(low <= truth <= high for low, high in intervals)


def changes(count: int = 2000) -> Iterator[Row]:
    """Sixty nights with a step or none, with spikes and without, beside Otava."""
    wanted = {0.03: 0.80, 0.05: 0.95, 0.10: 0.995}
    for number, spikes in enumerate((False, True)):
        draw = np.random.default_rng(540 + number)
        kind = "60 nights with spikes" if spikes else "60 nights"
        for step in (0.0, *wanted):
            history = simulated.histories(draw, count, step, spikes=spikes)
            ours = [[each.index for each in change_points(values)] for values in history.values]
            theirs = otava_change_points.indices(history.values.tolist())
            for name, indices in (("", ours), (" (Otava)", theirs)):
                judged = simulated.judged(history, indices)
                if step:
                    low = 0.0 if name else wanted[step] - (0.05 if spikes else 0.0)
                    what = f"{kind}: a step of {100 * step:.0f} % is found within 3 nights{name}"
                    yield share(what, round(judged.recall * count), count, "series", low=low)
                high = None if name else (0.1 if spikes else 0.05)
                alarms = (
                    f"{kind}, {f'a step of {100 * step:.0f} %' if step else 'no step'}: false alarms a series{name}"
                )
                per_series = [float(each) for each in _false_alarms(history, indices)]
                yield mean(alarms, per_series, "series", "", high)


def _false_alarms(history: simulated.History, indices_of_series: list[list[int]]) -> Iterator[float]:
    for number, indices in enumerate(indices_of_series):
        steps = None if history.steps is None else history.steps[number : number + 1]
        series = simulated.History(history.values[number : number + 1], steps)
        yield simulated.judged(series, [indices]).false_alarms


def speed() -> Iterator[Row]:
    """The time that one series takes."""
    draw = np.random.default_rng(560)
    medians_s = {}
    for length in (1000, 10_000):
        values = simulated.long_history(draw, length)
        medians_s[length] = statistics.median(_seconds(partial(change_points, values)) for _ in range(15))
    short, long = 1000 * medians_s[1000], medians_s[10_000] / medians_s[1000]
    yield Row("one series of 1 000 nights", "≤ 100", short, None, "median of 15", short <= 100, "ms")
    yield Row("one of 10 000 nights, as often", "≤ 20", long, None, "median of 15", long <= 20, "×")


def _seconds(call: Callable[[], object]) -> float:
    began = time.perf_counter()
    call()
    return time.perf_counter() - began


def bisection(count: int = 500) -> Iterator[Row]:
    """Thirteen releases, and the changes that a search names: one, several or no release is slower than the one before.

    Launches are containers: one for each release of each block. A block has a deviation of its own, like a session.
    """
    yield from _changes_named(count)
    yield from _without_a_change(count)
    yield from _hard_cases(count)


def _changes_named(count: int) -> Iterator[Row]:
    number = 570
    most = {(5, 1): 120, (5, 2): 160}
    for percent in (5, 7, 10):
        for changed in ((7,), (3, 9)):
            number += 1
            every = len(changed) > 1
            steps = [1 + percent / 100 * (place in changed) for place in range(1, 13)]
            ends = _searches(number, count, steps, every=every)
            what = f"{'two changes' if every else 'one change'} of {percent} % among 13 releases"
            named = sum(each.named == changed for each in ends)
            wrong = sum(bool(set(each.named) - set(changed)) for each in ends)
            yield share(f"{what}: named, and nothing else", named, count, "searches", low=0.95)
            yield share("… another release named", wrong, count, "searches", high=0.05)
            until = [float(each.until_named) for each in ends]
            yield mean("… launches until named", until, "searches", "launches", most.get((percent, len(changed))))
            if every:
                yield _launches("… launches until every other step is decided", ends)


def _without_a_change(count: int) -> Iterator[Row]:
    ends = _searches(590, count, [1.0] * 12, every=False)
    wrong = sum(bool(each.named) for each in ends)
    yield share("no change among 13 releases: any release named", wrong, count, "searches", high=0.05)
    yield _launches("… launches until the search ends", ends, 100)
    limits = [each.excluded for each in ends]
    yield mean("… the smallest step that it would have found", limits, "searches", "%")
    ends = _searches(591, count, [1.0] * 12, every=True)
    wrong, same = sum(bool(each.named) for each in ends), sum(each.all_same for each in ends)
    yield share("no change, every step wanted: any release named", wrong, count, "searches", high=0.05)
    yield share("… every step shown within 2 % in the end", same, count, "searches", low=0.90)
    yield _launches("… mean launches of searches that end with 90 % shown", ends, 440)
    within = sum(each.all_same and each.launches <= 440 for each in ends)
    yield share("… every step shown within 2 % after 440 launches", within, count, "searches")


def _hard_cases(count: int) -> Iterator[Row]:
    small = math.exp(0.9 * math.log1p(simulated.TOLERANCE))
    for number, every in enumerate((False, True)):
        ends = _searches(592 + number, count, [small] * 12, every=every)
        what = f"every step 0.9 tolerances slower{', every step wanted' if every else ''}: any release named"
        yield share(what, sum(bool(each.named) for each in ends), count, "searches", high=0.05)
        yield _launches("… launches", ends)
    deviations = [0.06 if place == 6 else simulated.RUN_DEVIATION for place in range(13)]
    ends = [
        simulated.searched(draw, [1.0] * 12, every=True, deviations=deviations)
        for draw in [np.random.default_rng(594)]
        for _ in range(count)
    ]
    what = "no change, and one release scatters by 6 %: any release named"
    yield share(what, sum(bool(each.named) for each in ends), count, "searches", high=0.05)


def _searches(seed: int, count: int, steps: list[float], *, every: bool) -> list[simulated.Searched]:
    draw = np.random.default_rng(seed)
    return [simulated.searched(draw, steps, every=every) for _ in range(count)]


def _launches(what: str, ends: list[simulated.Searched], high: float | None = None) -> Row:
    return mean(what, [float(each.launches) for each in ends], "searches", "launches", high)


PARTS: dict[str, tuple[str, Callable[[], Iterator[Row]]]] = {
    "nights": ("Equal versions", nights),
    "limits": ("Versions at the tolerance", limits),
    "slowdowns": ("Slower versions", slowdowns),
    "coverage": ("Intervals", coverage),
    "percentiles": ("Percentiles of single steps", percentiles),
    "changes": ("Change points", changes),
    "bisection": ("Searches", bisection),
    "drifts": ("Slow drift", watches.drifts),
    "watch": ("The watch itself", watches.watch),
    "rankings": ("Rankings until decided", rankings.rows),
    "precision": ("Repeats for a wanted interval", precision.rows),
    "speed": ("Time to find change points", speed),
}


def page(figures: dict[str, Any]) -> str:
    """Return the page from the figures alone."""
    real = [row for name in figures.get("real", {}) for row in figures["real"][name]]
    simulated_rows = [row for name in PARTS if name in figures for row in figures[name]["rows"]]
    rows = [row for row in (*real, *simulated_rows) if row["within"] is not None]
    fulfilled = sum(row["within"] for row in rows)
    lines = [
        "# Detection",
        "",
        "Written by `python -m bench detection` from [detection.json](detection.json).",
        "[Regression](regression.md) explains the verdicts.",
        "Measurements in containers come first.",
        "Everything else is simulated from fixed seeds, and judged by the same functions as the runs of a night.",
        "A run scatters by 2 % (standard deviation), a session of a night by 1 %. The tolerance is 2 %.",
        "Twenty cells are a family, looked at after 6, 12 and 24 blocks. ± is one standard error of the simulation.",
        f"{len(rows)} figures have a wanted value, and {fulfilled} hold it.",
    ]
    if real:
        lines += [
            "",
            "## In containers",
            "",
            "Frameworks on this host's CPUs. Every interval is the one that decided.",
            "",
        ]
        lines += counted(real)
    if of_corpus := figures.get("real", {}).get("corpus"):
        lines += ["", *corpus.counts(of_corpus)]
    for name, (title, part) in PARTS.items():
        if name in figures:
            lines += ["", f"## {title}", "", cleandoc(part.__doc__ or ""), ""]
            lines += ["| what | wanted | found | drawn | |", "|---|--:|--:|--:|---|"]
            lines += [_line(row) for row in figures[name]["rows"]]
    lines += ["", "Found on:", "", *_when(figures)]
    return "\n".join(lines) + "\n"


def _line(row: dict[str, Any]) -> str:
    outcome = {None: "", True: "holds", False: "**does not hold**"}[row["within"]]
    factor, unit = (100, " %") if row["unit"] == "%" else (1, f" {row['unit']}" if row["unit"] else "")
    digits = 2 if row["unit"] == "%" else 1 if row["unit"] else 4
    error = "" if row["error"] is None else f" ± {factor * row['error']:.{digits}f}"
    value = f"{factor * row['value']:.{digits}f}{error}{unit}"
    return f"| {row['what']} | {row['wanted']} | {value} | {row['draws']} | {outcome} |"


def _when(figures: dict[str, Any]) -> Iterator[str]:
    for name, rows in figures.get("real", {}).items():
        yield from sorted({f"- `python -m bench {name}`: {where(row['measured'])}" for row in rows})
    for name in PARTS:
        if name in figures:
            yield f"- {name}: {where(figures[name]['measured'])}"


def keep_real(name: str, rows: list[dict[str, Any]]) -> None:
    """Store the figures of a benchmark in containers, and write the page."""
    figures = json.loads(FIGURES.read_text()) if FIGURES.exists() else {}
    real = figures.setdefault("real", {})
    real[name] = merged(real.get(name, []), rows)
    _store(figures)


def _store(figures: dict[str, Any]) -> None:
    FIGURES.write_text(json.dumps(figures, indent=1, ensure_ascii=False) + "\n")
    PAGE.write_text(page(figures))


def main() -> None:
    """Simulate the named parts, or all of them by default, and write the page."""
    parser = argparse.ArgumentParser(prog="python -m bench detection", description=__doc__)
    parser.add_argument("--only", nargs="+", choices=tuple(PARTS), default=list(PARTS))
    figures = json.loads(FIGURES.read_text()) if FIGURES.exists() else {}
    for name in parser.parse_args().only:
        on, began = conditions(), time.perf_counter()
        rows = [asdict(row) for row in PARTS[name][1]()]
        print(f"== {name}: {time.perf_counter() - began:.0f} s", file=sys.stderr, flush=True)
        figures[name] = {"measured": on, "rows": rows}
        _store(figures)
    print(page(figures))


if __name__ == "__main__":
    main()
