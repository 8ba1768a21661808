"""The lines of pages that install an extra, by the real pip, in a fresh clone and a fresh environment."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.documented import fenced
from tests.tutorials import clone

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(("page", "library"), [("data.md", "pyarrow"), ("serve.md", "uvicorn")])
def test_extra_of_the_page_is_installed(page: str, library: str, tmp_path: Path) -> None:
    (line,) = (line for text in fenced(page, "sh") for line in text.splitlines() if line.startswith("pip install "))
    folder = clone(tmp_path / "clone")
    programs = tmp_path / "environment" / "bin"
    subprocess.run([sys.executable, "-m", "venv", programs.parent], check=True)
    subprocess.run(["bash", "-c", f"PATH={programs}:$PATH; set -e; {line}"], cwd=folder, check=True)

    said = subprocess.run(
        [programs / "python", "-c", f"import {library}; print({library}.__file__)"], cwd=tmp_path, check=True,
        capture_output=True, text=True,
    ).stdout  # fmt: skip
    assert re.match(re.escape(str(programs.parent)), said)
    assert subprocess.run([programs / "orchestrator", "--version"], cwd=tmp_path, check=False).returncode == 0
