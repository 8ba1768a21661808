"""The stored records of benchmarks, with the conditions of each figure, and their merging with new figures."""

import json
import os
import platform
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent


def measure(module: str, *arguments: str) -> list[dict[str, Any]]:
    """Run one benchmark in a separate process, and return its figures, each with its conditions."""
    on = conditions()
    command = [sys.executable, "-m", f"bench.{module}", *arguments]
    print(f"== {' '.join(command[1:])}", file=sys.stderr, flush=True)
    finished = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=True)
    return [figure | {"measured": on} for figure in json.loads(finished.stdout)]


def merged(old: list[dict[str, Any]], new: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the figures with those of the same name replaced.

    So one comparison can be measured again by itself.
    """
    names = {figure["name"] for figure in new}
    return sorted([*(figure for figure in old if figure["name"] not in names), *new], key=lambda figure: figure["name"])


def counted(rows: list[dict[str, Any]]) -> list[str]:
    """Return a table of figures that were counted and not timed."""
    return ["| what | found | wanted | inside |", "|---|---|---|---|"] + [
        f"| {row['name']} | {row['text']} | {row['wanted']} | {'yes' if row['within'] else '**no**'} |" for row in rows
    ]


def where(on: dict[str, Any]) -> str:
    """Return the conditions in one line, such as `2026-11-22, commit f29b45e, 2 × CPU, Linux …`."""
    return f"{on['at'][:10]}, commit {on['commit']}, {on['cpus']} × {on['cpu']}, Linux {on['kernel']}"


def conditions() -> dict[str, Any]:
    """Return the time, the commit and the host of the figures."""
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
