"""The axes of cells on a site, and the order of its releases."""

from dataclasses import replace
from pathlib import Path

import pytest

from orchestrator.domain import Mode, Workload
from orchestrator.modes.parts.frontier import Frontier
from orchestrator.modes.parts.lengths import Generation
from orchestrator.modes.parts.load import Load, Scenario
from orchestrator.reporting.site.axes import AXES, places_of_releases
from orchestrator.reporting.site.courses import SeriesQuestion
from orchestrator.reporting.site.encoding import decoded
from orchestrator.reporting.site.publishing import RunToPublish, SiteContent, publish
from orchestrator.results.results_folder import runs
from tests.unit.cli.stored_runs import stored_run
from tests.unit.reporting import synthetic as s
from tests.unit.reporting.site.reading import index_of

RATED = Load(Scenario.SERVER, rate=20, latency_limit_s=0.1)


def published(folder: Path) -> None:
    """Publish the results of a folder into its site."""
    every = tuple(RunToPublish(run) for run in runs(folder / "results"))
    content = SiteContent(every, {"watches": []}, {"searches": []}, SeriesQuestion(0.02), "", "results")
    publish(content, folder / "site", lambda line: None)


def test_the_load_of_requests_is_on_axes_of_its_own() -> None:
    work = Workload("decoder", Mode.REQUESTS, 8, load=RATED, generation=Generation(128, 16), size="small")
    shown = {name: AXES[name](s.cell(s.TORCH, work)) for name in ("scenario", "rate", "clients", "latency_limit")}

    assert shown == {"scenario": "server", "rate": 20, "clients": None, "latency_limit": 0.1}
    assert [AXES[name](s.cell(s.TORCH, work)) for name in ("prompt", "output", "size")] == [128, 16, "small"]


def test_a_single_stream_is_one_client() -> None:
    work = Workload("lenet", Mode.REQUESTS, 8, load=Load())

    assert AXES["clients"](s.cell(s.TORCH, work)) == 1


def test_axes_of_other_modes_are_empty() -> None:
    cell = s.cell(s.TORCH)

    assert [AXES[name](cell) for name in ("size", "sizes", "scenario")] == [""] * 3
    assert [AXES[name](cell) for name in ("rate", "clients", "latency_limit", "prompt", "output")] == [None] * 5


def test_a_frontier_makes_no_other_cell_of_one(tmp_path: Path) -> None:
    """A cell that is measured for a frontier later is the same one, with the limits of that frontier."""
    alone, rated = s.cell(s.TORCH, repeats=1), s.cell(s.TORCH, Workload("lenet", Mode.REQUESTS, 8, load=RATED))
    stored_run(tmp_path / "results", "20260102T030405Z-aaaa", [alone])
    stored_run(tmp_path / "results", "20260103T030405Z-bbbb", [replace(alone, frontier=Frontier((0.05, 0.2))), rated])

    published(tmp_path)

    assert decoded(index_of(tmp_path / "site")["cells"]["limits"]) == ["0.05 0.2", "0.1"]


@pytest.mark.parametrize("first", ["2.0.0rc1", "2.0.0.dev20260101", "1.10.0", "nightly"])
def test_a_release_is_after_what_came_before_it(first: str) -> None:
    assert places_of_releases([("2.0.0", "1.0"), (first, "1.0")]) == [1, 0]


def test_the_index_orders_releases(tmp_path: Path) -> None:
    """A browser finds the newest release by the index, since it would take a pre-release for newer."""
    versions = ("2.0.0", "1.9.1", "2.0.0rc1", "10.0.0")
    cells = [s.cell(replace(s.TORCH, version=version), repeats=1) for version in versions]
    stored_run(tmp_path / "results", cells=cells)

    published(tmp_path)

    columns = index_of(tmp_path / "site")["cells"]
    places = dict(zip(columns["version"]["of"], columns["release_order"], strict=True))
    assert sorted(versions, key=lambda version: places[version]) == ["1.9.1", "2.0.0rc1", "2.0.0", "10.0.0"]
