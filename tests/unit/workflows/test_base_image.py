"""The template of base images: one word is put in, and nothing else of it means anything."""

from pathlib import Path

import pytest

from orchestrator.build_settings import BuildSettings
from orchestrator.errors import InputError
from orchestrator.images.dockerfiles import base_image
from orchestrator.workflows.inputs.planned_matrix import site_settings
from tests.unit.cli.conftest import Program

WRONG = ("x:{python:>9}", "x:{python!r}", "x:{python[0]}", "x:{}", "x:{other}", "x:{", "x:{{python}}", "x:}{python}")
MATRIX = "version: 1\nframeworks: [noop==1]\nmodels: [mlp]\nbuild: {base_image: '%s'}\n"


@pytest.mark.parametrize("template", WRONG)
def test_only_python_is_a_placeholder(command: Program, tmp_path: Path, template: str) -> None:
    """Only python is taken of what stands in braces, and nothing is formatted."""
    (tmp_path / "matrix.yaml").write_text(MATRIX % template)

    assert command("plan") == (
        2,
        "",
        f"matrix.yaml:4:21: build.base_image: {template!r}: the only placeholder is {{python}}\n",
    )
    with pytest.raises(InputError, match=r"^base image 'x:.*': the only placeholder is {python}, as in python:"):
        site_settings(BuildSettings(), template, {})


def test_python_may_stand_often_or_never() -> None:
    """The placeholder for Python may stand in a base image more than once or not at all."""
    assert base_image("3.11", site_settings(BuildSettings(), "py{python}:{python}-slim", {})) == "py3.11:3.11-slim"
    assert base_image("3.11", site_settings(BuildSettings(), "mine:1", {})) == "mine:1"


def test_variable_precedes_default_and_follows_matrix() -> None:
    """Stored matrices of earlier releases hold the former default where nobody named a base image."""
    site = {"ORCHESTRATOR_BASE_IMAGE": "site:{python}"}
    former = BuildSettings(base_image="python:{python}-slim-bookworm")

    assert site_settings(BuildSettings(), None, site).base_image == "site:{python}"
    assert site_settings(former, None, site).base_image == "site:{python}"
    assert site_settings(BuildSettings(base_image="mine:1"), None, site).base_image == "mine:1"


def test_without_any_the_catalog_decides_for_each_python() -> None:
    settings = site_settings(BuildSettings(), None, {})

    assert settings.base_image is None
    assert base_image("3.6", settings) == "python:3.6-slim-bullseye"
