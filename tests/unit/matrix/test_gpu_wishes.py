"""The GPUs that a system of a matrix asks for by name, memory and MIG profile."""

from collections.abc import Mapping
from pathlib import Path

import pytest
import yaml

from orchestrator import catalog, matrix, planning
from orchestrator.domain import Plan, System
from orchestrator.errors import InputError
from orchestrator.results.records import plan_to_json

Models = Mapping[str, catalog.ModelInfo]
MATRIX = (
    "version: 1\nsystems:\n  big: {gpus: 1, gpu: '*H100*', gpu_memory: 40g, mig: 1g.10gb}\nframeworks: [mxnet==1.9.1]\n"
)


def load(folder: Path, text: str, known: catalog.Catalog, models: Models) -> matrix.Matrix:
    (folder / "m.yaml").write_text(text + "models: [lenet]\n")
    return matrix.load(folder / "m.yaml", known, models)


def test_wishes_are_kept_by_every_form(tmp_path: Path, known: catalog.Catalog, models: Models) -> None:
    loaded = load(tmp_path, MATRIX, known, models)
    (tmp_path / "long.yaml").write_text(yaml.safe_dump(matrix.long_form(loaded)))

    assert loaded.systems == (System("big", gpus=1, gpu="*H100*", gpu_memory_bytes=40 * 2**30, mig="1g.10gb"),)
    assert matrix.load(tmp_path / "long.yaml", known, models).systems == loaded.systems


def test_ids_of_systems_without_wishes_stay(tmp_path: Path, known: catalog.Catalog, models: Models) -> None:
    """A wish is no part of an id, and a plan without one is as it was."""
    plain = MATRIX.replace(", gpu: '*H100*', gpu_memory: 40g, mig: 1g.10gb", "")
    plans = [planning.plan(load(tmp_path, text, known, models), known, models) for text in (MATRIX, plain)]

    assert [cell.id for cell in plans[0].cells] == [cell.id for cell in plans[1].cells]
    assert not {"gpu", "gpu_memory_bytes", "mig"} & set(_systems(plans[1])[0])


def _systems(plan: Plan) -> list[dict[str, object]]:
    return [cell["system"] for cell in plan_to_json(plan)["cells"]]


@pytest.mark.parametrize(
    ("entry", "mistake"),
    [
        ("{gpu: H100}", "3:9: systems.big: says which GPUs to take, and the system has none; set gpus"),
        ("{gpus: 0, gpu_memory: 1g}", "3:18: systems.big: says which GPUs to take, and the system has none; set gpus"),
        ("{gpus: 2, mig: 1g.10gb}", "3:18: systems.big: a process sees one part of a divided GPU only; set gpus: 1"),
        ("{gpus: 1, gpu_memory: lots}", "3:30: systems.big.gpu_memory: 'lots' is no size; write 8g, 512m"),
    ],
)
def test_a_wish_that_cannot_be_met_is_a_mistake(
    tmp_path: Path, known: catalog.Catalog, models: Models, entry: str, mistake: str
) -> None:
    text = f"version: 1\nsystems:\n  big: {entry}\nframeworks: [noop==1]\n"
    with pytest.raises(InputError) as caught:
        load(tmp_path, text, known, models)

    assert f"m.yaml:{mistake}" in str(caught.value)
