"""The lengths of generations in a matrix: ids, skips, rules, mistakes, and what a container is asked."""

import json
from dataclasses import replace
from typing import Any

import pytest

from orchestrator.devices import Allocation
from orchestrator.domain import Cell
from orchestrator.matrix import load as load_matrix
from orchestrator.matrix.long_form import long_form
from orchestrator.modes.parts.lengths import Generation
from orchestrator.planning.cost.durations import Assumed, Durations, Earlier
from orchestrator.planning.parity import check_id, checks
from orchestrator.reporting.findings.certainty.shortened import shortened_lines
from orchestrator.reporting.findings.model import CellReport
from orchestrator.results.contract import Request
from orchestrator.results.records import plan_from_json, plan_to_json
from orchestrator.running.requests import request_for

MODE = "modes: generate\n"
CELL = "mxnet-1.9.1-cpu/decoder-generate-b1-size=tiny"
ONE = MODE + "models: [{name: decoder, batch_size: 1}]"


def asked(cell: Cell) -> Request:
    return request_for(cell, 0, "mxnet", 0, Allocation((0,), ()), pinned=True)


def test_lengths_are_axes(plan: Any) -> None:
    planned = plan(MODE + "models: [{name: decoder, batch_size: 1, prompt_length: [8, 32], output_length: [32, 4]}]")

    assert plan.ids(planned) == [
        f"{CELL}-prompt_length=8",
        f"{CELL}-prompt_length=8-output_length=4",
        CELL,
        f"{CELL}-output_length=4",
    ]


def test_request_asks_for_the_lengths(plan: Any) -> None:
    (cell,) = plan(MODE + "models: [{name: decoder, batch_size: 4, prompt_length: 16}]").cells
    request = asked(cell)

    assert request.generation == Generation(16, 32)
    assert (request.steps, request.epochs, request.latency_steps) == (50, None, 0)
    assert json.loads(request.model_dump_json())["generation"] == {"prompt": 16, "output": 32}
    assert cell.samples_of_a_step == 4 * 32


def test_epochs_are_those_of_training(plan: Any) -> None:
    train, generate = plan("modes: [train, generate]\nepochs: 2\nmodels: [decoder]").cells

    assert (train.duration.epochs, train.duration.steps) == (2, None)
    assert (generate.duration.epochs, generate.duration.steps) == (None, 50)


def test_other_modes_have_no_lengths(plan: Any) -> None:
    (cell,) = plan("modes: infer\nmodels: [decoder]").cells

    assert cell.workload.generation is None
    assert "generation" not in json.loads(asked(cell).model_dump_json())
    assert "generation" not in plan_to_json(plan("models: [lenet]"))["cells"][0]["workload"]


def test_model_that_cannot_generate_is_a_skip(plan: Any) -> None:
    """Other models of the matrix go on, and other modes of the model."""
    planned = plan("modes: [infer, generate]\nmodels: [lenet, encoder, decoder]")

    assert plan.skips(planned) == {
        "mxnet-1.9.1-cpu/lenet-generate-b200": "lenet cannot generate: it does not take tokens, through one embedding "
        "of one input",
        "mxnet-1.9.1-cpu/encoder-generate-b8-size=tiny": "encoder cannot generate: attention_1 sees what comes after a "
        "step",
    }
    assert len(planned.cells) == 4


@pytest.mark.parametrize(
    ("keys", "why"),
    [
        ("prompt_length: 60", "a prompt of 60 tokens and 32 tokens after it are more than the 64 steps of the model"),
        ("sequence: 40", "a prompt of 32 tokens and 32 tokens after it are more than the 40 steps of the model"),
        ("feed: fed", "the mode generate takes placed prompts alone, and not the feed fed"),
        ("batch_size: max", "the largest batch is that of a step"),
    ],
)
def test_what_cannot_be_done_is_a_skip(plan: Any, keys: str, why: str) -> None:
    planned = plan(f"modes: [infer, generate]\nmodels: [{{name: decoder, {keys}}}, lenet]")

    assert any(why in reason for reason in plan.skips(planned).values()), plan.skips(planned)
    assert not [cell for cell in planned.cells if cell.workload.generation]


