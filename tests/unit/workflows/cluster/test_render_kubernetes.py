"""`render k8s`: a frozen run with its Jobs, and what is left of one."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from orchestrator.bundles.returns.results_manifest import MERGED
from orchestrator.clusters.folder import ClusterRun
from orchestrator.errors import InputError
from orchestrator.user_files import MountedData
from orchestrator.workflows.cluster.cancel import CancelOptions, cancel
from orchestrator.workflows.cluster.part import this_node
from orchestrator.workflows.cluster.render import RenderResult, render, unreachable
from orchestrator.workflows.cluster.run import resume, run
from orchestrator.workflows.inputs.cluster_runs import cluster_report
from orchestrator.workflows.option_values import RuntimeName
from tests.unit.reporting import synthetic
from tests.unit.workflows.cluster.small_cluster import SmallCluster

SITE = """\
version: 1
executor: kubernetes
kubernetes: {image: 'registry.example/orchestrator:1', claim: results, queue: bench, cpus: 4, memory: 8Gi}
"""


@pytest.fixture
def small(tmp_path: Path) -> SmallCluster:
    (tmp_path / "site.yaml").write_text(SITE)
    return SmallCluster(tmp_path)


def rendered(small: SmallCluster, **changes: Any) -> RenderResult:
    return render(replace(small.options(), **changes), small.host())


def parts_of(path: Path | None) -> list[str]:
    assert path
    arguments = [
        each["spec"]["template"]["spec"]["containers"][0]["args"] for each in yaml.safe_load_all(path.read_text())
    ]
    return [words[2] for words in arguments]


def test_every_part_has_a_job(small: SmallCluster) -> None:
    result = rendered(small)
    name = result.cluster.name

    assert result.path == result.cluster.folder / "kubernetes" / "jobs-1.yaml"
    assert parts_of(result.path) == [f"/results/{name}/parts/000", f"/results/{name}/parts/001"]
    assert [(each.part, each.groups, each.pods) for each in result.jobs] == [
        ("000", ("lenet-train-b200 on cpu",), 1), ("001", ("mlp-train-b32 on cpu",), 1),
    ]  # fmt: skip
    assert (result.claim, result.pythons) == ("results", ())
    assert result.cluster.record().options.runtime == "host"


def test_pods_make_environments_unless_told(small: SmallCluster) -> None:
    """A pod has no engine, so that `auto` means virtual environments, whose Pythons are named."""
    result = rendered(small, runtime=RuntimeName.AUTO)

    assert result.cluster.record().options.runtime == "venv"
    assert result.pythons == ("3.11",)


def test_what_is_left_is_rendered_again(small: SmallCluster) -> None:
    """Parts that a pod has measured are not measured again, and the first file stays."""
    first = rendered(small)
    small.measure(first.cluster, "000", "node1")
    second = render(small.resumed(resume="latest"), small.host())

    assert second.path == first.cluster.folder / "kubernetes" / "jobs-2.yaml"
    assert [Path(part).name for part in parts_of(second.path)] == ["001"]
    small.measure(first.cluster, "001", "node2")
    third = render(small.resumed(resume="latest"), small.host())
    assert (third.path, third.jobs) == (None, ())
    assert cluster_report(ClusterRun(first.cluster.folder)).problems == ()


def test_failed_parts_go_back_to_their_nodes(small: SmallCluster) -> None:
    """There the other figures of the part stay."""
    cluster = rendered(small).cluster
    small.measure(cluster, "000", "node1")
    small.measure(cluster, "001", "node2")
    outcome = next(cluster.folder.glob("parts/000/*/noop*/*/*/outcome.json"))
    outcome.write_text(outcome.read_text().replace('"status": "ok"', '"status": "timeout"'))

    result = render(small.resumed(resume="latest", retry_failed=True), small.host())
    assert result.path
    (job,) = yaml.safe_load_all(result.path.read_text())
    pod = job["spec"]["template"]["spec"]
    (preferred,) = pod["affinity"]["nodeAffinity"]["preferredDuringSchedulingIgnoredDuringExecution"]
    assert pod["containers"][0]["args"][-1] == "--retry-failed"
    assert preferred["preference"]["matchExpressions"] == [
        {"key": "kubernetes.io/hostname", "operator": "In", "values": ["node1"]}
    ]


def test_merged_runs_go_on_where_they_began(small: SmallCluster) -> None:
    cluster = rendered(small).cluster
    (cluster.folder / MERGED).touch()

    with pytest.raises(InputError, match="was merged from another host: go on there"):
        render(small.resumed(resume="latest"), small.host())


def test_a_pod_is_told_its_node(small: SmallCluster) -> None:
    host = small.host()
    named = type(host)({**host.environment, "ORCHESTRATOR_NODE": "node7"}, host.listener)

    assert this_node(named) == "node7"


@pytest.mark.parametrize(
    ("site", "changes", "messages"),
    [
        (SITE, {"runtime": RuntimeName.DOCKER}, ["a pod has no container engine"]),
        ("version: 1\nexecutor: local\n", {}, ["this site says `executor: local`"]),
        (None, {}, ["needs a site file with `executor: kubernetes`"]),
        (SITE, {"file": None, "resume": "latest"}, ["no run on a cluster 'latest'"]),
        (
            SITE.replace("cpus: 4", "cpus: 1"),
            {},
            ["part 000 needs 2 CPUs, and kubernetes.cpus says 1 CPU", "part 001 needs 2 CPUs"],
        ),
    ],
)
def test_mistakes_come_at_once(
    small: SmallCluster, site: str | None, changes: dict[str, Any], messages: list[str]
) -> None:
    (small.folder / "site.yaml").unlink()
    if site is not None:
        (small.folder / "site.yaml").write_text(site)
    with (small.folder / "matrix.yaml").open("a") as matrix:
        matrix.write("systems: {cpu: {cpus: 2}}\n")

    with pytest.raises(InputError) as refused:
        rendered(small, **changes)
    assert [said for said, expected in zip(refused.value.messages, messages, strict=True) if expected not in said] == []
    assert not list((small.folder / "results").glob("*/cluster.json"))


def test_no_pod_sees_files_of_a_host() -> None:
    plan = synthetic.plan([synthetic.cell(synthetic.MXNET)])
    data = MountedData("mnist", "idx", "/srv/mnist", (1, 28, 28), 10, 100, 10, ())

    assert unreachable(plan) == []
    assert unreachable(replace(plan, data=(data,))) == [
        "no pod sees the files of mnist: select cells with synthetic data"
    ]


def test_a_run_is_not_submitted_from_here(small: SmallCluster) -> None:
    with pytest.raises(InputError, match="write its Jobs by `render k8s`"):
        run(small.options(), rendered(small).cluster.record().site, small.host())
    cluster = rendered(small).cluster
    with pytest.raises(InputError, match="write its Jobs by `render k8s`"):
        resume(cluster, small.resumed(), small.host())
    with pytest.raises(InputError, match=f"kubectl delete jobs --selector framework-bench/run={cluster.name}"):
        cancel(CancelOptions(run=cluster.name, results=cluster.folder.parent), small.host())
    assert cluster.resume_command.startswith(f"orchestrator render k8s --resume {cluster.name} --results ")
