"""The page on clusters: its site files can be read, and its commands can be parsed."""

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import typer

from orchestrator.cli.program import program
from orchestrator.clusters import site
from orchestrator.clusters.site.file import SiteFile
from orchestrator.resources import ROOT

PAGE = (ROOT / "docs" / "cluster.md").read_text(encoding="utf-8")
SITES = re.findall(r"^```yaml\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
LINES = [
    line
    for block in re.findall(r"^```sh\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    for line in block.splitlines()
    if line.startswith("orchestrator ")
]
PROGRAM: Any = typer.main.get_command(program())


@pytest.mark.parametrize("text", SITES, ids=range(len(SITES)))
def test_a_site_of_the_page_can_be_read(text: str, tmp_path: Path) -> None:
    (tmp_path / "site.yaml").write_text(text)

    assert site.load(tmp_path / "site.yaml").executor in set(site.Executor)


@pytest.mark.parametrize("line", LINES)
def test_a_command_of_the_page_can_be_parsed(line: str) -> None:
    _, *words = shlex.split(line)
    name, command, rest = PROGRAM.resolve_command(PROGRAM.make_context("orchestrator", ["schema"]), words)

    assert command.make_context(name, rest).args == []


def test_the_page_has_every_key_of_a_site() -> None:
    table = PAGE.partition("| key | meaning |")[2].partition("\n\n")[0]
    named = {name.partition(".")[0] for row in table.splitlines() for name in re.findall(r"`([a-z_.]+)`", row[:80])}

    assert set(SiteFile.model_fields) - {"version"} <= named
