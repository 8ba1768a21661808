"""`export`, as far as it goes without an engine: what it would replace is looked at before anything is built."""

from pathlib import Path

import pytest

from tests.unit.cli.conftest import Program


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a matrix, on a host without an engine."""
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/no.sock")
    (tmp_path / "air.yaml").write_text("version: 1\nname: air\nframeworks: [noop==1]\nmodels: [mlp]\n")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("years of work")
    (tmp_path / "new.tar").write_text("years of work")
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("-o", "mine"), "mine: holds something else than a bundle; choose another -o\n"),
        (("-o", "new", "--tar"), "new.tar: is there already, and no bundle; move it elsewhere, or choose another -o\n"),
    ],
)
def test_a_foreign_target_is_refused_before_the_engine(
    command: Program, place: Path, arguments: tuple[str, ...], said: str
) -> None:
    """A target that is no bundle is refused before an engine is asked."""
    code, _, errors = command("export", "--offline", "-f", "air.yaml", *arguments)

    assert (code, errors) == (2, said)
    assert (place / "mine" / "thesis.tex").read_text() == (place / "new.tar").read_text() == "years of work"


def test_a_new_folder_needs_the_engine(command: Program) -> None:
    assert command("export", "--offline", "-f", "air.yaml", "-o", "new")[0] == 3


def test_documentation_has_to_be_built_first(command: Program, place: Path) -> None:
    code, _, errors = command("export", "--offline", "-f", "air.yaml", "-o", "new", "--docs", "mine")

    assert code == 2
    assert errors == "--docs mine: holds no index.html; `make docs` builds the documentation in build/site\n"
