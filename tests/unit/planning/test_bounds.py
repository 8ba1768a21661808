"""One set of bounds for plans of a matrix, of a bundle and of an earlier run."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from orchestrator.errors import InputError
from orchestrator.planning.bounds import plan as bounds
from orchestrator.results.records import plan_from_json, plan_to_json
from tests.unit.reporting import synthetic as s

Change = Callable[[dict[str, Any]], None]


def refusal(change: Change) -> list[str]:
    """Change a stored plan, and return the lines with which it is refused."""
    document = plan_to_json(s.plan([s.cell(s.TORCH), s.cell(s.MXNET)]))
    change(document)
    with pytest.raises(InputError) as caught:
        plan_from_json(json.loads(json.dumps(document)))
    return list(caught.value.messages)


def cell(**fields: Any) -> Change:
    """Change fields of the first cell; `a__b` is the field b of a."""

    def change(document: dict[str, Any]) -> None:
        for name, value in fields.items():
            *outer, last = name.split("__")
            place = document["cells"][0]
            for part in outer:
                place = place[part]
            place[last] = value

    return change


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (cell(timeout_s=1e308), "timeout_s: 1e+308 is not above 0 and at most 2592000"),
        (cell(timeout_s=-5), "timeout_s: -5 is not above 0 and at most 2592000"),
        (cell(timeout_s=0), "timeout_s: 0 is not above 0 and at most 2592000"),
        (cell(timeout_s=float("nan")), "timeout_s: nan is not above 0 and at most 2592000"),
        (cell(timeout_s=float("inf")), "timeout_s: inf is not above 0 and at most 2592000"),
        (cell(repeats=10**15), "repeats: 1,000,000,000,000,000 is not from 1 to 10,000"),
        (cell(repeats=10**4000), "repeats: a number of more than 30 digits is not from 1 to 10,000"),
        (cell(repeats=0), "repeats: 0 is not from 1 to 10,000"),
        (cell(repeats=-1), "repeats: -1 is not from 1 to 10,000"),
        (cell(workload__batch_size=0), "batch_size: 0 is not from 1 to 1,000,000,000"),
        (cell(duration__warmup_steps=-1), "warmup_steps: -1 is not from 1 to 1,000,000,000"),
        (cell(duration__steps=10**12), "steps: 1,000,000,000,000 is not from 1 to 1,000,000,000"),
        (cell(duration__epochs=2), "has steps and epochs, or neither; one of them is timed"),
        (cell(duration__steps=None), "has steps and epochs, or neither; one of them is timed"),
        (cell(system__cpus=0), "cpus: 0 is not from 1 to 4,096"),
        (cell(system__gpus=10**9), "gpus: 1,000,000,000 is not from 0 to 64"),
        (cell(system__memory_bytes=-1), "memory_bytes: -1 is not from 6,291,456 to 1,125,899,906,842,624"),
        (cell(output__size_bytes=-1), "output size_bytes: -1 is not from 33,554,432 to 1,125,899,906,842,624"),
        (cell(output__files=10**9), "output files: 1,000,000,000 is not from 16 to 10,000,000"),
        (cell(options=[["x", float("inf")]]), "options: 'x' is inf, which is no number that a framework can be given"),
    ],
)
def test_a_number_out_of_bounds_is_refused(change: Change, said: str) -> None:
    assert refusal(change) == [f"the stored plan is not readable: cell 'torch-2.13.0-cpu/lenet-train-b200': {said}"]


@pytest.mark.parametrize("seed", [-1, 2**64])
def test_a_seed_out_of_bounds_is_refused(seed: int) -> None:
    (said,) = refusal(lambda document: document.update(seed=seed))

    assert f"seed: {seed:,} is not from 0 to " in said


@pytest.mark.parametrize(
    "cell_id",
    [
        "", "report", "report/x", "report/index.html", "Report/x", "run.json/x", "scripts/x", "models/lenet.py", "x",
        "a/b/c", "a//b", "../x", "a/..", "/a/b", ".lock/x", "a/.b", "a/b\n", "a/b\0", "a/b\x1b[2J", "a\\b/c", "a/-b",
        f"a/{'b' * 241}", "ä/b",
    ],
)  # fmt: skip
def test_a_cell_id_cannot_replace_other_files(cell_id: str) -> None:
    """An id that is none, or that takes the place of other files of a run, is refused."""
    (said,) = refusal(cell(id=cell_id))

    assert said.endswith(": is no id of a cell, or takes the place of another file of a run")
    assert "\n" not in said


def test_the_longest_id_of_a_side_is_read() -> None:
    document = plan_to_json(s.plan([s.cell(s.TORCH)]))
    cell(id=f"{'m' * 200}-side=baseline/{'l' * 200}")(document)

    assert plan_from_json(document).cells[0].id.endswith("l" * 200)


def test_doubles_are_refused() -> None:
    def double(document: dict[str, Any]) -> None:
        document["cells"][1]["id"] = document["cells"][0]["id"]
        document["images"].append(document["images"][0])

    assert refusal(double) == [
        "the stored plan is not readable: image 'bench/torch:2.13.0-cpu' is there twice",
        "the stored plan is not readable: cell 'torch-2.13.0-cpu/lenet-train-b200' is there twice",
    ]


def test_all_containers_together_are_bounded() -> None:
    def many(document: dict[str, Any]) -> None:
        first = document["cells"][0]
        document["cells"] = [{**first, "id": f"a/{number}", "repeats": 10_000} for number in range(101)]

    (said,) = refusal(many)
    assert said.endswith(": all cells have 1,010,000 repeats together, more than 1,000,000; measure a part of them")


@pytest.mark.parametrize("builder", ["", "../torch", "torch.nn", "os path", "x" * 41])
def test_a_builder_that_is_no_module_is_refused(builder: str) -> None:
    def change(document: dict[str, Any]) -> None:
        document["images"][0]["environment"]["builder"] = builder

    assert "is no name of a framework builder" in refusal(change)[0]


def test_hundreds_of_mistakes_fit_a_few_lines() -> None:
    """Hundreds of mistakes of a stored plan are reported in a few lines."""

    def change(document: dict[str, Any]) -> None:
        first = document["cells"][0]
        document["cells"] = [{**first, "id": f"a/{number}", "repeats": 0} for number in range(500)]

    found = refusal(change)

    assert len(found) == 21
    assert found[-1] == "the stored plan is not readable: and 480 more such mistakes"


def test_a_plan_of_the_bounds_themselves_is_read() -> None:
    document = plan_to_json(s.plan([s.cell(s.TORCH)]))
    cell(timeout_s=30 * 86400.0, repeats=10_000, workload__batch_size=10**9, system__gpus=64)(document)

    assert list(bounds.problems(plan_from_json(document))) == []
