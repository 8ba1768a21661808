from dataclasses import replace
from pathlib import Path

import pytest

from orchestrator.errors import InputError
from orchestrator.matrix import Matrix
from orchestrator.workflows.host.host import Host
from orchestrator.workflows.inputs.data import DATA_VARIABLE, to_carry
from orchestrator.workflows.inputs.planned_matrix import MatrixOptions, plan_matrix

HERE = Host({})


@pytest.fixture
def matrix(tmp_path: Path) -> Matrix:
    (tmp_path / "matrix.yaml").write_text("{version: 1, name: m, frameworks: [noop==1], models: [mlp]}")
    return plan_matrix(MatrixOptions(file=tmp_path / "matrix.yaml"), HERE).matrix


def refusal(matrix: Matrix, *asked: str) -> str:
    with pytest.raises(InputError) as refused:
        to_carry(asked, matrix, HERE)
    return str(refused.value)


def test_dataset_is_named_by_folder(matrix: Matrix, tmp_path: Path) -> None:
    """A dataset is named with its folder or by a folder of its name."""
    (tmp_path / "cats").mkdir()

    assert to_carry([f"pets={tmp_path / 'cats'}"], matrix, HERE) == (("pets", tmp_path / "cats"),)
    assert to_carry([str(tmp_path / "cats")], matrix, HERE) == (("cats", tmp_path / "cats"),)


def test_bare_name_means_the_data_folder(matrix: Matrix, tmp_path: Path) -> None:
    """A name alone is looked for in the data folder."""
    (tmp_path / "data/cats").mkdir(parents=True)
    host = Host({DATA_VARIABLE: str(tmp_path / "data")})

    assert to_carry(["cats"], matrix, host) == (("cats", tmp_path / "data/cats"),)


def test_bare_name_stays_in_matrix_folder(matrix: Matrix, tmp_path: Path) -> None:
    """A name alone does not take a dataset out of the folder of the matrix."""
    (tmp_path / "here/data").mkdir(parents=True)
    (tmp_path / "cats").mkdir()
    (tmp_path / "here/data/cats").symlink_to(tmp_path / "cats")
    inside = replace(matrix, path=str(tmp_path / "here/matrix.yaml"), data_folder=str(tmp_path / "here/data"))

    assert "leads out of the folder of the matrix through a link" in refusal(inside, "cats")
    assert to_carry([f"cats={tmp_path / 'here/data/cats'}"], inside, HERE) == (("cats", tmp_path / "here/data/cats"),)


def test_published_dataset_is_compared_with_publication(matrix: Matrix, tmp_path: Path) -> None:
    """A published dataset is compared with what was published."""
    (tmp_path / "mnist").mkdir()
    (tmp_path / "mnist/train-images-idx3-ubyte").write_bytes(b"no images")

    assert "is not there" in refusal(matrix, f"mnist={tmp_path / 'mnist'}")


def test_every_mistake_is_told(matrix: Matrix, tmp_path: Path) -> None:
    (tmp_path / "cats").mkdir()
    cats = f"cats={tmp_path / 'cats'}"

    lines = refusal(matrix, cats, cats, f"../x={tmp_path}", f"dogs={tmp_path / 'nowhere'}").splitlines()

    assert [line.partition(": ")[2].partition(";")[0] for line in lines] == [
        "'cats' is named twice",
        "'../x' is no name of a dataset",
        f"{tmp_path / 'nowhere'}: no such folder",
    ]
