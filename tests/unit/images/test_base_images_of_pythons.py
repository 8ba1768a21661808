"""Base images that a matrix names for single Pythons."""

from collections.abc import Mapping
from pathlib import Path

import pytest
import yaml

from orchestrator import catalog, matrix
from orchestrator.build_settings import BuildSettings
from orchestrator.errors import InputError
from orchestrator.images.dockerfiles import base_image
from orchestrator.workflows.inputs.planned_matrix import site_settings

Models = Mapping[str, catalog.ModelInfo]
MATRIX = """\
version: 1
frameworks: [mxnet==1.9.1]
models: [lenet]
build:
  base_image: "corp/python:{python}"
  base_images: {"3.6": "corp/old-python:{python}-1"}
"""


def load(folder: Path, text: str, known: catalog.Catalog, models: Models) -> matrix.Matrix:
    (folder / "m.yaml").write_text(text)
    return matrix.load(folder / "m.yaml", known, models)


def test_a_python_may_have_a_base_of_its_own(tmp_path: Path, known: catalog.Catalog, models: Models) -> None:
    loaded = load(tmp_path, MATRIX, known, models)

    bases = [base_image(python, loaded.build) for python in ("3.6", "3.7")]
    assert bases == ["corp/old-python:3.6-1", "corp/python:3.7"]
    assert load(tmp_path, yaml.safe_dump(matrix.long_form(loaded)), known, models).build == loaded.build


def test_other_pythons_keep_the_catalogs_base() -> None:
    settings = BuildSettings(base_images=(("3.6", "corp/old-python:{python}"),))

    assert base_image("3.6", settings) == "corp/old-python:3.6"
    assert base_image("3.11", settings) == "python:3.11-slim-bookworm"


def test_the_command_line_goes_before_all(tmp_path: Path, known: catalog.Catalog, models: Models) -> None:
    """The option is for every Python. The variable of a host is not, if the matrix names a base."""
    built = load(tmp_path, MATRIX, known, models).build
    host = {"HOME": str(tmp_path), "ORCHESTRATOR_BASE_IMAGE": "host/python:{python}"}

    assert base_image("3.6", site_settings(built, "mine/python:{python}", host)) == "mine/python:3.6"
    assert base_image("3.6", site_settings(built, None, host)) == "corp/old-python:3.6-1"


def test_a_wrong_template_is_a_mistake(tmp_path: Path, known: catalog.Catalog, models: Models) -> None:
    with pytest.raises(InputError, match=r"build\.base_images\.3\.6: .*the only placeholder is \{python\}"):
        load(tmp_path, MATRIX.replace("{python}-1", "{version}"), known, models)
