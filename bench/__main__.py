"""`python -m bench [NAME …]`: measure, keep the raw figures, and write `docs/performance.md` from them."""

import argparse
import json
import os
import platform
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench.pairs import UNBOUNDED

ROOT = Path(__file__).parent.parent
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
    "regress",
)
WITH_A_PAGE_OF_THEIR_OWN = ("parity", "detection")
"""They compare no times, and take choices of their own: `python -m bench.parity --help`."""


def measure(name: str, pairs: int | None, only: list[str]) -> list[dict[str, Any]]:
    """Run one benchmark in a process of its own and return its figures, each with what it was measured on."""
    on = conditions()
    command = [sys.executable, "-m", f"bench.{name}", *(["--pairs", str(pairs)] if pairs else [])]
    command += ["--only", *only] if only else []
    print(f"== {' '.join(command[1:])}", file=sys.stderr, flush=True)
    finished = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=True)
    return [figure | {"measured": on} for figure in json.loads(finished.stdout)]


def merged(old: list[dict[str, Any]], new: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The figures with those of the same name replaced: one comparison can be measured again by itself."""
    names = {figure["name"] for figure in new}
    return sorted([*(figure for figure in old if figure["name"] not in names), *new], key=lambda figure: figure["name"])


def conditions() -> dict[str, Any]:
    """When, of which commit, and on what the figures are measured."""
    model = next(
        (
            line.split(":", 1)[1].strip()
            for line in Path("/proc/cpuinfo").read_text().splitlines()
            if line.startswith("model name")
        ),
        platform.machine(),
    )
    commit = subprocess.run(["git", "describe", "--always"], cwd=ROOT, stdout=subprocess.PIPE, check=True, text=True)
    return {
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": commit.stdout.strip(),
        "cpu": model,
        "cpus": os.cpu_count(),
        "kernel": platform.release(),
        "python": platform.python_version(),
        "load_before": os.getloadavg()[0],
    }


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
    lines += ["", "Counted, not timed:", "", "| what | found | wanted | inside |", "|---|---|---|---|"]
    lines += [
        f"| {row['name']} | {row['text']} | {row['wanted']} | {'yes' if row['within'] else '**no**'} |"
        for name in NAMES
        for row in figures.get(name, [])
        if "text" in row
    ]
    lines += ["", "Measured:", ""]
    measured = {
        (name, on["at"][:10], on["commit"], f"{on['cpus']} × {on['cpu']}, Linux {on['kernel']}, Python {on['python']}")
        for name, rows in figures.items()
        for on in (row["measured"] for row in rows)
    }
    lines += [
        f"- `python -m bench {name}`: {day}, commit {commit}, {where}" for name, day, commit, where in sorted(measured)
    ]
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
    parser.add_argument("names", nargs="*", help=f"of {', '.join((*NAMES, *WITH_A_PAGE_OF_THEIR_OWN))}; all by default")
    parser.add_argument("--pairs", type=int, help="pairs per comparison (at least 20 for a figure worth quoting)")
    parser.add_argument("--only", nargs="+", default=[], help="of one benchmark, only these comparisons")
    options = parser.parse_args()
    every = (*NAMES, *WITH_A_PAGE_OF_THEIR_OWN)
    unknown = sorted(set(options.names) - set(every))
    if unknown:
        parser.error(f"no benchmark {', '.join(unknown)}; there are {', '.join(every)}")
    if options.only and len(options.names) != 1:
        parser.error("--only belongs to one benchmark: name it")
    figures = json.loads(FIGURES.read_text()) if FIGURES.exists() else {}
    for name in options.names or every:
        if name in WITH_A_PAGE_OF_THEIR_OWN:
            only = ["--only", *options.only] if options.only else []
            subprocess.run([sys.executable, "-m", f"bench.{name}", *only], cwd=ROOT, check=True)
            continue
        figures[name] = merged(figures.get(name, []), measure(name, options.pairs, options.only))
        FIGURES.write_text(json.dumps(figures, indent=1, ensure_ascii=False) + "\n")
        PAGE.write_text(page(figures))
    print(page(figures))


if __name__ == "__main__":
    main()
