"""`python -m bench [NAME …]`: measure, keep the raw figures, and write `docs/performance.md` from them."""

import argparse
import json
import subprocess
import sys
from typing import Any

from bench import detection
from bench.kept import ROOT, counted, measure, merged, where
from bench.pairs import UNBOUNDED

FIGURES = ROOT / "docs" / "performance.json"
PAGE = ROOT / "docs" / "performance.md"
NAMES = (
    "planning",
    "noop",
    "builds",
    "frameworks",
    "reports",
    "remeasure",
    "samplers",
    "killing",
    "fuzz",
    "bundles",
)
REAL = ("regress", "bisect", "nights")
"""Regression tests in containers, on the page of detection; they take hours."""
WITH_A_PAGE_OF_THEIR_OWN = ("parity", "detection")
"""They compare no times, and take choices of their own: `python -m bench.parity --help`."""


def page(figures: dict[str, Any]) -> str:
    """The page, from the raw figures alone."""
    lines = [
        "# Performance",
        "",
        "Written by `make bench` from the raw figures in [performance.json](performance.json).",
        "Both sides of a row run in the same session, interleaved in an order drawn anew for each pair;",
        "the ratio is the geometric mean of ours ÷ theirs with its 90 % t interval on the logarithm.",
        "Ratios carry over to other machines, absolute times do not.",
        "",
        "| what | against | pairs | ratio | 90 % interval | wanted | inside | medians |",
        "|---|---|--:|--:|--:|--:|---|--:|",
    ]
    lines += [
        f"| {row['name']}: {row['ours']} | {row['theirs']} | {row['pairs']} | {row['ratio']:.3f} "
        f"| {row['low']:.3f}–{row['high']:.3f} | {_wanted(row)} | {'yes' if row['within'] else '**no**'} "
        f"| {_median(row['ours_values']):.4g} / {_median(row['theirs_values']):.4g} {row['unit']} |"
        for name in NAMES
        for row in figures.get(name, [])
        if "ratio" in row
    ]
    lines += ["", "Counted, not timed:", ""]
    lines += counted([row for name in NAMES for row in figures.get(name, []) if "text" in row])
    lines += ["", "Measured:", ""]
    measured = {
        (name, f"{where(on)}, Python {on['python']}")
        for name, rows in figures.items()
        for on in (row["measured"] for row in rows)
    }
    lines += [f"- `python -m bench {name}`: {on}" for name, on in sorted(measured)]
    return "\n".join(lines) + "\n"


def _wanted(row: dict[str, Any]) -> str:
    if not row["bar_low"]:
        return f"≤ {row['bar_high']:g}"
    return f"≥ {row['bar_low']:g}" if row["bar_high"] >= UNBOUNDED else f"{row['bar_low']:g}–{row['bar_high']:g}"


def _median(values: list[float]) -> float:
    ordered = sorted(values)
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


def main() -> None:
    """Measure the named benchmarks, all by default."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument(
        "names", nargs="*", help=f"of {', '.join((*NAMES, *REAL, *WITH_A_PAGE_OF_THEIR_OWN))}; all by default"
    )
    parser.add_argument("--pairs", type=int, help="pairs per comparison (at least 20 for a figure worth quoting)")
    parser.add_argument("--only", nargs="+", default=[], help="of one benchmark, only these comparisons")
    options, of_one = parser.parse_known_args()
    every = (*NAMES, *REAL, *WITH_A_PAGE_OF_THEIR_OWN)
    unknown = sorted(set(options.names) - set(every))
    if unknown:
        parser.error(f"no benchmark {', '.join(unknown)}; there are {', '.join(every)}")
    if (options.only or of_one) and len(options.names) != 1:
        parser.error(f"{' '.join(of_one) or '--only'} belongs to one benchmark: name it")
    figures = json.loads(FIGURES.read_text()) if FIGURES.exists() else {}
    for name in options.names or every:
        more = [*of_one, *(["--only", *options.only] if options.only else [])]
        more += ["--pairs", str(options.pairs)] if options.pairs and name not in WITH_A_PAGE_OF_THEIR_OWN else []
        if name in WITH_A_PAGE_OF_THEIR_OWN:
            subprocess.run([sys.executable, "-m", f"bench.{name}", *more], cwd=ROOT, check=True)
        elif name in REAL:
            detection.keep_real(name, measure(name, *more))
        else:
            figures[name] = merged(figures.get(name, []), measure(name, *more))
            FIGURES.write_text(json.dumps(figures, indent=1, ensure_ascii=False) + "\n")
            PAGE.write_text(page(figures))
    print(page(figures))


if __name__ == "__main__":
    main()
