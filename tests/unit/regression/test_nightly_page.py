"""What docs/nightly.md and the files beside it say is so."""

import configparser
import re
import shlex
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from orchestrator import resources
from orchestrator.catalog import load as load_catalog
from orchestrator.cli.program import program
from orchestrator.regression.night_model import Judgement
from orchestrator.regression.nightly_loading import load, load_acknowledged
from tests.documented import blocks

FOLDER = resources.ROOT / "docs" / "nightly"


@pytest.mark.parametrize("section", ["Set-up in five minutes", "Watch a package"])
def test_the_files_of_the_page_are_right(section: str, tmp_path: Path) -> None:
    (text,) = blocks("nightly.md", section, "yaml")
    (tmp_path / "matrix.yaml").touch()
    (tmp_path / "nightly.yaml").write_text(text)

    load(tmp_path / "nightly.yaml", load_catalog(resources.IMAGES / "catalog"))


def test_the_file_that_is_shipped_is_right_and_so_are_its_acknowledged_changes(tmp_path: Path) -> None:
    (tmp_path / "matrix.yaml").touch()
    for name in ("nightly.yaml", "acknowledged.yaml"):
        (tmp_path / name).write_text((FOLDER / name).read_text())
    found = load(tmp_path / "nightly.yaml", load_catalog(resources.IMAGES / "catalog"))

    assert load_acknowledged(found.acknowledged)[0].release == "1.6.0"
    (text,) = blocks("nightly.md", "Acknowledge a change", "yaml")
    assert yaml.safe_load(text) == yaml.safe_load((FOLDER / "acknowledged.yaml").read_text())


def test_every_command_of_the_page_and_of_the_templates_is_understood() -> None:
    (history,) = blocks("nightly.md", "History", "sh")
    pages = [(resources.ROOT / "docs" / "nightly.md").read_text(), *(path.read_text() for path in FOLDER.iterdir())]
    found = [*history.splitlines(), *re.findall(r"orchestrator nightly[^'\n>`]*", "\n".join(pages))]
    assert len(found) > 8
    for line in found:
        words = shlex.split(line, comments=True)[1:]
        options = [word for word in words if word.startswith("-")]
        shown = CliRunner().invoke(program(words), [*words[: 2 if "accept" in words else 1], "--help"]).output
        assert all(option in shown for option in options), (line, shown)


def test_every_judgement_is_explained() -> None:
    text = (resources.ROOT / "docs" / "nightly.md").read_text()

    assert re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE) == [
        judgement.value for judgement in (Judgement.CLEAN, *list(Judgement)[1:])
    ]


def test_the_templates_are_what_their_programs_read() -> None:
    for name in ("gitlab-ci.yml", "github-actions.yml"):
        assert "nightly" in str(yaml.safe_load((FOLDER / name).read_text()))
    for name, section in (("orchestrator-nightly.service", "Service"), ("orchestrator-nightly.timer", "Timer")):
        unit = configparser.RawConfigParser(strict=True)
        unit.read_string((FOLDER / name).read_text())
        assert section in unit.sections()
    (line,) = [one for one in (FOLDER / "crontab").read_text().splitlines() if not one.startswith("#")]
    assert line.split()[:5] == ["0", "3", "*", "*", "*"]
    assert (FOLDER / "Jenkinsfile").read_text().count("{") == (FOLDER / "Jenkinsfile").read_text().count("}")
