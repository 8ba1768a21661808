"""The one reader of what repeats and parity checks left on disk."""

import json
from pathlib import Path

import pytest

from orchestrator.domain import Status
from orchestrator.planning import check_id
from orchestrator.results.contract import Block
from orchestrator.results.evidence import read_check, read_repeats
from orchestrator.results.parity.checks import Checks
from orchestrator.results.store import Run
from orchestrator.results.throughput import throughput
from tests.unit.regression.stored_runs.measured_runs import OLD, Made, stored
from tests.unit.reporting import synthetic

MADE = Made(OLD, (100.0, 110.0, 120.0), loss=2.0)


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Three repeats of one cell that are `ok`, and its parity check."""
    return stored(tmp_path, 1, MADE)


def test_repeats_are_read_with_their_results(run: Run) -> None:
    repeats = list(read_repeats(run, MADE.cell.id, range(4)))

    assert [each.outcome.repeat for each in repeats] == [0, 1, 2]
    assert [throughput(each.result, epochs=False) for each in repeats if each.result] == pytest.approx(MADE.rates)


def test_a_rotted_result_is_an_invalid_result(run: Run) -> None:
    (run.repeat_folder(MADE.cell.id, 1) / "result.json").write_text("{")
    before, rotted, after = read_repeats(run, MADE.cell.id, range(3))

    assert (rotted.outcome.status, rotted.result) == (Status.INVALID_RESULT, None)
    assert rotted.outcome.reason.startswith("result.json")
    assert before.result is not None
    assert after.result is not None


def test_a_rotted_answer_is_an_invalid_result(run: Run) -> None:
    check = check_id(MADE.cell)
    sound = read_check(run, check)
    path = Checks(run).folder(check) / "result.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"losses": "none"}))
    rotted = read_check(run, check)

    assert sound.result is not None
    assert (sound.rot, rotted.result) == ("", None)
    assert rotted.outcome is not None
    assert (rotted.outcome.status, rotted.outcome.reason) == (Status.INVALID_RESULT, rotted.rot)
    assert read_check(run, "another").outcome is None


@pytest.mark.parametrize(
    ("wall_s", "epochs", "expected"),
    [
        ((1.0, 0.1, 0.5), False, 20.0),
        ((10.0, 1.0, 0.5), True, 15.0),
        ((10.0, 1.0), True, 10.0),
        ((10.0,), True, 1.0),
    ],
)
def test_throughput_is_the_median_of_steady_blocks(wall_s: tuple[float, ...], epochs: bool, expected: float) -> None:
    """The first of several epochs does not count."""
    blocks = tuple(Block(steps=1, samples=10, wall_s=each, cpu_s=0.0) for each in wall_s)
    result = synthetic.result(synthetic.cell(OLD), 0, 1000).model_copy(update={"blocks": blocks})

    assert throughput(result, epochs=epochs) == pytest.approx(expected)
