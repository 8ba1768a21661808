"""A part of a run on the node of its job, and a run whose parts are measured here."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from orchestrator.clusters.folder import ClusterRun, node_runs, part_states
from orchestrator.clusters.parts import parts
from orchestrator.clusters.record import plan_of
from orchestrator.clusters.site import Pods, Site
from orchestrator.domain import Status
from orchestrator.errors import InputError
from orchestrator.results.records import plan_to_json
from orchestrator.results.store import Run
from orchestrator.workflows.cluster.freeze import freeze
from orchestrator.workflows.cluster.part import PartOptions, measure_part
from orchestrator.workflows.cluster.run import resume, run
from orchestrator.workflows.inputs.cluster_runs import (
    cluster_report,
    every_measured,
    find_cluster_run,
    find_measured,
)
from tests.unit.workflows.cluster.small_cluster import LENET, MLP, SmallCluster


@pytest.fixture
def small(tmp_path: Path) -> SmallCluster:
    return SmallCluster(tmp_path)


def frozen(small: SmallCluster, replicate: int = 1) -> ClusterRun:
    return freeze(small.options(), Site(replicate=replicate), small.host())[0]


def nodes_of(cluster: ClusterRun, part: str = "000") -> list[tuple[str, bool]]:
    cells = plan_of(cluster.part(part)).cells
    return [(each.run.name, each.is_complete) for each in node_runs(cluster.part_folder(part), cells)]


def test_a_part_is_stored_with_its_own_plan(small: SmallCluster) -> None:
    cluster, record = freeze(small.options(), Site(), small.host())
    whole = plan_of(record)

    stored = [cluster.part(part.name).plan for part in record.parts]
    assert stored == [plan_to_json(own) for _, own in parts(whole, lambda _: 1.0)]
    assert cluster.record() == record


def test_a_run_here_measures_every_part(small: SmallCluster) -> None:
    result = run(small.options(), Site(), small.host())

    assert result.report
    assert result.report.statuses == ((Status.OK, 2),)
    (node,) = {path.parent.name for path in result.cluster.folder.glob("parts/*/*/run.json")}
    assert [group.node for group in result.report.groups] == [node] * 2
    assert result.page
    assert result.page.path == result.cluster.folder / "report" / "index.html"
    assert (result.failed, result.stopped, result.is_detached) == (False, False, False)


def test_measured_parts_are_among_all_runs(small: SmallCluster) -> None:
    """Next to ordinary runs and by time, as `plan --for` reads them. A broken record hides its own run alone."""
    cluster = run(small.options(), Site(), small.host()).cluster
    results, node = cluster.folder.parent, next(cluster.folder.glob("parts/000/*/run.json")).parent
    shutil.copytree(node, results / "20990101T000000Z-0000")
    parts_here = [f"{cluster.name}/parts/{part}/{node.name}" for part in ("000", "001")]

    assert [each.name for each in every_measured(results)] == [*parts_here, "20990101T000000Z-0000"]
    (cluster.folder / "cluster.json").write_text("{")
    assert [each.name for each in every_measured(results)] == ["20990101T000000Z-0000"]


def test_a_complete_run_measures_nothing_again(small: SmallCluster) -> None:
    result = run(small.options(), Site(), small.host())
    before = sorted(small.folder.glob("results/*/parts/**/outcome.json"))
    stamps = [path.stat().st_mtime_ns for path in before]

    again = resume(result.cluster, small.resumed(), small.host())
    assert again.report == result.report
    assert [path.stat().st_mtime_ns for path in before] == stamps


def test_a_part_is_an_ordinary_run(small: SmallCluster) -> None:
    """It has its own record, matrix and report, in a folder of its node."""
    cluster = frozen(small)
    small.measure(cluster, "000", "node1")

    of_part = Run(cluster.part_folder("000") / "node1")
    assert [cell.id for cell in of_part.plan().cells] == [LENET]
    assert {"run.json", "matrix.yaml", "environments.json", "report"} <= {
        path.name for path in of_part.folder.iterdir()
    }


def test_a_node_has_a_cache_of_its_own(small: SmallCluster) -> None:
    """Nodes that share home folders would measure in turn, and make environments at one place at once."""
    cluster = frozen(small)
    small.measure(cluster, "000", "node1")

    caches = small.folder / ".cache" / "framework-bench"
    assert [path.name for path in (caches / "nodes").iterdir()] == ["node1"]
    assert not (caches / "measuring.lock").exists()


def test_a_second_start_on_the_node_goes_on(small: SmallCluster) -> None:
    cluster = frozen(small)
    stopped = small.host("node1")
    stopped.stop.set()
    measure_part(PartOptions(part=cluster.part_folder("000")), stopped)
    assert nodes_of(cluster) == [("node1", False)]

    small.measure(cluster, "000", "node1")
    assert nodes_of(cluster) == [("node1", True)]
    assert not any("begins anew" in line for line in small.said)


def test_another_node_begins_anew(small: SmallCluster) -> None:
    """Figures of two nodes never mix, and the complete run counts."""
    cluster = frozen(small)
    stopped = small.host("node1")
    stopped.stop.set()
    measure_part(PartOptions(part=cluster.part_folder("000")), stopped)

    small.measure(cluster, "000", "node2")
    assert nodes_of(cluster) == [("node2", True), ("node1", False)]
    assert "part 000 begins anew on node2: figures of node1 do not mix with its own" in small.said


def test_a_complete_part_is_left_alone(small: SmallCluster) -> None:
    cluster = frozen(small)
    for node in ("node1", "node2"):
        small.measure(cluster, "000", node)

    assert nodes_of(cluster) == [("node1", True)]
    assert "part 000 is complete: node1 measured it" in small.said


def test_another_machine_of_the_name_begins_anew(small: SmallCluster) -> None:
    cluster = frozen(small)
    stopped = small.host("node1")
    stopped.stop.set()
    measure_part(PartOptions(part=cluster.part_folder("000")), stopped)
    of_part = Run(cluster.part_folder("000") / "node1")
    of_part.write_record(of_part.record().model_copy(update={"host": {"cpu": "Another CPU"}}))

    small.measure(cluster, "000", "node1")
    assert nodes_of(cluster) == [("node1__2", True), ("node1", False)]
    assert next(part_states(cluster, cluster.record())).complete == ("node1",)


def test_every_node_of_a_replicate_measures(small: SmallCluster) -> None:
    """The report keeps the nodes apart, and says whether the ranking holds."""
    cluster = frozen(small, replicate=2)
    for node in ("node1", "node2"):
        small.measure(cluster, "000", node)

    states = list(part_states(cluster, cluster.record()))
    assert [(state.complete, state.missing) for state in states] == [(("node2", "node1"), 0), ((), 2)]
    report = cluster_report(cluster)
    assert report.cluster
    assert [node.name for node in report.cluster.nodes] == ["node1", "node2"]
    assert [group.node for each in (report, *report.further) for group in each.groups] == ["node2", "", "node1", ""]


def test_a_part_that_nobody_began_is_reported(small: SmallCluster) -> None:
    cluster = frozen(small)
    small.measure(cluster, "001", "node1")

    report = cluster_report(cluster)
    assert report.statuses == ((Status.OK, 1), (Status.NOT_RUN, 1))
    assert [cell.cell.id for cell in report.cells] == [LENET, MLP]
    assert report.cluster
    assert [(part.name, part.node) for part in report.cluster.parts] == [("000", ""), ("001", "node1")]


def test_a_run_is_found_by_its_beginning(small: SmallCluster) -> None:
    cluster = frozen(small)

    assert find_cluster_run(cluster.folder.parent, cluster.name[:6]) == cluster
    assert find_cluster_run(cluster.folder.parent, "latest") == cluster
    assert find_cluster_run(cluster.folder.parent, "x") is None


def test_nothing_measured_names_how_to_go_on(small: SmallCluster) -> None:
    """Jobs for Kubernetes are rendered, and no run follows them."""
    cluster = frozen(small)
    with pytest.raises(InputError, match=f"go on with: orchestrator run --resume {cluster.name} --results"):
        find_measured(cluster.folder.parent, "latest")

    kubernetes = replace(cluster.record().site, kubernetes=Pods("image", "claim", "queue", 1, "1Gi"))
    record = cluster.record().model_copy(update={"site": kubernetes})
    (cluster.folder / "cluster.json").write_text(record.model_dump_json(by_alias=True))
    with pytest.raises(InputError, match=f"go on with: orchestrator render k8s --resume {cluster.name} --results"):
        find_measured(cluster.folder.parent, "latest")


def test_options_that_a_run_has_settled_are_refused(small: SmallCluster) -> None:
    cluster = frozen(small)

    with pytest.raises(InputError, match="leave out --site, --replicate and --images"):
        resume(cluster, replace(small.resumed(), replicate=2), small.host())
    with pytest.raises(InputError, match="--resume goes on with the run's own plan"):
        resume(cluster, small.options(), small.host())
