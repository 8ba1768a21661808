"""`docs/contract.md` shows where things are: whatever a run leaves behind stands in its tree."""

import re
from pathlib import Path

from orchestrator.running.attempts import set_aside
from orchestrator.workflows.inputs.stored_runs import STORED_MODELS
from tests.documented import whole
from tests.unit.cli.conftest import Program

PAGE = whole("contract.md")


def listed(indent: int) -> set[str]:
    """Names in the page's tree at a depth, without what follows them."""
    tree = PAGE.split("```")[1]
    return {name.rstrip("/").partition("/")[0] for name in re.findall(rf"^ {{{indent}}}(\S+)", tree, re.MULTILINE)}


def test_the_page_lists_everything_a_run_leaves(command: Program, tmp_path: Path) -> None:
    """Every file that a run leaves is in the tree of the page."""
    (tmp_path / "matrix.yaml").write_text("version: 1\nframeworks: [noop==1]\nmodels: [lenet]\nrepeats: 1\n")

    code, _, said = command("run", "--runtime", "host", "--idle-wait", "0", "--extra-repeats", "0")

    assert code == 0, said
    (run,) = (tmp_path / "results").iterdir()
    (repeat,) = run.glob("*/*/0")
    assert {path.name for path in run.iterdir()} - {repeat.parent.parent.name} <= listed(4)
    assert {".lock", "matrix.yaml", STORED_MODELS, "builds", "parity"} <= listed(4)
    assert {path.name for path in repeat.iterdir()} <= listed(10)
    set_aside(repeat)
    assert {path.name for path in repeat.iterdir()} == {"attempt-1"} <= listed(10)


def test_the_page_names_every_place_in_containers() -> None:
    given = PAGE.partition("## What the container is given")[2].partition("## ")[0]

    assert all(f"`{place}`" in given for place in ("/io", "/data", "/script"))
