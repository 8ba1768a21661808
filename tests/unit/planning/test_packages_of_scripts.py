"""Packages of a script: installed in an environment of their own, which no other cell runs in."""

from pathlib import Path

import pytest
import yaml

from orchestrator import catalog, matrix, planning
from orchestrator.domain import Plan
from orchestrator.errors import InputError

Models = dict[str, catalog.ModelInfo]
FILE = """\
version: 1
frameworks:
  - {name: mxnet, version: 1.9.1, packages: {numpy: 1.22.4}}
models: [lenet]
scripts:
  - name: lm
    file: train.py
    packages: {Tqdm: 4.66.1}
    metrics: {speed: {pattern: 'speed (.*)', unit: samples/s, better: higher}}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "train.py").write_text("print('speed 1')")
    return tmp_path


def load(folder: Path, known: catalog.Catalog, models: Models, text: str) -> matrix.Matrix:
    (folder / "m.yaml").write_text(text)
    return matrix.load(folder / "m.yaml", known, models)


def planned(folder: Path, known: catalog.Catalog, models: Models, text: str) -> Plan:
    return planning.plan(load(folder, known, models, text), known, models)


def test_a_script_gets_an_environment_of_its_own(folder: Path, known: catalog.Catalog, models: Models) -> None:
    plan = planned(folder, known, models, FILE)

    assert [(cell.id, cell.image) for cell in plan.cells] == [
        ("mxnet-1.9.1-numpy=1.22.4-cpu/lenet-train-b200", "bench/mxnet:1.9.1-numpy1.22.4-cpu"),
        ("mxnet-1.9.1-numpy=1.22.4-tqdm=4.66.1-cpu/lm-script", "bench/mxnet:1.9.1-numpy1.22.4-tqdm4.66.1-cpu"),
    ]
    holds = {image.name: image.environment.requirements for image in plan.images}
    assert any(each.startswith("tqdm>=4.66.1,") for each in holds["bench/mxnet:1.9.1-numpy1.22.4-tqdm4.66.1-cpu"])
    assert all("tqdm" not in each for each in holds["bench/mxnet:1.9.1-numpy1.22.4-cpu"])


def test_a_scripts_version_wins_over_the_entrys(folder: Path, known: catalog.Catalog, models: Models) -> None:
    plan = planned(folder, known, models, FILE.replace("Tqdm: 4.66.1", "NumPy: 1.21.6"))

    (cell,) = [cell for cell in plan.cells if cell.script]
    (image,) = [image for image in plan.images if image.name == cell.image]
    assert cell.framework.packages == (("numpy", "1.21.6"),)
    (numpy,) = [each for each in image.environment.requirements if each.startswith("numpy")]
    assert numpy.startswith("numpy>=1.21.6,")


def test_the_long_form_keeps_packages(folder: Path, known: catalog.Catalog, models: Models) -> None:
    loaded = load(folder, known, models, FILE)

    long = matrix.long_form(loaded)
    assert long["scripts"][0]["packages"] == {"tqdm": "4.66.1"}
    assert load(folder, known, models, yaml.safe_dump(long, sort_keys=False)) == loaded
    bare = load(folder, known, models, FILE.replace("    packages: {Tqdm: 4.66.1}\n", ""))
    assert "packages" not in matrix.long_form(bare)["scripts"][0]


def test_an_own_image_is_skipped_with_the_remedy(folder: Path, known: catalog.Catalog, models: Models) -> None:
    """A script with packages is left out in the user's own image, and the reason names the remedy."""
    text = FILE.replace("packages: {numpy: 1.22.4}}", "image: 'mine:1'}")

    plan = planned(folder, known, models, text)

    (skip,) = plan.skips
    assert [cell.workload.model for cell in plan.cells] == ["lenet"]
    assert skip.reason == "nothing is installed in your own image; drop `packages` and have tqdm 4.66.1 in mine:1"


@pytest.mark.parametrize(
    ("packages", "said"),
    [
        ("{tqdm: soon}", "8:22: scripts.packages.tqdm: 'soon' is no version such as '1.9.1'"),
        ("{tqdm: '1', TQDM: '2'}", "8:27: scripts.packages: 'TQDM' is the same package as 'tqdm'; keep one"),
        ("[tqdm]", "8:15: scripts.packages: should be a mapping, not a list"),
    ],
)
def test_a_wrong_package_is_told(
    folder: Path, known: catalog.Catalog, models: Models, packages: str, said: str
) -> None:
    with pytest.raises(InputError) as caught:
        load(folder, known, models, FILE.replace("{Tqdm: 4.66.1}", packages))

    assert list(caught.value.messages) == [f"{folder}/m.yaml:{said}"]
