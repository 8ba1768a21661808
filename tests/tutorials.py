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
    """Follow a page in a folder, and return what each block of commands said, by its first line."""
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
        said[block[2].splitlines()[0]] = " ".join((ended.stdout + ended.stderr).split())
    return said
