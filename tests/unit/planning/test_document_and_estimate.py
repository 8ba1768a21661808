import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from orchestrator import catalog, matrix, planning
from orchestrator.domain import Plan
from orchestrator.results.records import plan_from_json, plan_to_json
from tests.envelopes import data_of
from tests.unit.planning.conftest import ASSUMED

TEXT = """\
version: 1
name: both
systems: {cpu: {cpus: 2, memory: 1g}, 1_gpu: {gpus: 1}}
frameworks: [mxnet==1.9.1, keras-mxnet==2.2.4.3 on mxnet==1.5.1, noop==1, {name: noop, image: "a:1"}]
models: [lenet]
repeats: 2
timeout: 20
exclude: [{framework: mxnet==1.9.1, system: 1_gpu}]
"""
Models = dict[str, catalog.ModelInfo]


def what(models: Models) -> planning.Known:
    """Nothing but the models is known."""
    return planning.Known(models, catalog.DATASETS, ASSUMED)


def planned(tmp_path: Path, known: catalog.Catalog, models: Models) -> Plan:
    path = tmp_path / "m.yaml"
    path.write_text(TEXT)
    return planning.plan(matrix.load(path, known, models), known, models)


def written(plan: Plan, estimate: planning.PlanEstimate) -> Any:
    return data_of("".join(planning.plan_envelope(plan, estimate).texts()))


def test_the_document_has_flat_rows_of_json_values(tmp_path: Path, known: catalog.Catalog, models: Models) -> None:
    plan = planned(tmp_path, known, models)

    document = written(plan, planning.estimate(plan, known, what(models)))

    assert list(document) == [
        "name", "seed", "cells", "images", "models", "definitions", "scripts", "skips", "warnings", "parity",
        "estimate",
    ]  # fmt: skip
    assert document["cells"][1] == {
        "id": "keras-mxnet-2.2.4.3-on-mxnet-1.5.1-cpu/lenet-train-b200",
        "framework": "keras-mxnet", "version": "2.2.4.3", "backend": "mxnet==1.5.1", "python": "3.6", "packages": {},
        "system": "cpu", "cpus": 2, "gpus": 0, "memory_bytes": 1073741824,
        "model": "lenet", "mode": "train", "batch_size": 200, "dataset": "synthetic", "options": {},
        "script": None, "definition": None, "image": "bench/keras-mxnet:2.2.4.3-on-mxnet-1.5.1-cpu",
        "warmup_steps": 10, "steps": 50, "epochs": None, "timeout_s": 20.0, "output_bytes": 2**31,
        "output_files": 10_000, "repeats": 2, "expect": "ok",
    }  # fmt: skip
    assert document["cells"][0]["options"] == {"hybridize": True}
    assert document["images"][0] == {
        "name": "bench/mxnet:1.9.1-cpu", "class": "cpu", "framework": "mxnet", "version": "1.9.1", "backend": None,
        "builder": "mxnet", "python": "3.11", "requirements": ["mxnet>=1.9.1,<=1.9.1.post9999", "numpy<1.24"],
        "system_packages": ["libgomp1"], "cuda_image": None, "image": None, "dockerfile": None,
    }  # fmt: skip
    assert document["parity"][0] == {
        "id": "mxnet-1.9.1-cpu/lenet-hybridize=true", "image": "bench/mxnet:1.9.1-cpu", "model": "lenet",
    }  # fmt: skip
    assert document["skips"][0] == {
        "id": "mxnet-1.9.1-1_gpu/lenet-train-b200",
        "reason": f"excluded by {tmp_path}/m.yaml:8:11",
    }


def test_the_text_in_pieces_is_the_document(tmp_path: Path, known: catalog.Catalog, models: Models) -> None:
    plan = planned(tmp_path, known, models)
    estimate = planning.estimate(plan, known, what(models))

    pieces = list(planning.plan_envelope(plan, estimate).texts())

    assert data_of("".join(pieces))["cells"][-1]["id"] == plan.cells[-1].id
    assert max(map(len, pieces)) < 2000
    assert len(pieces) > len(plan.cells)


