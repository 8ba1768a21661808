"""Files that a matrix names: what reads as if it lay in its folder does lie there."""

from pathlib import Path

import pytest

from orchestrator import catalog, matrix
from orchestrator.errors import InputError

FIXTURES = Path(__file__).parent.parent / "catalog" / "fixtures"
TEXT = "version: 1\nframeworks: [{frameworks}]\nmodels: [lenet]\nbuild: {{{build}}}\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a matrix to come, beside things that are not in it."""
    for name in ("outside/wheels", "here/wheels"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "file").write_text("FROM x")
    (tmp_path / "here" / "link").symlink_to(tmp_path / "outside")
    (tmp_path / "here" / "inner").symlink_to("wheels")
    return tmp_path / "here"


def mistakes(folder: Path, frameworks: str = "noop==1", build: str = "") -> list[str]:
    path = folder / "matrix.yaml"
    path.write_text(TEXT.format(frameworks=frameworks, build=build))
    try:
        matrix.load(path, catalog.load(FIXTURES / "catalog"), catalog.load_models(FIXTURES / "models"))
    except InputError as error:
        return list(error.messages)
    return []


@pytest.mark.parametrize(
    ("frameworks", "build"),
    [
        ("{name: noop, version: '1', dockerfile: link/wheels/file}", ""),
        ("noop==1", "ca_bundle: link/wheels/file"),
        ("noop==1", "find_links: [link/wheels]"),
        ("noop==1", "find_links: wheels/../link/wheels"),
    ],
)
def test_paths_that_seem_inside_must_be_inside(folder: Path, frameworks: str, build: str) -> None:
    """A path that reads as if it lay in the folder of the matrix must lie there."""
    (mistake,) = mistakes(folder, frameworks, build)

    assert "leads out of the folder of the matrix through a link; write where it is: '" in mistake
    assert str(folder.parent / "outside/wheels") in mistake


@pytest.mark.parametrize("where", ["wheels", "inner", "./wheels", "../outside/wheels", "ABSOLUTE", "wheels/../inner"])
def test_paths_inside_or_openly_outside_are_taken(folder: Path, where: str) -> None:
    """A path that lies in the folder of the matrix, or says openly that it does not, is taken."""
    named = where.replace("ABSOLUTE", str(folder.parent / "outside/wheels"))

    assert mistakes(folder, build=f"find_links: [{named}]") == []
    assert mistakes(folder, f"{{name: noop, version: '1', dockerfile: {named}/file}}") == []


@pytest.mark.parametrize("where", ["../outside/wheels", "inner/../../outside/wheels"])
def test_the_matrix_path_may_be_relative(folder: Path, monkeypatch: pytest.MonkeyPatch, where: str) -> None:
    """The rules for paths hold as well if the path of the matrix is itself relative."""
    monkeypatch.chdir(folder.parent)
    relative = Path(folder.name)

    assert mistakes(relative, f"{{name: noop, version: '1', dockerfile: {where}/file}}") == []
    assert mistakes(relative, build=f"find_links: [{where}], ca_bundle: {where}/file") == []
    (mistake,) = mistakes(relative, build="find_links: [link/wheels]")
    assert "through a link" in mistake


def test_wheels_must_lie_in_the_matrix_folder_too(folder: Path) -> None:
    """A wheel in a folder of the matrix must lie there too, and not lead out through a link."""
    (folder / "wheels" / "thing-1.0.tar.gz").symlink_to(folder.parent / "outside/wheels/file")
    (folder / "wheels" / "notes.txt").symlink_to(folder.parent / "outside/wheels/file")

    (mistake,) = mistakes(folder, build="find_links: [wheels]")

    assert "build.find_links: 'wheels/thing-1.0.tar.gz' leads out of the folder of the matrix" in mistake
    assert mistakes(folder, build=f"find_links: [{folder.parent / 'outside/wheels'}]") == []


def test_the_matrix_folder_may_be_a_link(folder: Path, tmp_path: Path) -> None:
    """A folder of the matrix that is itself reached through a link makes no difference."""
    (tmp_path / "by-link").symlink_to(folder)

    assert mistakes(tmp_path / "by-link", build="find_links: [wheels]") == []
