"""The pages on clusters: their site files can be read, and their commands can be parsed."""

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import typer

from orchestrator.cli.program import program
from orchestrator.clusters.site import Executor
from orchestrator.clusters.site.file import SiteFile
from orchestrator.clusters.site.loading import load as load_site
from orchestrator.clusters.site.pods import KubernetesEntry
from tests.documented import whole

PAGE = whole("cluster.md")
KUBERNETES = whole("kubernetes.md")
BOTH = f"{PAGE}\n{KUBERNETES}"
SITES = re.findall(r"^```yaml\n(.*?)^```$", BOTH, re.MULTILINE | re.DOTALL)
LINES = [
    line
    for block in re.findall(r"^```sh\n(.*?)^```$", BOTH, re.MULTILINE | re.DOTALL)
    for line in block.splitlines()
    if line.startswith("orchestrator ")
]
PROGRAM: Any = typer.main.get_command(program())


@pytest.mark.parametrize("text", SITES, ids=range(len(SITES)))
def test_a_site_of_the_page_can_be_read(text: str, tmp_path: Path) -> None:
    (tmp_path / "site.yaml").write_text(text)

    assert load_site(tmp_path / "site.yaml").executor in set(Executor)


@pytest.mark.parametrize("line", LINES)
def test_a_command_of_the_page_can_be_parsed(line: str) -> None:
    _, *words = shlex.split(line)
    name, command, rest = PROGRAM.resolve_command(PROGRAM.make_context("orchestrator", ["schema"]), words)

    assert command.make_context(name, rest).args == []


def test_the_page_has_every_key_of_a_site() -> None:
    assert set(SiteFile.model_fields) - {"version"} <= _keys(PAGE)


def test_the_page_has_every_key_of_pods() -> None:
    assert set(KubernetesEntry.model_fields) <= _keys(KUBERNETES)


def _keys(page: str) -> set[str]:
    """Return the keys in the first column of a page's table."""
    table = page.partition("| key | meaning |")[2].partition("\n\n")[0]
    return {name.partition(".")[0] for row in table.splitlines() for name in re.findall(r"`([a-z_.]+)`", row[:80])}
