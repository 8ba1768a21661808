"""Datasets from a folder of the user's own through the whole program, on the interpreter at hand, as documented."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.datasets_in_original_formats import IDX, drawn, write_idx
from tests.documented import blocks

MATRIX, OWN = blocks("datasets.md", "From a folder of yours", "yaml")
NOOP = OWN.replace("[mxnet==1.9.1, torch==2.13.0]", "[noop==1]")
RUN = ("run", "--runtime", "host", "--idle-wait", "0", "--extra-repeats", "0")
Program = Callable[..., tuple[int, str, str]]


@pytest.fixture
def program(tmp_path: Path, command: Program) -> Program:
    """Run a command in a folder that holds what the page describes, with `noop` in place of its frameworks."""
    image = (1, 16, 16)
    write_idx(tmp_path / "data" / "signs", drawn(600, image, 5, 1), drawn(100, image, 5, 2), packed=True)
    (tmp_path / "matrix.yaml").write_text(NOOP)
    return command


def test_own_datasets_are_measured_and_their_digest_recorded(program: Program, tmp_path: Path) -> None:
    """A dataset of one's own is measured, and its digest is recorded."""
    code, _, errors = program(*RUN)

    assert code == 0, errors
    (run,) = (tmp_path / "results").iterdir()
    (folder,) = run.glob("noop-1-cpu/lenet-train-b50-dataset=signs/0")
    request, result = (json.loads((folder / name).read_text()) for name in ("request.json", "result.json"))
    assert list(request["data"]["files"]) == list(IDX)
    assert request["data"]["folder"] == str(tmp_path / "data" / "signs")
    facts = result["facts"]["data"]
    assert (facts["name"], facts["training"], facts["testing"], len(facts["sha256"])) == ("signs", 600, 100, 64)
    assert facts["samples"] == 600 * 2, "two epochs of the order"


def test_a_resumed_run_needs_the_same_data(program: Program, tmp_path: Path) -> None:
    """A resumed run goes on with the same data, or not at all."""
    assert program(*RUN)[0] == 0
    (outcome,) = (tmp_path / "results").glob("*/noop-1-cpu/*/0/outcome.json")
    outcome.unlink()
    write_idx(tmp_path / "data" / "signs", drawn(600, (1, 16, 16), 5, 9), drawn(100, (1, 16, 16), 5, 2), packed=True)

    code, _, errors = program("run", "--resume", "latest", "--idle-wait", "0")

    assert code == 2
    assert f"{IDX[0]}.gz: is another file: its SHA256 is " in errors
    assert not outcome.exists()
    write_idx(tmp_path / "data" / "signs", drawn(600, (1, 16, 16), 5, 1), drawn(100, (1, 16, 16), 5, 2), packed=False)
    for packed in (tmp_path / "data" / "signs").glob("*.gz"):
        packed.unlink()
    assert program("run", "--resume", "latest", "--idle-wait", "0")[0] == 0, "the same bytes, no longer packed"
    assert outcome.exists()


def test_missing_published_data_stops_a_run_early(
    program: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Published data that is not there stops a run before anything is made."""
    text = MATRIX.replace("[mxnet==1.9.1, torch==2.13.0]", "[noop==1]")
    (tmp_path / "matrix.yaml").write_text(text)

    assert program("plan")[0] == 0, "a plan asks nothing of this host"
    code, out, errors = program(*RUN)
    assert (code, out) == (2, "")
    for_mnist, for_cifar = errors.splitlines()
    assert for_mnist == (
        f"{tmp_path}/data/mnist: no such folder; it should hold the files of mnist: "
        "get it from https://ossci-datasets.s3.amazonaws.com/mnist/"
    )
    assert for_cifar.startswith(f"{tmp_path}/data/cifar10: no such folder")
    assert not (tmp_path / "results").exists()

    (tmp_path / "matrix.yaml").write_text(text.replace("data_folder: data\n", ""))
    code, _, errors = program(*RUN)
    assert code == 2
    assert "no folder holds the files of mnist, cifar10: give --data DIR, data_folder in the matrix, or" in errors
    monkeypatch.setenv("ORCHESTRATOR_DATA", "elsewhere")
    assert program(*RUN)[2].startswith("elsewhere/mnist: no such folder")
    assert program(*RUN, "--data", "here")[2].startswith("here/mnist: no such folder")
    assert not (tmp_path / "results").exists()


def test_files_that_are_not_mnist_are_no_mnist(program: Program, tmp_path: Path) -> None:
    image = (1, 28, 28)
    write_idx(tmp_path / "data" / "mnist", drawn(60, image, 10, 1), drawn(20, image, 10, 2), packed=True)
    (tmp_path / "matrix.yaml").write_text(
        "version: 1\nframeworks: [noop==1]\nmodels: [{name: lenet, dataset: mnist}]\n"
    )

    code, _, errors = program(*RUN, "--data", "data")

    assert code == 2
    assert errors.count("is another file") == 4


def test_a_dataset_linked_from_outside_needs_data_option(
    program: Program, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """A dataset that a link takes out of the matrix's folder is refused, unless --data allows it."""
    elsewhere = (tmp_path / "data" / "signs").rename(tmp_path_factory.mktemp("elsewhere") / "signs")
    (tmp_path / "data" / "signs").symlink_to(elsewhere)

    code, _, errors = program(*RUN)

    why = f"leads out of the folder of the matrix through a link, to {elsewhere}; allow it by --data"
    assert (code, errors) == (2, f"{tmp_path}/data/signs: {why}\n")
    assert program(*RUN, "--data", "data")[0] == 0


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("format: idx", "format: png"), "datasets.signs.format"),
        (("image: [1, 16, 16], ", ""), "datasets.signs: a dataset has either an image"),
        (("image:", "inputs: {story: {length: 5, vocabulary: 9}}, image:"), "datasets.signs: a dataset has either"),
        (("image: [1, 16, 16]", "inputs: {Story: {length: 5, vocabulary: 9}}"), "datasets.signs.inputs: 'Story'"),
        (("image: [1, 16, 16]", "inputs: {story: {length: 5, vocabulary: 1}}"), "inputs.story.vocabulary"),
        (
            ("idx, image: [1, 16, 16]", "cifar-binary, inputs: {a: {length: 5, vocabulary: 9}}"),
            "inputs need format: idx",
        ),
        (
            ("idx, image: [1, 16, 16], classes: 5", "cifar-binary, image: [1, 16, 16], classes: 300"),
            "256 classes at most",
        ),
        (("signs:", "mnist:"), "datasets: a dataset 'mnist' is there already"),
        (("dataset: signs", "dataset: sings"), "unknown dataset 'sings'; did you mean 'signs'?"),
        (("training: 600", "training: 0"), "datasets.signs.training"),
    ],
)
def test_a_mistake_in_a_description_has_its_place(
    program: Program, tmp_path: Path, change: tuple[str, str], said: str
) -> None:
    """A mistake in the description of a dataset is reported with its place."""
    (tmp_path / "matrix.yaml").write_text(NOOP.replace(*change))

    code, _, errors = program("plan")

    assert code == 2
    assert said in errors


def test_the_long_form_keeps_its_data(program: Program, tmp_path: Path) -> None:
    """The long form of a matrix keeps its data."""
    _, long, _ = program("plan", "--long")
    (tmp_path / "long").mkdir()
    (tmp_path / "long" / "matrix.yaml").write_text(long)

    assert program("plan", "-f", "long/matrix.yaml", "--json")[1] == program("plan", "--json")[1]
    assert program(*RUN, "-f", "long/matrix.yaml")[0] == 0
