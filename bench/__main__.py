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

ROOT = Path(__file__).parent.parent
FIGURES = ROOT / "docs" / "performance.json"
PAGE = ROOT / "docs" / "performance.md"
NAMES = ("planning", "noop", "builds", "frameworks")


def measure(name: str, pairs: int | None) -> list[dict[str, Any]]:
    """Run one benchmark in a process of its own and return its figures."""
    command = [sys.executable, "-m", f"bench.{name}", *(["--pairs", str(pairs)] if pairs else [])]
    print(f"== {' '.join(command[1:])}", file=sys.stderr, flush=True)
    finished = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=True)
    figures: list[dict[str, Any]] = json.loads(finished.stdout)
    return figures


def host() -> dict[str, Any]:
    """What the figures were measured on."""
    model = next(
        (
            line.split(":", 1)[1].strip()
            for line in Path("/proc/cpuinfo").read_text().splitlines()
            if line.startswith("model name")
        ),
        platform.machine(),
    )
    return {"cpu": model, "cpus": os.cpu_count(), "kernel": platform.release(), "python": platform.python_version()}


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
    for name in NAMES:
        for row in figures.get(name, {}).get("ratios", []):
            wanted = f"≤ {row['bar_high']:g}" if not row["bar_low"] else f"{row['bar_low']:g}–{row['bar_high']:g}"
            lines.append(
                f"| {row['name']}: {row['ours']} | {row['theirs']} | {row['pairs']} | {row['ratio']:.3f} "
                f"| {row['low']:.3f}–{row['high']:.3f} | {wanted} | {'yes' if row['within'] else '**no**'} "
                f"| {_median(row['ours_values']):.4g} / {_median(row['theirs_values']):.4g} {row['unit']} |"
            )
    lines += ["", "Measured:", ""]
    for name in NAMES:
        if name in figures:
            measured = figures[name]
            where = measured["host"]
            lines.append(
                f"- `python -m bench {name}`: {measured['at'][:10]}, {where['cpus']} × {where['cpu']}, "
                f"Linux {where['kernel']}, Python {where['python']}"
            )
    return "\n".join(lines) + "\n"


def _median(values: list[float]) -> float:
    ordered = sorted(values)
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


def main() -> None:
    """Measure the named benchmarks, all by default."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("names", nargs="*", help=f"of {', '.join(NAMES)}; all by default")
    parser.add_argument("--pairs", type=int, help="pairs per comparison (at least 20 for a figure worth quoting)")
    options = parser.parse_args()
    unknown = sorted(set(options.names) - set(NAMES))
    if unknown:
        parser.error(f"no benchmark {', '.join(unknown)}; there are {', '.join(NAMES)}")
    figures = json.loads(FIGURES.read_text()) if FIGURES.exists() else {}
    for name in options.names or NAMES:
        ratios = measure(name, options.pairs)
        figures[name] = {"at": datetime.now(UTC).isoformat(), "host": host(), "ratios": ratios}
        FIGURES.write_text(json.dumps(figures, indent=1, ensure_ascii=False) + "\n")
        PAGE.write_text(page(figures))
    print(page(figures))


if __name__ == "__main__":
    main()
