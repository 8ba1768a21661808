"""Files that other benchmark tools have made, by `python -m bench.foreign_results`, and files of their shape."""

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "files"
TOOLS = tuple(sorted({path.name.rpartition("-")[0] for path in FOLDER.glob("*.json")}))
"""Tool and version, such as `pyperf-2.11.0`."""


def real(tool: str, name: str) -> Path:
    """Return a file by its tool and its name: `before`, `again` or `slower`."""
    return FOLDER / f"{tool}-{name}.json"


def document(tool: str, name: str = "before") -> Any:
    """Return what is in a file."""
    return json.loads(real(tool, name).read_text())


def written(path: Path, content: Any) -> Path:
    """Write a document and return its path."""
    path.write_text(json.dumps(content))
    return path


def redrawn(tool: str, draw: random.Random, factor: float) -> Any:
    """Return a real document with times drawn anew around a level; processes and repetitions have levels of their own.

    They scatter by 1 %, and values within a process by another 1 %.
    """
    content = document(tool)
    value = _scattered(draw, 0.05 * factor)
    if tool.startswith("pyperf"):
        for run in content["benchmarks"][0]["runs"]:
            level = value()
            run["values"] = [_scattered(draw, level)() for _ in run["values"]]
    elif tool.startswith("pytest"):
        stats = content["benchmarks"][0]["stats"]
        stats["data"] = [value() for _ in stats["data"]]
    elif tool.startswith("hyperfine"):
        (result,) = content["results"]
        result["times"] = [value() for _ in result["times"]]
    else:
        for row in content["benchmarks"]:
            row["real_time"] = value() * 1e9
    return content


def _scattered(draw: random.Random, level: float) -> Callable[[], float]:
    return lambda: level * draw.lognormvariate(0, 0.01)
