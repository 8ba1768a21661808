"""The program as a person calls it: what is printed, and how mistakes are told."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from container_support import start
from planted_builders import session


def test_by_hand_a_readable_result_is_printed() -> None:
    ended = start("lenet", "--batch-size", "100", BENCH_BUILDER="noop")

    assert ended.returncode == 0, ended.stderr
    first, *rest = ended.stdout.splitlines()
    assert re.fullmatch(r"LeNet, train, batches of 100, noop, Python 3\.\d+\.\d+", first)
    assert [line.split()[0] for line in rest] == ["throughput", "step", "latency", "loss", "model", "start", "memory"]
    assert "60170 parameters" in ended.stdout


def test_by_hand_an_operator_is_measured() -> None:
    ended = start("gemm", "--mode", "ops", "--axis", "size=8", "--axis", "seeds=2", BENCH_BUILDER="noop")

    assert ended.returncode == 0, ended.stderr
    first, axes, latency, *_ = ended.stdout.splitlines()
    assert re.match(r"gemm, ops, noop, Python 3\.", first)
    assert axes == "axes        size 8, seeds 2, tries 5"
    assert re.fullmatch(r"latency     p50 \S+ us, p90 \S+ us, p99 \S+ us \(every call synchronised\)", latency)


def test_by_hand_json_is_alone_on_stdout(with_builder: Callable[..., Path]) -> None:
    """By hand, JSON is alone on stdout, whatever the framework prints."""
    noisy = "import os\nprint('chatter')\nos.write(1, b'from C\\n')\n" + session()

    ended = start("mlp", "--framework", "mine", "--json", "--mode", "infer", path=with_builder("mine", noisy))

    result = json.loads(ended.stdout)
    assert result["loss"] is None
    assert result["cell"] == "by-hand/mlp-infer-b32"
    assert {"chatter", "from C"} <= set(ended.stderr.split("\n"))


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            ["lenet", "--batch-size", "many"],
            "argument --batch-size: invalid int value: 'many'; --help shows what there is",
        ),
        (["lenet", "--batch-size", "0"], "bad request: 'batch_size' must be a whole number of at least 1"),
        (["lenet", "--steps", "5", "--epochs", "1"], "give either --steps or --epochs"),
        (["lenet", "--axis", "size=8"], "lenet has no axes, and 'size' is asked for"),
        (["gemm", "--mode", "ops", "--steps", "0"], "--steps does not go with --mode ops"),
        (["gemm", "--mode", "ops", "--dataset", "mnist"], "--dataset does not go with --mode ops"),
        (["gemm", "--mode", "ops", "--feed", "fed"], "--feed does not go with --mode ops"),
        (["gemm", "--mode", "ops", "--workers", "2"], "--workers does not go with --mode ops"),
        (["lenet", "--option", "fast"], "--option fast has no value; write --option fast=VALUE"),
        (["lennet"], "there is no model 'lennet' in this image"),
        ([], "name a model, such as lenet; --help shows what there is"),
    ],
)
def test_by_hand_a_mistake_is_one_sentence(arguments: list[str], sentence: str) -> None:
    ended = start(*arguments, BENCH_BUILDER="noop")

    assert (ended.returncode, ended.stderr) == (5, sentence + "\n")


def test_by_hand_an_option_is_read_literally(with_builder: Callable[..., Path]) -> None:
    """By hand, the value of an option is read as what it says."""
    path = with_builder("mine", session(start="assert workload.options == {'fast': False}"))

    assert start("lenet", "--framework", "mine", "--option", "fast=false", path=path).returncode == 0


def test_epochs_by_hand_replace_steps() -> None:
    ended = start("lenet", "--framework", "noop", "--epochs", "2", "--json")

    assert [block["steps"] for block in json.loads(ended.stdout)["blocks"]] == [240, 240]
