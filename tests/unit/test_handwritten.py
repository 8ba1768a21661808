"""The hand-written loops that runs are held against: the same data, and the same number of steps and blocks."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bench.handwritten import generating, learnable
from bench.networks import frameworks, on_host
from bench.networks.frameworks import BATCH, HANDWRITTEN, Pace
from benchmarks import own_models
from benchmarks.inputs import datasets
from benchmarks.workload import model_module
from orchestrator.catalog import shipped_catalog
from orchestrator.results.contract import Result

GOLDEN = Path(__file__).parents[1] / "golden/contract/result.json"
LOOPS = sorted(HANDWRITTEN.glob("*_loop.py"))


GENERATIONS = sorted(HANDWRITTEN.glob("*_generation.py"))


def synthetic(name: str) -> Any:
    """Return the data of a run of a model at the size that is its default."""
    model = model_module(name)
    return datasets.named("synthetic", model, 1, inputs=own_models.record(model).inputs)


@pytest.mark.parametrize(
    ("name", "batch"), [("lenet", BATCH), *((name, 8) for name in sorted(learnable.MODELS) if name != "lenet")]
)
def test_loops_and_runs_train_on_same_numbers(name: str, batch: int) -> None:
    own = synthetic(name)
    count = own.batch_count(batch, None)

    drawn = learnable.batches(batch, **learnable.MODELS[name])
    pairs = list(zip(drawn, own.batches(batch, count), strict=True))

    assert len(pairs) == 16
    for (inputs, labels), (expected, expected_labels) in pairs:
        assert np.array_equal(inputs, expected)
        assert np.array_equal(labels, expected_labels)
        assert (inputs.dtype, labels.dtype) == (expected.dtype, expected_labels.dtype)


@pytest.mark.parametrize("loop", LOOPS, ids=lambda path: path.stem)
def test_every_loop_takes_them(loop: Path) -> None:
    text = loop.read_text()

    assert re.search(r"in learnable\.batches\(args\.batch(, \*\*learnable\.(MODELS|SERVED)\[args\.model\])?\)", text)
    assert not re.search("rand", text)


def test_every_compared_framework_has_a_loop() -> None:
    catalog = shipped_catalog()
    builders = {catalog.environment(framework, 0).builder for framework in frameworks.FRAMEWORKS.values()}

    assert {path.stem for path in LOOPS} == {f"{frameworks.LOOPS.get(each, each)}_loop" for each in builders}


def test_generations_begin_with_same_prompts() -> None:
    own = synthetic("decoder").batches(8, 16)

    for prompts, (inputs, _) in zip(generating.prompts(8, 32), own, strict=True):
        assert np.array_equal(prompts, inputs[:, :32])


def test_generations_are_of_the_same_decoder() -> None:
    sizes = model_module("decoder").SIZES["tiny"]
    (wide,) = {layer.settings["units"] for layer in _layers() if layer.kind == "dense"} - {
        sizes["width"],
        sizes["vocabulary"],
    }

    shape = (generating.WIDTH, generating.DEPTH, generating.HEADS, generating.SHARED_HEADS)
    assert shape == (sizes["width"], sizes["depth"], sizes["heads"], sizes["shared_heads"])
    assert (sizes["sequence"], sizes["vocabulary"]) == (generating.SEQUENCE, generating.VOCABULARY)
    assert wide == generating.INNER


def _layers() -> Any:
    return own_models.record(model_module("decoder")).layers


@pytest.mark.parametrize("script", GENERATIONS, ids=lambda path: path.stem)
def test_every_generation_takes_the_prompts(script: Path) -> None:
    assert "generating.prompts(args.batch, args.prompt)" in script.read_text()


def test_every_row_of_attention_has_a_script() -> None:
    scripts = {path.stem for path in (*LOOPS, *GENERATIONS)}

    assert {f"{name.partition('-')[0]}_{work.script}" for name, work in frameworks.ATTENDING.items()} <= scripts


def test_bars_and_options_are_those_of_rows() -> None:
    assert {*frameworks.BARS, *frameworks.OPTIONS} <= {*frameworks.FRAMEWORKS}


def test_loops_on_the_host_know_every_model() -> None:
    assert {*on_host.BATCHES} == {*learnable.MODELS, *on_host.GENERATES}
    assert {*on_host.FRAMEWORKS} <= {*frameworks.OPTIONS}


def test_loop_gets_the_pace_of_a_repeat() -> None:
    result = Result.model_validate_json(GOLDEN.read_bytes())
    block = result.blocks[0]
    changes = {
        "first_step": block.model_copy(update={"steps": 1}),
        "warmup": (block.model_copy(update={"steps": 20}), block.model_copy(update={"steps": 7})),
        "blocks": (block.model_copy(update={"steps": 42}),) * 10,
    }

    pace = Pace.of(result.model_copy(update=changes))

    assert pace == Pace(warmup=28, blocks=10, every=42)
    assert pace.arguments == ["--warmup=28", "--steps=420", "--every=42"]
