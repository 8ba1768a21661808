"""Two releases of a package, each in the environments of the matrix that hold it."""

from collections.abc import Callable
from pathlib import Path

import pytest

from orchestrator.errors import InputError
from orchestrator.regression.package_sides import side_label
from orchestrator.regression.pairing import Pairing, Selection

Pair = Callable[..., Pairing]

SCRIPTS = """scripts:
  - {name: bert, file: bert.py, packages: {transformers: 4.40.0}, metrics: {ms: {pattern: x, unit: ms, better: lower}}}
  - {name: plain, file: bert.py, metrics: {ms: {pattern: x, unit: ms, better: lower}}}
"""


@pytest.fixture
def script(tmp_path: Path) -> None:
    (tmp_path / "bert.py").write_text("print('x')")


def ids(pairing: Pairing) -> list[tuple[str, str, str]]:
    return [(each.id, each.baseline, each.candidate) for each in pairing.pairs]


def test_frameworks_stay_and_the_package_differs(pair: Pair) -> None:
    """Each cell is paired with itself, and the catalog's own requirement makes a package one of the environment."""
    pairing = pair("numpy==1.22.4", "numpy==1.23.5")

    assert ids(pairing) == [
        (
            "cpu/lenet-train-b200",
            "mxnet-1.9.1-numpy=1.22.4-cpu/lenet-train-b200",
            "mxnet-1.9.1-numpy=1.23.5-cpu/lenet-train-b200",
        )
    ]
    assert {cell.framework.python for cell in pairing.plan.cells} == {"3.11"}
    pins = [[line for line in image.environment.requirements if "numpy" in line] for image in pairing.plan.images]
    assert pins == [["numpy>=1.22.4,<=1.22.4.post9999"], ["numpy>=1.23.5,<=1.23.5.post9999"]]
    assert side_label(pairing.baseline, pairing.plan.cells) == "numpy 1.22.4 in mxnet 1.9.1"


def test_every_framework_that_holds_it_is_paired(pair: Pair) -> None:
    """Pairs of several frameworks have the framework in their id."""
    pairing = pair("numpy==1.22.4", "numpy==1.23.5", "frameworks: [mxnet==1.9.1, torch==2.13.0]")

    assert [each.id for each in pairing.pairs] == [
        "mxnet-1.9.1-cpu/lenet-train-b200",
        "torch-2.13.0-cpu/lenet-train-b200",
    ]
    assert side_label(pairing.candidate, pairing.plan.cells) == "numpy 1.23.5 in mxnet 1.9.1 and torch 2.13.0"


def test_releases_of_one_framework_are_apart(pair: Pair) -> None:
    """Cells of two releases that differ in nothing else are two pairs."""
    pairing = pair("numpy==1.22.4", "numpy==1.23.5", "frameworks: [mxnet==1.8.0, mxnet==1.9.1]")

    assert [each.id for each in pairing.pairs] == [
        "mxnet-1.8.0-cpu/lenet-train-b200",
        "mxnet-1.9.1-cpu/lenet-train-b200",
    ]
    assert all(each.baseline.split("-numpy")[0] == each.candidate.split("-numpy")[0] for each in pairing.pairs)


def test_a_package_takes_the_place_of_the_entry_s_own(pair: Pair) -> None:
    """A version that the matrix pins gives way, and another package of the entry stays an axis."""
    entry = "frameworks: [{name: mxnet, version: 1.9.1, packages: {numpy: 1.21.0, scipy: ['1.7', '1.8']}}]"
    pairing = pair("numpy==1.22.4", "numpy==1.22.4", entry)

    assert [each.id for each in pairing.pairs] == [
        "cpu-scipy=1.7/lenet-train-b200",
        "cpu-scipy=1.8/lenet-train-b200",
    ]
    assert {dict(cell.framework.packages)["numpy"] for cell in pairing.plan.cells} == {"1.22.4"}


@pytest.mark.usefixtures("script")
def test_a_package_of_a_script_is_paired_in_the_script_alone(pair: Pair) -> None:
    """A model and a script without the package are not measured."""
    pairing = pair("transformers==4.40.0", "transformers==4.45.0", SCRIPTS)

    assert ids(pairing) == [
        (
            "cpu/bert-script",
            "mxnet-1.9.1-transformers=4.40.0-cpu/bert-script",
            "mxnet-1.9.1-transformers=4.45.0-cpu/bert-script",
        )
    ]


@pytest.mark.usefixtures("script")
def test_a_package_of_the_framework_is_paired_in_scripts_too(pair: Pair) -> None:
    """A script keeps its further packages, which the id of its pair names next to a model without them."""
    pairing = pair("numpy==1.22.4", "numpy==1.23.5", SCRIPTS)

    assert [each.id for each in pairing.pairs] == [
        "cpu/lenet-train-b200",
        "cpu/plain-script",
        "cpu-transformers=4.40.0/bert-script",
    ]


@pytest.mark.usefixtures("script")
def test_releases_of_a_framework_leave_scripts_out(pair: Pair) -> None:
    assert [each.id for each in pair("mxnet==1.5.1", "mxnet==1.9.1", SCRIPTS).pairs] == ["cpu/lenet-train-b200"]


def test_two_names_are_refused(pair: Pair) -> None:
    """A package cannot be compared with another one, and not with a framework."""
    for other in ("scipy==1.8", "mxnet==1.9.1"):
        with pytest.raises(InputError, match="are not releases of one package: name the same one on both sides"):
            pair("numpy==1.22.4", other, "frameworks: [{name: mxnet, version: 1.9.1, packages: {scipy: '1.7'}}]")


def test_what_a_framework_is_installed_from_is_no_package(pair: Pair) -> None:
    """The distribution of a framework is not a package in it, and an image of one's own names none."""
    with pytest.raises(InputError, match="unknown framework 'tensorflow-cpu', and the matrix names no such package"):
        pair("tensorflow-cpu==2.1", "tensorflow-cpu==2.2")
    with pytest.raises(InputError, match="unknown framework 'numpy'"):
        pair("numpy==1.22.4", "numpy==1.23.5", "frameworks: [{name: mxnet, version: own, image: some}]")


def test_globs_select_pairs_of_packages(pair: Pair) -> None:
    two = "frameworks: [mxnet==1.9.1, torch==2.13.0]"
    pairing = pair("numpy==1.22.4", "numpy==1.23.5", two, Selection(("torch-*",)))

    assert [each.id for each in pairing.pairs] == ["torch-2.13.0-cpu/lenet-train-b200"]
