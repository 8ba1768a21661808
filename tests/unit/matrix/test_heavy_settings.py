"""Mistakes in the settings of how long a measurement lasts."""

from dataclasses import replace
from pathlib import Path

import pytest

from orchestrator import catalog, matrix
from orchestrator.errors import InputError

Models = dict[str, catalog.ModelInfo]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("models: [lenet]\nblocks: 0", "m.yaml:4:9: blocks: should be at least 1, not 0"),
        ("models: [lenet]\nblocks: 10001", "m.yaml:4:9: blocks: should be at most 10000, not 10001"),
        ("models: [lenet]\nlatency_steps: -1", "m.yaml:4:16: latency_steps: should be at least 0, not -1"),
        ("models: [lenet]\nparity_batch: 5000", "m.yaml:4:15: parity_batch: should be at most 4096, not 5000"),
        (
            "models: [lenet]\nevaluate_every_epoch: 1",
            "m.yaml:4:23: evaluate_every_epoch: should be true or false, not 1",
        ),
        (
            "models: [{name: lenet, epochs: 2, blocks: 3}]",
            "m.yaml:3:35: models: blocks and epochs exclude each other, since each epoch is a block; keep one",
        ),
        (
            "models: [lenet]\nblocks: 3\nepochs: 2",
            "m.yaml:4:1: blocks and epochs exclude each other, since each epoch is a block; keep one",
        ),
        (
            "models: [{name: tiny, parity_batch: 101}]",
            "m.yaml:3:37: models.parity_batch: 101 is more than the 100 samples that tiny has",
        ),
        (
            "models: [lenet]\ninclude: [{model: lenet, parity_batch: 8}]",
            "m.yaml:4:11: include: sets nothing, and adds nothing without framework==version, system and model",
        ),
    ],
)
def test_a_mistake_names_its_place_and_bound(
    tmp_path: Path, known: catalog.Catalog, models: Models, text: str, message: str
) -> None:
    models = {**models, "tiny": replace(models["lenet"], name="tiny", samples=100)}
    path = tmp_path / "m.yaml"
    path.write_text(f"version: 1\nframeworks: [mxnet==1.9.1]\n{text}\n")

    with pytest.raises(InputError) as caught:
        matrix.load(path, known, models)

    assert message in [line.removeprefix(f"{tmp_path}/") for line in caught.value.messages]
