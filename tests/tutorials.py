"""A page of the tutorial followed literally: its files are written and its commands run, each in its place."""

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from orchestrator.resources import ROOT
from tests.documented import DOCS

_BLOCK = re.compile(r"^```(yaml|sh)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_NAMED = re.compile(r"Write this into (?:a file )?`([\w.]+)`")
_FIRST_VERDICT = "tutorial/first-verdict.md"
VERDICTS = {"same", "slower", "faster", "inconclusive"}
"""Of figures that were measured on both sides."""
SHOWN_TOO = {
    "step, median", "step, 90th percentile", "step, 99th percentile", "cold start", "first step", "peak memory",
    "image size",
}  # fmt: skip
"""Metrics of the second table; that of images without containers is missing."""


def clone(folder: Path) -> Path:
    """Return a fresh clone of the repository."""
    subprocess.run(["git", "clone", "-q", str(ROOT), str(folder)], check=True)
    return folder


def surroundings(tmp_path: Path, **more: str) -> Mapping[str, str]:
    """Return the variables of a machine on which nothing of ours is installed, but for uv."""
    tools = {"UV_TOOL_DIR": str(tmp_path / "tools"), "UV_TOOL_BIN_DIR": str(tmp_path / "bin")}
    path = os.pathsep.join([tools["UV_TOOL_BIN_DIR"], str(Path(sys.executable).parent), os.environ["PATH"]])
    return {**os.environ, **tools, "PATH": path, "XDG_CACHE_HOME": str(tmp_path / "cache"), "COLUMNS": "200", **more}


def followed(page: str, folder: Path, environment: Mapping[str, str]) -> dict[str, str]:
    """Follow a page in a folder, and return what each block of commands printed, by its first line."""
    text = (DOCS / page).read_text(encoding="utf-8")
    said, end = {}, 0
    for block in _BLOCK.finditer(text):
        before, end = text[end : block.start()], block.end()
        if block[1] == "yaml":
            (name,) = _NAMED.findall(before)
            (folder / name).write_text(block[2])
            continue
        command = ["sh", "-c", f"set -eu\n{block[2]}"]
        ended = subprocess.run(command, cwd=folder, env=dict(environment), capture_output=True, text=True, check=False)
        assert ended.returncode == 0, f"{page}: {block[2]}{ended.stdout}\n{ended.stderr}"
        said[block[2].splitlines()[0]] = ended.stdout + ended.stderr
    return said


def verdict_tables(printed: str) -> list[list[dict[str, str]]]:
    """Return the rows of each table of verdicts that was printed, by the names of its columns."""
    tables: list[list[dict[str, str]]] = []
    heads: list[str] = []
    for line in printed.splitlines():
        cells = re.split(r"\s{2,}", line.rstrip())
        if cells[0] == "Cell":
            heads = cells
            tables.append([])
        elif not cells[0]:
            heads = heads if len(cells) > 1 else []  # a cell in several lines, or the end of the table
        elif heads and len(cells) == len(heads):
            tables[-1].append(dict(zip(heads, cells, strict=True)))
    return tables


def check_verdicts(printed: str) -> str:
    """Check the tables that the last command of the page printed, and return the verdict on the throughput."""
    (shown,) = verdict_tables((DOCS / _FIRST_VERDICT).read_text(encoding="utf-8"))
    deciding, others = verdict_tables(printed)
    for table in (shown, deciding):
        assert [(row["Cell"], row["Metric"]) for row in table] == [("cpu/mlp-infer-b32", "throughput")]
        assert table[0]["Verdict"].partition(":")[0] in VERDICTS
        assert re.fullmatch(r"[\d.]+ \([\d.]+–[\d.]+\)", table[0]["Ratio (Interval)"])
    assert shown[0].keys() == deciding[0].keys() == others[0].keys(), "the page shows the columns of the program"
    assert {row["Metric"] for row in others} <= SHOWN_TOO
    return deciding[0]["Verdict"].partition(":")[0]
