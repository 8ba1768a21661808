"""The answers of `plan --for` to stored runs."""

from pathlib import Path

import pytest

from orchestrator.analysis.scatter.precision import Basis
from orchestrator.cli.measure.precision import show_precision
from orchestrator.errors import InputError
from orchestrator.results.results_folder import runs
from orchestrator.results.store import PartRun
from orchestrator.workflows.measure.precision import PlanPrecision, plan_precision, precision_data, wanted_share
from orchestrator.workflows.measure.stored_scatter import MAX_RUNS, same_work, stored_scatter
from tests.unit.workflows.scattered_runs import HERE, Scatter, planned, store

QUIET, LOUD = Scatter(block=0.01, container=0.005), Scatter(block=0.01, container=0.04)


def asked(results: Path, *names: str, wanted: float = 0.02) -> PlanPrecision:
    return plan_precision(planned(*names), runs(results), HERE, wanted)


@pytest.mark.parametrize(("text", "share"), [("2%", 0.02), ("0.5 %", 0.005), ("0.02", 0.02)])
def test_a_half_width_is_read(text: str, share: float) -> None:
    assert wanted_share(text) == pytest.approx(share)


@pytest.mark.parametrize("text", ["2", "0", "100%", "two", "-1%", ""])
def test_no_half_width_is_refused(text: str) -> None:
    with pytest.raises(InputError, match=r"such as 2% or 0\.02"):
        wanted_share(text)


def test_a_loud_cell_takes_more_repeats(tmp_path: Path) -> None:
    store(tmp_path, "20260101T000000Z-0001", planned("quiet", "mild").cells, QUIET, 12)
    store(tmp_path, "20260102T000000Z-0002", planned("loud").cells, LOUD, 12)

    quiet, loud = asked(tmp_path, "quiet", "loud").cells

    assert quiet.basis is loud.basis is Basis.STORED
    assert quiet.repeats is not None
    assert loud.repeats is not None
    assert 2 <= quiet.repeats < 8 < loud.repeats < 60
    assert loud.reached is not None
    assert loud.reached.low < loud.reached.expected <= 0.02 < loud.reached.high


def test_time_is_that_of_the_stored_containers(tmp_path: Path) -> None:
    store(tmp_path, "20260101T000000Z-0001", planned("a", "b", "c").cells, LOUD, 12)

    (cell,) = asked(tmp_path, "a").cells

    assert cell.repeats is not None
    assert cell.seconds == pytest.approx(cell.repeats * (4.0 + 0.25 * cell.blocks), rel=0.02)


def test_quiet_containers_take_more_blocks_each(tmp_path: Path) -> None:
    """Long containers are cheaper than many if blocks scatter and containers do not; else the other way round."""
    noisy_blocks, noisy_containers = Scatter(block=0.08), Scatter(block=0.002, container=0.03)
    store(tmp_path, "20260101T000000Z-0001", planned("blocks").cells, noisy_blocks, 20)
    store(tmp_path, "20260102T000000Z-0002", planned("containers").cells, noisy_containers, 20)

    blocks, containers = asked(tmp_path, "blocks", "containers").cells

    assert blocks.blocks > 12
    assert containers.blocks == 5


def test_scatter_is_split_by_its_levels(tmp_path: Path) -> None:
    scatter = Scatter(block=0.03, container=0.02, run=0.05)
    for number in range(12):
        store(tmp_path, f"202601{number + 10}T000000Z-00{number + 10}", planned("a").cells, scatter, 8)

    (cell,) = precision_data(asked(tmp_path, "a"))["cells"]
    levels = cell["scatter"]

    assert levels is not None
    assert levels["block"] == pytest.approx(0.03, rel=0.2)
    assert levels["container"] == pytest.approx(0.02, rel=0.3)
    assert levels["run"] == pytest.approx(0.05, rel=0.5)
    assert levels["host"] is None


def test_hosts_are_a_level_of_their_own(tmp_path: Path) -> None:
    """Runs of other hosts tell how hosts differ, and nothing of the scatter of this one."""
    store(tmp_path, "20260101T000000Z-0001", planned("a").cells, QUIET, 6)
    for number in range(2, 6):
        cpu = f"another CPU {number % 2}"
        store(tmp_path, f"2026010{number}T000000Z-000{number}", planned("a").cells, Scatter(container=0.5), 6, cpu=cpu)

    (cell,) = asked(tmp_path, "a").cells

    assert cell.stored_repeats == 6
    assert cell.scatter is not None
    assert cell.scatter.container < 0.02**2
    assert cell.scatter.host is not None


