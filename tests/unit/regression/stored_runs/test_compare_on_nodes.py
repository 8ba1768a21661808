"""Runs on a cluster: each pair is of one node, and what no node has measured of both sides is named."""

from pathlib import Path

import pytest

from orchestrator.analysis.comparison import Verdict
from orchestrator.errors import InputError
from orchestrator.regression.model import Design, Regression
from orchestrator.regression.rules import DEFAULT_GATES
from orchestrator.regression.sides import Side
from orchestrator.regression.stored_runs.comparison import compare_runs
from orchestrator.regression.stored_runs.operands import Operand
from orchestrator.results.store import PartRun
from tests.unit.regression.stored_runs.measured_runs import NEW, OLD, Made, stored
from tests.unit.reporting import synthetic

RATES = [1000.0 + number for number in range(6)]
SLOWER = [rate * 0.8 for rate in RATES]


def part(results: Path, name: str, node: str, *made: Made) -> PartRun:
    """Write the run of a part on a node."""
    run = stored(results / name.partition("/")[0] / "parts" / name.partition("/")[2], 1, *made)
    record = run.record()
    run.write_record(record.model_copy(update={"host": {**record.host, "hostname": node}}))
    return PartRun(run.folder.rename(run.folder.with_name(node)))


def compared(baseline: tuple[PartRun, ...], candidate: tuple[PartRun, ...], *releases: str) -> Regression:
    sides = [Side("mxnet", release) for release in releases] or [None, None]
    operands = [Operand(runs[0].whole, runs, side) for runs, side in zip((baseline, candidate), sides, strict=True)]
    return compare_runs(*operands, DEFAULT_GATES)


def both(rates: list[float] = RATES) -> tuple[Made, Made]:
    return Made(OLD, RATES), Made(NEW, rates)


def test_cells_of_a_part_are_compared_by_block(tmp_path: Path) -> None:
    """Two releases of one run: parts on different nodes, each pair on one."""
    mlp = [Made(framework, rates, synthetic.MLP) for framework, rates in ((OLD, RATES), (NEW, RATES))]
    runs = (part(tmp_path, "a/000", "node1", *both(SLOWER)), part(tmp_path, "a/001", "node2", *mlp))

    found = compared(runs, runs, "1.5.1", "1.9.1")
    assert found.design is Design.BLOCKS
    assert {pair.id.partition("/")[2].partition("-")[0]: pair.verdict for pair in found.pairs} == {
        "lenet": Verdict.SLOWER, "mlp": Verdict.SAME,
    }  # fmt: skip
    assert found.host == "node1 and node2"


def test_runs_are_compared_where_nodes_are_the_same(tmp_path: Path) -> None:
    """Of two runs, a part that came to another node is not comparable, and says so."""
    lenet, mlp = Made(OLD, RATES), Made(OLD, RATES, synthetic.MLP)
    first = (part(tmp_path, "a/000", "node1", lenet), part(tmp_path, "a/001", "node2", mlp))
    second = (part(tmp_path, "b/000", "node1", lenet), part(tmp_path, "b/001", "node1", mlp))

    found = compared(first, second)
    assert found.design is Design.RUNS
    verdicts = {pair.id.partition("/")[2].partition("-")[0]: pair for pair in found.pairs}
    assert verdicts["lenet"].verdict is not Verdict.NOT_COMPARABLE
    assert verdicts["mlp"].verdict is Verdict.NOT_COMPARABLE
    assert "host node2 against node1" in verdicts["mlp"].reason


def test_no_common_node_is_no_comparison(tmp_path: Path) -> None:
    first, second = (part(tmp_path, f"{name}/000", f"node-{name}", Made(OLD, RATES)) for name in "ab")

    with pytest.raises(InputError, match="cannot be compared: host node-a against node-b"):
        compared((first,), (second,))


def test_cells_of_two_parts_are_no_pair(tmp_path: Path) -> None:
    runs = (part(tmp_path, "a/000", "node1", Made(OLD, RATES)), part(tmp_path, "a/001", "node1", Made(NEW, RATES)))

    with pytest.raises(InputError, match="cells of two nodes, or of two parts, are not compared"):
        compared(runs, runs, "1.5.1", "1.9.1")