def test_a_plan_without_skips_is_valid_json(tmp_path: Path, known: catalog.Catalog, models: Models) -> None:
    """The text of a plan that has no skips is valid JSON too."""
    path = tmp_path / "m.yaml"
    path.write_text("version: 1\nframeworks: [noop==1]\nmodels: [mlp]\n")
    plan = planning.plan(matrix.load(path, known, models), known, models)

    assert (
        data_of("".join(planning.plan_envelope(plan, planning.estimate(plan, known, what(models))).texts()))["skips"]
        == []
    )


def test_a_plan_survives_being_stored(tmp_path: Path, known: catalog.Catalog, models: Models) -> None:
    plan = planned(tmp_path, known, models)

    assert plan_from_json(json.loads(json.dumps(plan_to_json(plan)))) == plan


def test_an_estimate_counts_containers_images_and_pythons(
    tmp_path: Path, known: catalog.Catalog, models: Models
) -> None:
    plan = planned(tmp_path, known, models)
    estimate = planning.estimate(plan, known, what(models))

    sizes_mb = 200 + 250 + (250 + 3000) + 500
    pythons_mb = 2 * 130
    assert len(plan.cells) == 6
    assert estimate.containers == 12
    assert estimate.parity_containers == 3, "noop has none"
    assert estimate.run_s == pytest.approx(6 * 8.0 + 6 * 0.3 + 3 * 10.0), "the fixtures' work is not known"
    assert estimate.longest_run_s == (12 + 3) * 20.0
    assert estimate.disk_bytes == (sizes_mb + pythons_mb) * 1_000_000
    assert estimate.build_s == 6 * 15.0 + sizes_mb / 10
    assert any("6 containers at 8 s" in line for line in estimate.assumptions)


def test_cells_without_a_device_take_nothing(tmp_path: Path, known: catalog.Catalog, models: Models) -> None:
    plan = planned(tmp_path, known, models)
    on_cpus = replace(plan, cells=tuple(cell for cell in plan.cells if not cell.system.gpus))

    here = planning.estimate(plan, known, replace(what(models), systems=frozenset({"cpu"})))
    everywhere = planning.estimate(plan, known, replace(what(models), systems=frozenset({"cpu", "1_gpu"})))

    line = "2 cells on 1_gpu would end as no_device on this host: no time, and no image that no other cell needs"
    assert line in here.assumptions
    assert replace(here, assumptions=()) == replace(planning.estimate(on_cpus, known, what(models)), assumptions=())
    assert here.run_s < everywhere.run_s
    assert everywhere == planning.estimate(plan, known, what(models))


def test_a_cell_without_a_device_is_never_slow(tmp_path: Path, known: catalog.Catalog, models: Models) -> None:
    plan = planned(tmp_path, known, models)
    hasty = replace(plan, cells=tuple(replace(cell, timeout_s=0.1) for cell in plan.cells))

    slow = planning.estimate(hasty, known, replace(what(models), systems=frozenset({"cpu"}))).slow

    assert {one.id.partition("/")[0] for one in slow} == {
        cell.id.partition("/")[0] for cell in plan.cells if not cell.system.gpus
    }


def test_parts_take_what_their_plans_take(tmp_path: Path, known: catalog.Catalog, models: Models) -> None:
    plan = replace(planned(tmp_path, known, models), parity=True)
    seconds = planning.seconds_of_parts(plan, known, what(models))
    by_image = {cell.image: replace(plan, cells=(cell,)) for cell in plan.cells}
    several = [replace(plan, cells=plan.cells[:2]), *by_image.values()]

    for part in (plan, *several):
        estimate = planning.estimate(part, known, what(models))
        assert seconds(part) == pytest.approx(estimate.run_s + estimate.build_s)
