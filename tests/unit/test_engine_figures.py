"""The figures of frontiers, anonymous networks and networks of one's own, from what their runs have left."""

import json
from argparse import Namespace
from pathlib import Path

import pytest

from bench.networks import anonymised, engine_releases, frontier, own_network
from orchestrator import matrix, planning, resources
from orchestrator.analysis.estimates import Estimate
from orchestrator.analysis.frontier.points import FrontierPoint
from orchestrator.catalog import load, load_models
from orchestrator.domain import Mode, Status, Workload
from orchestrator.results.store import Run
from tests.unit.reporting import synthetic

ROW = frontier.ROWS["encoder"]


def point(size: int, latency_s: float, rate: float) -> FrontierPoint:
    latency, sure = (Estimate(value, value, value, 3) for value in (latency_s, rate))
    return FrontierPoint(size, latency, sure)


GRID = {"one": {size: point(size, 0.01 * size, min(90 * size, 180)) for size in (1, 2, 4, 8, 16)}}
"""A device that two samples fill."""


def test_a_frontier_of_few_cells_is_that_of_the_grid() -> None:
    figure = frontier.figure(ROW, {"one": {size: GRID["one"][size] for size in (1, 2)}}, GRID)

    assert figure["text"].startswith("2 of 5 cells (0.40); 2 cells of the grid are on its frontier, 0 of them not")
    assert figure["within"]


def test_a_frontier_that_lacks_a_cell_is_another() -> None:
    found = {"one": {1: GRID["one"][1], 16: point(16, 0.16, 170)}}

    figure = frontier.figure(ROW, found, GRID)

    assert "1 of them not offered (batches of 2); 1 that the search names are beaten (batches of 16)" in figure["text"]
    assert not figure["within"]


def anonymous(folder: Path, original: list[float | None], other: list[float | None]) -> Run:
    """A run of both networks, with a rate for each repeat, or none for one that has failed."""
    run = Run(folder / "results" / "proof")
    workloads = {name: Workload(name, Mode("infer"), 1) for name in ("original", "anonymous")}
    cells = {name: synthetic.cell(synthetic.TORCH, each, repeats=3) for name, each in workloads.items()}
    run.write_record(synthetic.record(synthetic.plan(list(cells.values())), run.name))
    for name, rates in (("original", original), ("anonymous", other)):
        for repeat, rate in enumerate(rates):
            if rate is None:
                run.write_outcome(synthetic.failed(cells[name], repeat, Status.TIMEOUT, "late").outcome)
                continue
            place = run.repeat_folder(cells[name].id, repeat)
            place.mkdir(parents=True)
            result = synthetic.result(cells[name], repeat, rate, spread=0)
            (place / "result.json").write_text(result.model_dump_json(by_alias=True))
            run.write_outcome(synthetic.ok(cells[name], [rate] * (repeat + 1))[repeat].outcome)
    return run


def test_anonymous_networks_are_paired_block_by_block(tmp_path: Path) -> None:
    """A repeat that has failed leaves its block out, and shifts no other."""
    anonymous(tmp_path, [100, None, 400], [100, 200, 400])

    ratio = anonymised.ratio(
        tmp_path, "vit", {"replaced": [1, 2], "kept": [3], "speed": {"run": "proof", "engine": "onnxruntime==1"}}, 3
    )

    assert (ratio.pairs, ratio.ratio) == (2, pytest.approx(1, rel=1e-3))
    assert (ratio.ours, ratio.within) == ("anonymous vit, 2 tensors replaced, 1 kept", True)


@pytest.mark.parametrize(
    ("minutes", "verdict", "within"), [(9.9, "same", True), (10.1, "same", False), (5.0, "inconclusive", False)]
)
def test_own_network_has_a_verdict_in_time(minutes: float, verdict: str, within: bool) -> None:
    judged = {"verdict": verdict, "ratio": 1.0123, "low": 0.99, "high": 1.035, "blocks": 6}

    figure = own_network.figure(Namespace(model="lenet", cpus=2), minutes, judged)

    interval = "× 1.012 (0.990–1.035), 6 blocks"
    assert (figure["text"], figure["within"]) == (f"{verdict} after {minutes:.1f} min: {interval}", within)
    assert "lenet as one's own file, onnxruntime==1.20.1 → onnxruntime==1.21.1, 2 CPUs" in str(figure["name"])


def test_every_known_release_is_planned(tmp_path: Path) -> None:
    path = tmp_path / "releases.yaml"
    catalog, models = load(resources.IMAGES / "catalog"), load_models(resources.BENCHMARKS / "models")
    for engine in engine_releases.ENGINES:
        asked = engine_releases.pins(engine)
        path.write_text(engine_releases.MATRIX.format(engine=engine, frameworks=json.dumps(asked)))
        cells = planning.plan(matrix.load(path, catalog, models), catalog, models).cells

        assert [f"{cell.framework.name}=={cell.framework.version}" for cell in cells] == asked


def test_releases_that_do_not_run_are_named() -> None:
    def cell(version: str, status: str, reason: str = "") -> dict[str, object]:
        framework = {"name": "openvino", "version": version}
        return {"cell": {"framework": framework}, "repeats": [{"outcome": {"status": status, "reason": reason}}]}

    asked = ["openvino==3", "openvino==2", "openvino==1"]
    figure = engine_releases.figure("openvino", asked, {"cells": [cell("3", "ok"), cell("2", "failed", "it broke")]})

    assert figure["text"] == "1 of 3 infer LeNet; openvino==2 failed: it broke; openvino==1 no cell"
    assert not figure["within"]
    assert engine_releases.figure("openvino", asked[:1], {"cells": [cell("3", "ok")]})["within"]
