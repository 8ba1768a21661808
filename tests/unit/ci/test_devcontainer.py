"""The container for development is made of what the project needs."""

import json
import re
import tomllib

from packaging.specifiers import SpecifierSet

from orchestrator.resources import ROOT

CONTAINER = json.loads((ROOT / ".devcontainer" / "devcontainer.json").read_text(encoding="utf-8"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_its_python_is_one_of_the_project() -> None:
    image = re.fullmatch(r"python:(\d+\.\d+)-\w+", CONTAINER["image"])

    assert image
    assert image[1] in SpecifierSet(PROJECT["requires-python"])
    assert f"Programming Language :: Python :: {image[1]}" in PROJECT["classifiers"]


def test_it_is_set_up_by_a_target_of_make() -> None:
    program, target = CONTAINER["postCreateCommand"].split()

    assert program == "make"
    assert re.search(rf"^{target}: ", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)


def test_its_path_holds_what_make_installs() -> None:
    (venv,) = re.findall(r"^VENV := (\S+)$", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    first, *_ = CONTAINER["remoteEnv"]["PATH"].split(":")

    assert first == f"${{containerWorkspaceFolder}}/{venv}/bin"


def test_it_has_a_container_engine() -> None:
    """Each feature has a version, so that the container does not change by itself."""
    features = CONTAINER["features"]

    assert any("/docker-in-docker:" in name for name in features)
    assert all(re.fullmatch(r"ghcr\.io/[\w./-]+:\d+", name) for name in features)