@pytest.mark.parametrize("cpu", ["a CPU", "another CPU"])
def test_scatter_between_hosts_is_found(tmp_path: Path, cpu: str) -> None:
    """Sisters of this host's model too, which their names alone tell from it."""
    scatter = Scatter(block=0.01, container=0.01, host=0.1)
    store(tmp_path, "20260101T000000Z-0001", planned("a").cells, scatter, 6)
    for number in range(18):
        name = f"20260102T0000{number:02}Z-0001"
        store(tmp_path, name, planned("a").cells, scatter, 6, cpu=cpu, hostname=f"node{number // 2}")

    (cell,) = precision_data(asked(tmp_path, "a"))["cells"]
    levels = cell["scatter"]

    assert (cell["stored_repeats"], levels is not None) == (6, True)
    assert levels is not None
    assert levels["host"] == pytest.approx(0.1, rel=0.5)
    assert levels["run"] is None or levels["run"] < 0.02


def test_parts_of_a_run_on_a_cluster_are_one_run(tmp_path: Path) -> None:
    """So that the newest twenty runs reach as far back as without a cluster."""
    (cell,) = planned("a").cells
    old = store(tmp_path, "20260101T000000Z-0001", [cell], QUIET, 4)
    parts = [
        PartRun(store(tmp_path, f"20260102T000000Z-0002/parts/{number:03}/node1", [cell], QUIET, 2).folder)
        for number in range(MAX_RUNS)
    ]

    (stored,) = stored_scatter([old, *parts], lambda host: True).values()

    assert [len(repeats) for repeats in stored.here] == [4, 2 * MAX_RUNS]


def test_a_cell_never_measured_goes_by_others(tmp_path: Path) -> None:
    """The range is wide, as it holds all that the others differ in."""
    store(tmp_path, "20260101T000000Z-0001", planned("a", "b").cells, QUIET, 6)
    store(tmp_path, "20260102T000000Z-0002", planned("c", "d").cells, LOUD, 6)

    own, new = asked(tmp_path, "a", "new").cells

    assert (own.basis, new.basis) == (Basis.STORED, Basis.OTHERS)
    assert own.reached is not None
    assert new.reached is not None
    assert new.reached.high / new.reached.low > own.reached.high / own.reached.low
    assert new.blocks == 10


def test_nothing_stored_makes_no_number(tmp_path: Path) -> None:
    planning = asked(tmp_path, "a")
    (cell,) = planning.cells

    assert (cell.basis, cell.repeats, cell.seconds, cell.reached) == (Basis.NOTHING, None, None, None)
    assert planning.unknown == ("fake-1-cpu/a",)


def test_other_blocks_are_the_same_work(tmp_path: Path) -> None:
    """A cell is known again whatever its repeats and limits were, and not under another number of steps."""
    (cell,) = planned("a").cells
    run = store(tmp_path, "20260101T000000Z-0001", [cell], QUIET, 4, blocks=20)
    stored = stored_scatter([run], lambda host: True)

    assert list(stored) == [same_work(cell)]
    assert stored[same_work(cell)].cost is not None


def test_an_older_way_of_measuring_does_not_count(tmp_path: Path) -> None:
    cells = planned("a").cells
    older = store(tmp_path, "20260101T000000Z-0001", cells, QUIET, 4, version=1)
    newer = store(tmp_path, "20260102T000000Z-0002", cells, QUIET, 3, version=2)

    (known,) = stored_scatter([older, newer], lambda host: True).values()

    assert [len(run) for run in known.here] == [3]


def test_what_is_known_and_what_not_is_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store(tmp_path, "20260101T000000Z-0001", planned("a", "b", "c").cells, QUIET, 6)

    show_precision(asked(tmp_path, "a", "new"))
    shown = " ".join(capsys.readouterr().out.split())

    assert "6 repeats" in shown
    assert "for ± 2 %:" in shown
    assert "1 cell without two stored repeats (fake-1-cpu/new): by how 3 other cells of this host scatter" in shown


def test_a_plan_with_nothing_stored_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    show_precision(asked(tmp_path, "a"))
    shown = " ".join(capsys.readouterr().out.split())

    assert "nothing is stored that says how 1 cell (fake-1-cpu/a) would scatter: measure a few repeats first" in shown
    assert "for ± 2 %" not in shown
