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
def test_a_path_that_reads_as_if_it_lay_in_the_folder_must_lie_there(folder: Path, frameworks: str, build: str) -> None:
    (mistake,) = mistakes(folder, frameworks, build)

    assert "leads out of the folder of the matrix through a link; write where it is: '" in mistake
    assert str(folder.parent / "outside/wheels") in mistake


@pytest.mark.parametrize("where", ["wheels", "inner", "./wheels", "../outside/wheels", "ABSOLUTE", "wheels/../inner"])
def test_a_path_that_lies_in_the_folder_or_says_that_it_does_not_is_taken(folder: Path, where: str) -> None:

    named = where.replace("ABSOLUTE", str(folder.parent / "outside/wheels"))

    assert mistakes(folder, build=f"find_links: [{named}]") == []
    assert mistakes(folder, f"{{name: noop, version: '1', dockerfile: {named}/file}}") == []


@pytest.mark.parametrize("where", ["../outside/wheels", "inner/../../outside/wheels"])
def test_the_path_of_the_matrix_may_be_relative_itself(
    folder: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    monkeypatch.chdir(folder.parent)
    relative = Path(folder.name)

    assert mistakes(relative, f"{{name: noop, version: '1', dockerfile: {where}/file}}") == []
    assert mistakes(relative, build=f"find_links: [{where}], ca_bundle: {where}/file") == []
    (mistake,) = mistakes(relative, build="find_links: [link/wheels]")
    assert "through a link" in mistake


def test_a_wheel_in_a_folder_of_the_matrix_must_lie_there_too(folder: Path) -> None:
    (folder / "wheels" / "thing-1.0.tar.gz").symlink_to(folder.parent / "outside/wheels/file")
    (folder / "wheels" / "notes.txt").symlink_to(folder.parent / "outside/wheels/file")

    (mistake,) = mistakes(folder, build="find_links: [wheels]")

    assert "build.find_links: 'wheels/thing-1.0.tar.gz' leads out of the folder of the matrix" in mistake
    assert mistakes(folder, build=f"find_links: [{folder.parent / 'outside/wheels'}]") == []


def test_a_folder_that_is_reached_through_a_link_itself_is_no_matter(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "by-link").symlink_to(folder)

    assert mistakes(tmp_path / "by-link", build="find_links: [wheels]") == []
