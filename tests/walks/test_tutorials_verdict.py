"""The tutorial up to its verdict, with releases that install in no time: the slow tests measure the real ones."""

from pathlib import Path

import pytest

from orchestrator.resources import ROOT
from tests.tutorials import check_verdicts
from tests.walks import stand_ins as s
from tests.walks.place import Place, Walk

PRINTED = "verdict.txt"
WALK = Walk(
    s.several(s.of_page("tutorial/first-verdict.md", 0, "first.yaml"), s.small("first.yaml")),
    instead={"--repeats 6": f"--repeats 6 --extra-repeats 0 > {PRINTED}"},
    sections=("What to compare", "Is the next release safe?"),
)


@pytest.fixture
def printed(shared: Path, tmp_path: Path) -> str:
    """The output of the last command of the page."""
    folder = tmp_path / "folder"
    folder.mkdir()
    Place(folder, shared / "wheels", shared / "cache").walk(ROOT / "docs" / "tutorial" / "first-verdict.md", WALK)
    return (folder / PRINTED).read_text(encoding="utf-8")


def test_tutorial_ends_at_a_table_of_verdicts(printed: str) -> None:
    """A step of the candidate sleeps two thirds as long."""
    assert check_verdicts(printed) == "faster"
