"""Figures name the commit that they were measured at, and whoever reads them can check it out."""

import re
import subprocess
from pathlib import Path

import pytest

from orchestrator.resources import ROOT

CITED = re.compile(r"\bcommit ([0-9A-Za-z][\w.-]*[0-9a-z])")
PAGES = [path for path in sorted((ROOT / "docs").glob("*.md")) if CITED.search(path.read_text())]


def git(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)


def test_the_pages_of_figures_cite_commits() -> None:
    assert {"parity.md", "performance.md"} <= {path.name for path in PAGES}


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_cited_commits_are_in_the_history(page: Path) -> None:
    """Every commit that a page cites is in the history."""
    if git("rev-parse", "--is-shallow-repository").stdout.strip() != "false":
        pytest.skip("there is no history here, or only the end of it")
    cited = sorted(set(CITED.findall(page.read_text())))

    lost = [commit for commit in cited if git("merge-base", "--is-ancestor", commit, "HEAD").returncode]

    assert lost == []
