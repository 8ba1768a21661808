"""The command `python -m bench [NAME …]`, which measures, stores the raw figures and writes `docs/performance.md`."""

import argparse
import json
import subprocess
import sys
from typing import Any

from bench.pairs import UNBOUNDED
from bench.records import ROOT, counted, measure, merged, where
from bench.verdicts import detection

FIGURES = ROOT / "docs" / "performance.json"
PAGE = ROOT / "docs" / "performance.md"
_OVERHEAD = ("starts", "planning", "noop", "builds", "reports", "tables", "remeasure", "samplers", "bundles", "push")
_NETWORKS = ("frameworks", "anonymised", "frontier", "own_network", "engine_releases")
_REAL = ("regress", "bisect", "serving_bisect", "nights", "precision", "corpus")
FIGURES_OF = {
    **{name: f"overhead.{name}" for name in _OVERHEAD},
    **{name: f"networks.{name}" for name in _NETWORKS},
    **{name: f"robustness.{name}" for name in ("killing", "fuzz")},
    **{name: f"hosts.{name}" for name in ("slots", "sleeping", "clusters")},
    "site": "site.publishing",
    "serve": "site.serve",
}
"""Names of benchmarks, with their modules."""
REAL = {name: f"verdicts.{name}" for name in _REAL}
"""Regression tests in containers, which go on the page of detection and take hours."""
WITH_A_PAGE_OF_THEIR_OWN = {
    "parity": "networks.parity", "detection": "verdicts.detection", "accuracy": "networks.accuracy",
}  # fmt: skip
"""Benchmarks that compare no times and have options of their own, as `python -m bench parity --help` shows."""


def page(figures: dict[str, Any]) -> str:
    """Return the page from the raw figures alone."""
    lines = [
        "# Performance",
        "",
        "Written by `make bench` from the raw figures in [performance.json](performance.json).",
        "Both sides of a row run in the same session, interleaved in a new order for each pair.",
        "If the row says so, they run at once on one CPU that they share.",
        "The ratio is the geometric mean of ours ÷ theirs, with its 90 % t interval on the logarithm.",
        "Ratios carry over to other machines; absolute times do not.",
        "",
        "| what | against | pairs | ratio | 90 % interval | wanted | inside | medians |",
        "|---|---|--:|--:|--:|--:|---|--:|",
    ]
    lines += [
        f"| {row['name']}: {row['ours']} | {row['theirs']} | {row['pairs']} | {row['ratio']:.3f} "
        f"| {row['low']:.3f}–{row['high']:.3f} | {_wanted(row)} | {_inside(row)} "
        f"| {_median(row['ours_values']):.4g} / {_median(row['theirs_values']):.4g} {row['unit']} |"
        for name in FIGURES_OF
        for row in figures.get(name, [])
        if "ratio" in row
    ]
    lines += ["", "Counted, not timed:", ""]
    lines += counted([row for name in FIGURES_OF for row in figures.get(name, []) if "text" in row])
    lines += ["", "Measured:", ""]
    measured = {
        (name, f"{where(on)}, Python {on['python']}")
        for name, rows in figures.items()
        for on in (row["measured"] for row in rows)
    }
    lines += [f"- `python -m bench {name}`: {on}" for name, on in sorted(measured)]
    return "\n".join(lines) + "\n"


def _is_barred(row: dict[str, Any]) -> bool:
    """Return true if something is wanted of a ratio."""
    return bool(row["bar_low"]) or bool(row["bar_high"] < UNBOUNDED)


def _inside(row: dict[str, Any]) -> str:
    if not _is_barred(row):
        return ""
    return "yes" if row["within"] else "**no**"


def _wanted(row: dict[str, Any]) -> str:
    if not _is_barred(row):
        return ""
    if not row["bar_low"]:
        return f"≤ {row['bar_high']:g}"
    return f"≥ {row['bar_low']:g}" if row["bar_high"] >= UNBOUNDED else f"{row['bar_low']:g}–{row['bar_high']:g}"


def _median(values: list[float]) -> float:
    ordered = sorted(values)
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


def main() -> None:
    """Measure the named benchmarks, or all of them by default."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument(
        "names", nargs="*", help=f"of {', '.join((*FIGURES_OF, *REAL, *WITH_A_PAGE_OF_THEIR_OWN))}; all by default"
    )
    parser.add_argument("--pairs", type=int, help="pairs per comparison (at least 20 for a figure worth quoting)")
    parser.add_argument("--only", nargs="+", default=[], help="of one benchmark, only these comparisons")
    options, benchmark_options = parser.parse_known_args()
    known = FIGURES_OF | REAL | WITH_A_PAGE_OF_THEIR_OWN
    unknown = sorted(set(options.names) - known.keys())
    if unknown:
        parser.error(f"no benchmark {', '.join(unknown)}; there are {', '.join(known)}")
    if (options.only or benchmark_options) and len(options.names) != 1:
        parser.error(f"{' '.join(benchmark_options) or '--only'} belongs to one benchmark: name it")
    figures = json.loads(FIGURES.read_text()) if FIGURES.exists() else {}
    for name in options.names or known:
        arguments = [*benchmark_options, *(["--only", *options.only] if options.only else [])]
        arguments += ["--pairs", str(options.pairs)] if options.pairs and name not in WITH_A_PAGE_OF_THEIR_OWN else []
        if name in WITH_A_PAGE_OF_THEIR_OWN:
            subprocess.run([sys.executable, "-m", f"bench.{known[name]}", *arguments], cwd=ROOT, check=True)
        elif name in REAL:
            detection.keep_real(name, measure(known[name], *arguments))
        else:
            figures[name] = merged(figures.get(name, []), measure(known[name], *arguments))
            FIGURES.write_text(json.dumps(figures, indent=1, ensure_ascii=False) + "\n")
            PAGE.write_text(page(figures))
    print(page(figures))


if __name__ == "__main__":
    main()
