"""Answers of parity checks that outlive their run: taken over where the content is the same, and only there."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from running_fakes import a_cell, exiting, surroundings
from test_parity_checks import CHECK, Checking, checked, modes, outcome

from orchestrator.domain import Status
from orchestrator.results.parity.checks import Checks
from orchestrator.results.store import Run
from orchestrator.running import execute


def run(folder: Path, runtime: Checking, seed: int = 11) -> list[object]:
    around, _ = surroundings(folder / "run", runtime, None)
    plan = replace(checked(a_cell()), seed=seed)
    list(execute(plan, replace(around, answers=folder.parent / "answers")))
    return modes(runtime)


def test_later_run_reuses_an_answer(tmp_path: Path) -> None:
    """A later run takes an answer over and says so."""
    assert run(tmp_path / "one", Checking()) == ["parity", "train"]
    assert run(tmp_path / "two", Checking()) == ["train"]

    first, second = (outcome(tmp_path / name / "run") for name in ("one", "two"))
    assert (first.reused, second.reused, second.log) == (False, True, None)
    assert (second.status, second.content, second.started_at) == (Status.OK, first.content, first.started_at)
    assert Checks(Run(tmp_path / "two/run")).result(second).first_loss == 0.75
    assert (tmp_path / "two/run/parity" / CHECK / "request.json").is_file()


def test_another_seed_is_another_question(tmp_path: Path) -> None:
    run(tmp_path / "one", Checking())

    assert run(tmp_path / "two", Checking(), seed=12) == ["parity", "train"]


def test_a_check_that_failed_is_no_answer(tmp_path: Path) -> None:
    failing = Checking()
    failing.behaviours = [exiting(1)]
    run(tmp_path / "one", failing)

    assert run(tmp_path / "two", Checking()) == ["parity", "train"]


@pytest.mark.parametrize(
    "broken",
    [
        lambda folder: (folder / "outcome.json").write_text("{"),
        lambda folder: (folder / "result.json").write_text('{"schema": 1}'),
        lambda folder: (folder / "result.json").unlink(),
    ],
)
def test_broken_answer_is_asked_for_again(tmp_path: Path, broken: Callable[[Path], object]) -> None:
    run(tmp_path / "one", Checking())
    (kept,) = (tmp_path / "answers").iterdir()
    broken(kept)

    assert run(tmp_path / "two", Checking()) == ["parity", "train"]
    assert run(tmp_path / "three", Checking()) == ["train"], "the new answer is kept"
