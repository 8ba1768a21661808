"""The statements of docs/nightly.md and the files beside it are true."""

import configparser
import re
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from orchestrator import resources
from orchestrator.catalog import load as load_catalog
from orchestrator.cli.program import program
from orchestrator.matrix.values.shapes import Shape
from orchestrator.regression.history.acknowledged import AcknowledgedEntry, load_acknowledged
from orchestrator.regression.nightly.loading import load
from orchestrator.regression.nightly.settings import AnchorEntry, NightlyFile, WebhookEntry
from orchestrator.regression.nightly.state import Judgement
from tests.documented import blocks, whole

FOLDER = resources.ROOT / "docs" / "nightly"


@pytest.mark.parametrize("section", ["Set-up in five minutes", "Watch a package"])
def test_the_files_of_the_page_are_right(section: str, tmp_path: Path) -> None:
    (tmp_path / "matrix.yaml").touch()
    for text in blocks("nightly.md", section, "yaml"):
        (tmp_path / "nightly.yaml").write_text(text)

        load(tmp_path / "nightly.yaml", load_catalog(resources.IMAGES / "catalog"), held=lambda matrix: {"numpy"})


def test_the_shipped_nightly_file_is_right(tmp_path: Path) -> None:
    """The nightly file that is shipped is right, and so are its acknowledged changes."""
    (tmp_path / "matrix.yaml").touch()
    for name in ("nightly.yaml", "acknowledged.yaml"):
        (tmp_path / name).write_text((FOLDER / name).read_text())
    found = load(tmp_path / "nightly.yaml", load_catalog(resources.IMAGES / "catalog"))

    assert load_acknowledged(found.acknowledged)[0].release == "1.6.0"
    (text,) = blocks("nightly.md", "Acknowledge a change", "yaml")
    assert yaml.safe_load(text) == yaml.safe_load((FOLDER / "acknowledged.yaml").read_text())


def test_every_documented_command_is_understood() -> None:
    """Every command of the page and of the templates is one that the program understands."""
    (history,) = blocks("nightly.md", "History", "sh")
    pages = [whole("nightly.md"), *(path.read_text() for path in FOLDER.iterdir())]
    found = [*history.splitlines(), *re.findall(r"orchestrator nightly[^'\n>`]*", "\n".join(pages))]
    assert len(found) > 8
    for line in found:
        words = shlex.split(line, comments=True)[1:]
        options = [word for word in words if word.startswith("-")]
        shown = (
            CliRunner()
            .invoke(program(), [*words[: 2 if words[1:2] in (["accept"], ["ack"], ["status"]) else 1], "--help"])
            .output
        )
        assert all(option in shown for option in options), (line, shown)


def rows(section: str) -> list[str]:
    """The lines of the tables in a section, below their heads."""
    text = whole("nightly.md").partition(f"\n## {section}\n")[2].partition("\n## ")[0]
    return [line for line in text.splitlines() if line.startswith("| `")]


def keys(shape: type[Shape], prefix: str = "") -> Iterator[str]:
    """A table of the keys that the loader takes."""
    for name, field in shape.model_fields.items():
        default = "required" if field.is_required() else f"`{written(field.default)}`"
        yield f"| `{prefix}{name}` | {default if field.default not in (None, []) else '–'} | {field.description} |"


def written(value: object) -> str:
    return f"{value:g}s" if isinstance(value, float) else str(value).lower()


def test_every_judgement_is_explained() -> None:
    assert [line.split("`")[1] for line in rows("What a night does")] == [judgement.value for judgement in Judgement]


def test_the_page_lists_every_key_and_default() -> None:
    """Every key is listed on the page with its default, as the loader has it."""
    assert rows("All keys") == [*keys(NightlyFile), *keys(AnchorEntry, "anchor."), *keys(WebhookEntry, "webhook.")]
    assert rows("Acknowledge a change") == [*keys(AcknowledgedEntry)]


def test_the_cron_line_speaks_only_of_failures(tmp_path: Path) -> None:
    """The line for cron prints something if a night fails, and nothing otherwise."""
    shell, address, line = (one for one in (FOLDER / "crontab").read_text().splitlines() if not one.startswith("#"))
    program = tmp_path / ".venv" / "bin" / "orchestrator"
    program.parent.mkdir(parents=True)
    command = line.split(None, 5)[5].replace("/srv/benchmarks", str(tmp_path))
    assert (line.split()[:5], "%" in command, address.split("=")[0]) == (["0", "3", "*", "*", "*"], False, "MAILTO")
    for code, said in ((0, ""), (1, "Regression in mxnet 1.6.0"), (3, "no engine answers")):
        program.write_text(f"#!/bin/sh\necho '{said}' >&2\nexit {code}\n")
        program.chmod(0o755)
        ended = subprocess.run(
            [shell.partition("=")[2], "-c", command], capture_output=True, text=True, check=False, cwd=tmp_path
        )
        told = f"nightly: exit status {code}" in ended.stdout and said in ended.stdout
        assert (ended.returncode, told, bool(ended.stdout + ended.stderr)) == (code, bool(code), bool(code))


def test_ci_templates_show_only_the_newest_night() -> None:
    """The CI templates show the newest night and no older one."""
    for name, shown in (
        ("gitlab-ci.yml", "junit.xml"), ("github-actions.yml", "report.md"), ("Jenkinsfile", "junit.xml")
    ):  # fmt: skip
        text = (FOLDER / name).read_text()
        assert re.search(rf"rm -f [^\n]*nightly/{shown}.*orchestrator nightly.*nightly/{shown}", text, re.DOTALL), name


def test_the_templates_are_what_their_programs_read() -> None:
    for name in ("gitlab-ci.yml", "github-actions.yml"):
        assert "nightly" in str(yaml.safe_load((FOLDER / name).read_text()))
    for name, section in (("orchestrator-nightly.service", "Service"), ("orchestrator-nightly.timer", "Timer")):
        unit = configparser.RawConfigParser(strict=True)
        unit.read_string((FOLDER / name).read_text())
        assert section in unit.sections()
    assert (FOLDER / "Jenkinsfile").read_text().count("{") == (FOLDER / "Jenkinsfile").read_text().count("}")
