# ruff: noqa: E501 — each message stands on one line, as it is printed
"""Literals of a model's file that make its measurement shorter."""

from pathlib import Path

import pytest

from orchestrator import catalog
from orchestrator.modes.parts.settings import Shortening
from tests.documented import blocks

(GOOD,) = blocks("models.md", "A model of your own", "python")


def read(folder: Path, literals: str) -> tuple[dict[str, catalog.ModelInfo], list[str]]:
    (folder / "wide.py").write_text(GOOD.replace("CLASSES", f"{literals}\nCLASSES", 1))
    found, mistakes = catalog.own_models(folder, {}, "mine")
    return found, list(mistakes.values())


def test_a_file_without_them_says_nothing(tmp_path: Path) -> None:
    (model,) = read(tmp_path, "")[0].values()

    assert (model.shortening, dict(model.quick)) == (Shortening(), {})


def test_a_file_states_them_as_literals(tmp_path: Path) -> None:
    literals = 'BLOCKS = 5\nLATENCY_STEPS = 0\nPARITY_BATCH = 16\nQUICK = {"batch_size": 4, "repeats": 1}'
    literals += "\nEVALUATE_EVERY_EPOCH = False"
    (model,) = read(tmp_path, literals)[0].values()

    assert model.shortening == Shortening(blocks=5, latency_steps=0, parity_batch=16, evaluate_every_epoch=False)
    assert dict(model.quick) == {"batch_size": 4, "repeats": 1}


@pytest.mark.parametrize(
    ("literals", "message"),
    [
        ("BLOCKS = 0", "mine/wide.py:5:10: not a model: BLOCKS must be a whole number from 1 to 10000"),
        (
            "LATENCY_STEPS = 1.5",
            "mine/wide.py:5:17: not a model: LATENCY_STEPS must be a whole number from 0 to 1000000",
        ),
        (
            "PARITY_BATCH = True",
            "mine/wide.py:5:16: not a model: PARITY_BATCH must be a whole number from 1 to 4096",
        ),
        (
            "EVALUATE_EVERY_EPOCH = 0",
            "mine/wide.py:5:24: not a model: EVALUATE_EVERY_EPOCH must be True or False",
        ),
        (
            'QUICK = {"batch": 4}',
            'mine/wide.py:5:9: not a model: QUICK may have a batch_size and repeats, whole numbers from 1, as in {"batch_size": 4, "repeats": 1}',
        ),
    ],
)
def test_a_wrong_literal_names_its_place_and_bound(tmp_path: Path, literals: str, message: str) -> None:
    assert read(tmp_path, literals) == ({}, [message])
