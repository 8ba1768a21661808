"""The default base image of each Python: `images/base_images.yaml`."""

from dataclasses import replace
from pathlib import Path

import pytest

from orchestrator.build_settings import BuildSettings
from orchestrator.catalog import load, load_base_images
from orchestrator.errors import InputError
from orchestrator.images import Inputs, render
from orchestrator.images.context import ContextFile
from orchestrator.images.dockerfiles import base_image
from orchestrator.resources import IMAGES
from tests.unit.images.image_specs import image_spec

INPUTS = Inputs(benchmarks=(ContextFile("benchmarks/run.py", b""),))
LAST_DEBIAN = {
    "3.6": "bullseye", "3.7": "bookworm", "3.8": "bookworm", "3.9": "bookworm", "3.10": "bookworm",
    "3.11": "bookworm", "3.12": "bookworm", "3.13": "bookworm",
}  # fmt: skip


def dockerfile(python: str, settings: BuildSettings) -> str:
    spec = image_spec()
    return render(replace(spec, environment=replace(spec.environment, python=python)), settings, INPUTS).dockerfile


@pytest.mark.parametrize(("python", "debian"), LAST_DEBIAN.items())
def test_each_python_has_a_published_base(python: str, debian: str) -> None:
    assert base_image(python, BuildSettings()) == f"python:{python}-slim-{debian}"
    assert dockerfile(python, BuildSettings()).startswith(f"FROM python:{python}-slim-{debian} AS system\n")


def test_the_table_covers_every_python_of_the_catalog() -> None:
    """A Python of the catalog that is not in this test has a base image that nobody has looked up."""
    releases = [release for entry in load(IMAGES / "catalog").entries.values() for release in entry.releases]

    assert {python for release in releases for python in release.python} == set(LAST_DEBIAN)


def test_an_explicit_base_is_taken_for_every_python() -> None:
    explicit = BuildSettings(base_image="mine/python:{python}")

    assert base_image("3.6", explicit) == "mine/python:3.6"
    assert "archive.debian.org" not in dockerfile("3.6", explicit)


@pytest.mark.parametrize("python", ["3.7", "3.11"])
def test_the_former_default_gives_the_same_image(python: str) -> None:
    """Equal content hashes: nothing that was built before is built again."""
    spec = image_spec()
    spec = replace(spec, environment=replace(spec.environment, python=python))
    explicit = BuildSettings(base_image="python:{python}-slim-bookworm")

    assert render(spec, explicit, INPUTS).content == render(spec, BuildSettings(), INPUTS).content


def test_an_ended_debian_falls_back_to_its_archive() -> None:
    text = dockerfile("3.6", BuildSettings())

    assert "http://archive.debian.org/debian" in text
    assert "archive.debian.org" not in dockerfile("3.11", BuildSettings())
    assert "archive.debian.org" not in dockerfile("3.6", BuildSettings(apt_mirror="https://apt.example/debian"))


def test_a_mistake_in_the_table_has_its_place(tmp_path: Path) -> None:
    file = tmp_path / "base_images.yaml"
    file.write_text("default: {image: 'python:{python}'}\npythons:\n  '3.6': {image: 'python:{debian}'}\n")

    with pytest.raises(InputError, match=r"base_images\.yaml:3:18: .*the only placeholder is {python}"):
        load_base_images(file)
