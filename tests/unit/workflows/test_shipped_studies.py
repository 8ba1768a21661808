"""The studies that ship with the program, named as in a checkout."""

import tomllib
from pathlib import Path

from orchestrator.resources import ROOT, STUDIES
from tests.unit.cli.conftest import Program

NAME = sorted(path.name for path in STUDIES.glob("*.yaml"))[0]


def test_a_study_of_the_program_is_planned_anywhere(command: Program) -> None:
    status, out, notices = command("plan", "-f", f"studies/{NAME}", "--no-parity")

    assert status == 0
    assert "published claims" in out
    assert notices.startswith(
        f"no studies/{NAME} here: this is the study that ships with the program ({STUDIES / NAME})"
    )


def test_datasets_of_a_study_are_known_anywhere(command: Program) -> None:
    study = "keras-backends-2017.yaml"

    status, out, notices = command("data", "babi-qa2", "-f", f"studies/{study}", "--stand-in", "--data", "sets")

    assert (status, "stand-in, made now" in out) == (0, True)
    assert notices == f"no studies/{study} here: this is the study that ships with the program ({STUDIES / study})\n"


def test_a_file_of_the_working_folder_comes_first(command: Program, tmp_path: Path) -> None:
    (tmp_path / "studies").mkdir()
    (tmp_path / "studies" / NAME).write_text("version: 1\nframeworks: [noop==1]\nmodels: [mlp]\n")

    status, out, notices = command("plan", "-f", f"studies/{NAME}")

    assert (status, notices) == (0, "")
    assert "published claims" not in out


def test_an_unknown_study_is_a_missing_file(command: Program) -> None:
    assert command("plan", "-f", "studies/none.yaml") == (2, "", "studies/none.yaml: no such matrix\n")


def test_the_wheel_carries_the_studies() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    carried = project["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]

    assert carried["studies"] == "orchestrator/_data/studies"