def test_nothing_but_a_wrong_model_is_one_mistake(plan: Any) -> None:
    refusal = plan.refusal(MODE + "models: [lenet]")

    assert len(refusal.splitlines()) == 1
    assert "all 1 cells are left out: lenet cannot generate: it does not take tokens" in refusal


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("models: [{name: decoder, prompt_length: 5}]", "belongs to the modes generate and requests; add one of them"),
        (MODE + "models: [{name: lenet, output_length: 5}]", "lenet cannot generate: it does not take tokens"),
        (MODE + "models: [{name: decoder, output_length: 0}]", "output_length: should be at least 1, not 0"),
        (MODE + "models: [{name: decoder, prompt_length: 1000000}]", "prompt_length: should be at most 131072"),
        (MODE + "models: [{name: decoder, prompt_lenght: 5}]", "did you mean 'prompt_length'?"),
    ],
)
def test_mistake_is_one_line_with_its_place(plan: Any, text: str, said: str) -> None:
    refusal = plan.refusal(text)

    assert len(refusal.splitlines()) == 1
    assert refusal.startswith("m.yaml:")
    assert said in refusal


def test_rules_name_lengths(plan: Any) -> None:
    planned = plan(
        MODE + "models: [{name: decoder, batch_size: 1, prompt_length: [8, 16], output_length: [4, 8]}]\n"
        "exclude: [{prompt_length: 16, output_length: 8}]\n"
        "include: [{prompt_length: 8, repeats: 7},"
        " {framework: mxnet==1.9.1, system: cpu, model: decoder, output_length: 2}]"
    )

    repeats = {cell.id.removeprefix(CELL): cell.repeats for cell in planned.cells}
    assert repeats == {
        "-prompt_length=8-output_length=4": 7,
        "-prompt_length=8-output_length=8": 7,
        "-prompt_length=16-output_length=4": 3,
        "-prompt_length=8-output_length=2": 7,
        "-prompt_length=16-output_length=2": 3,
    }


def test_plan_is_read_back_with_its_lengths(plan: Any) -> None:
    planned = plan(MODE + "models: [{name: decoder, prompt_length: 16}]")

    assert plan_from_json(plan_to_json(planned)) == planned


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"generation": None}, "the mode generate needs a prompt_length and output_length"),
        ({"mode": "infer"}, "the mode infer has no prompt_length and output_length"),
        ({"prompt": 0}, "0 is no prompt_length from 1 to 131,072"),
    ],
)
def test_plan_with_wrong_lengths_is_refused(plan: Any, changes: dict[str, Any], said: str) -> None:
    document = plan_to_json(plan(ONE))
    work = document["cells"][0]["workload"]
    for key, value in changes.items():
        (work if key in {"generation", "mode"} else work["generation"])[key] = value

    with pytest.raises(Exception, match="the stored plan is not readable") as caught:
        plan_from_json(document)
    assert said in str(caught.value)


def test_long_form_holds_what_was_set(plan: Any, known: Any, models: Any) -> None:
    plan(MODE + "models: [{name: decoder, prompt_length: 16}]")
    (entry,) = long_form(load_matrix(plan.path, known, models))["models"]

    assert entry["prompt_length"] == [16]
    assert "output_length" not in entry


def test_parity_of_each_length_is_its_own(plan: Any) -> None:
    """A check of inference says nothing of tokens, and one of other lengths nothing of these."""
    planned = plan("modes: [infer, generate]\nmodels: [{name: decoder, batch_size: [1, 2], output_length: [8, 32]}]")

    found = checks(planned)
    assert [check.generation for check in found] == [None, Generation(32, 8), Generation(32, 32)]
    assert len({check_id(cell) for cell in planned.cells}) == len(found)


def test_estimate_takes_more_for_more_tokens(plan: Any, models: Any) -> None:
    short, long = plan(MODE + "models: [{name: decoder, batch_size: 1, output_length: [2, 32]}]").cells
    durations = Durations(models, {}, Assumed(50, 30.0), ())

    assert durations.container(short, "torch").wall_s <= durations.container(long, "torch").wall_s


def test_estimate_does_not_take_training_for_tokens(plan: Any, models: Any) -> None:
    """A token takes longer than its share of a pass over whole sequences."""
    train, generate = plan("modes: [train, generate]\nmodels: [decoder]").cells
    earlier = Earlier(train, 2.0, sample_s=1e-9, multiply_adds=models["decoder"].multiply_adds)
    measured = Earlier(replace(generate, id="x"), 2.0, sample_s=0.5, multiply_adds=models["decoder"].multiply_adds)

    guessed = Durations(models, {}, Assumed(50, 30.0), [earlier]).container(generate, "torch")
    known = Durations(models, {}, Assumed(50, 30.0), [earlier, measured]).container(generate, "torch")

    assert guessed.source == "assumed"
    assert known.source == "measured"
    assert known.wall_s > 50 * 32 * 8 * 0.5


def test_no_single_steps_are_nothing_less(plan: Any) -> None:
    """A generation has the times of its own steps, and no pass of single ones that could be shorter than usual."""
    planned = plan(ONE)
    report = CellReport(planned.cells[0], "mxnet 1.9.1", (), (), None, ())

    assert not [line for line in shortened_lines([report], planned) if "single step" in line]
