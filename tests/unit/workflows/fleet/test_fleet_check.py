"""A fleet check on a fake of Slurm's commands. Its nodes are this host under several names."""

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from orchestrator.analysis.fleet import Likeness
from orchestrator.clusters.folder import ClusterRun, part_states
from orchestrator.clusters.record import JobEnd, plan_of
from orchestrator.clusters.states import JobState
from orchestrator.errors import HostError, InputError
from orchestrator.workflows.cluster.run import resume as resume_run
from orchestrator.workflows.fleet.check import check, rounds
from orchestrator.workflows.fleet.findings import NodeRound, compose, fleet_report
from orchestrator.workflows.fleet.options import FleetOptions
from orchestrator.workflows.inputs.cluster_runs import cluster_report
from orchestrator.workflows.option_values import RuntimeName
from tests.unit.clusters.fake_slurm import FakeSlurm
from tests.unit.workflows.cluster.small_cluster import LENET, MLP, SmallCluster, waits

NODES = ("node1", "node2", "node3")
LISTED = "node1|idle\nnode2|allocated\nnode3|mixed*\nnode1|idle\nnode4|drained\nnode5|down*\n"
SITE = "version: 1\nexecutor: slurm\npartition: compute\n"


@pytest.fixture
def fake(tmp_path: Path) -> FakeSlurm:
    fake = FakeSlurm(tmp_path)
    fake.answers("sinfo", LISTED)
    fake.answers("squeue", "\n")
    for call in range(1, 40):
        fake.answers("sbatch", f"{100 + call}\n", call=call)
    return fake


@pytest.fixture
def small(tmp_path: Path, fake: FakeSlurm) -> SmallCluster:
    (tmp_path / "site.yaml").write_text(SITE)
    return SmallCluster(tmp_path, fake.environment)


def options(small: SmallCluster, **changes: object) -> FleetOptions:
    settings: dict[str, object] = {"file": small.folder / "matrix.yaml", "rounds": 3, "detach": True, **changes}
    return FleetOptions(results=small.folder / "results", runtime=RuntimeName.HOST, idle_wait_s=0, **settings)  # type: ignore[arg-type]


def begun(small: SmallCluster, **changes: object) -> ClusterRun:
    return check(options(small, **changes), small.host(), waits()[1]).run.cluster


def test_every_round_is_a_job_on_each_node(small: SmallCluster, fake: FakeSlurm) -> None:
    cluster = begun(small, select=[MLP])
    record = cluster.record()

    assert cluster.folder.parent == small.folder / "results" / "fleet"
    assert [part.name[:3] for part in record.parts] == [f"0{number}-" for number in (1, 2, 3) for _ in NODES]
    assert [sorted(part.node for part in record.parts[at : at + 3]) for at in (0, 3, 6)] == [list(NODES)] * 3
    assert len(fake.calls("sbatch")) == 9
    scripts = [Path(call[-1]).read_text() for call in fake.calls("sbatch")]
    for part, text in zip(record.parts, scripts, strict=True):
        assert f"#SBATCH --nodelist={part.node}\n" in text
        assert f"set -- {part.name}\n" in text
    assert "left out, because the scheduler gives them no jobs: node4 and node5" in small.said


def test_a_round_measures_each_cell_once(small: SmallCluster) -> None:
    cluster = begun(small)
    part = cluster.record().parts[0]

    plan = plan_of(cluster.part(part.name))
    assert [(cell.id, cell.repeats) for cell in plan.cells] == [(LENET, 1), (MLP, 1)]
    assert not plan.parity


def test_rounds_have_orders_of_their_own(small: SmallCluster) -> None:
    nodes = [f"node{number}" for number in range(8)]
    plan = plan_of(begun(small).record())

    parts = list(rounds(plan, nodes, 4, 1.0))
    orders = [tuple(part.node for part in parts[at : at + 8]) for at in (0, 8, 16, 24)]
    assert len(set(orders)) == 4
    assert parts == list(rounds(plan, nodes, 4, 1.0))


def test_a_bound_on_nodes_keeps_rounds_in_order(small: SmallCluster, fake: FakeSlurm) -> None:
    """With two nodes at once, a job waits for the one before the last."""
    (small.folder / "site.yaml").write_text(f"{SITE}nodes_at_once: 2\n")
    begun(small)

    waited_for = [[word for word in call if word.startswith("--dependency")] for call in fake.calls("sbatch")]
    assert waited_for == [[], [], *([f"--dependency=afterany:{100 + earlier}"] for earlier in range(1, 8))]


def test_nodes_may_be_named_without_a_site(small: SmallCluster, fake: FakeSlurm) -> None:
    (small.folder / "site.yaml").unlink()
    begun(small, nodes=["node[1-3]", "node5"], detach=False)

    (call,) = fake.calls("sinfo")
    assert call == ["--noheader", "--Node", "--format=%N|%T", "--nodes=node[1-3],node5"]


@pytest.mark.parametrize("changes", [{"nodes": ["node[1-3]"]}, {}])
def test_named_nodes_may_have_a_constraint(small: SmallCluster, changes: dict[str, object]) -> None:
    """By the command, or by the site file."""
    listed = "" if changes else "sbatch: {nodelist: 'node[1-3]'}\n"
    (small.folder / "site.yaml").write_text(f"{SITE}constraint: h100\n{listed}")

    assert {part.node for part in begun(small, **changes).record().parts} == set(NODES)


def test_excluded_nodes_are_left_out(small: SmallCluster, fake: FakeSlurm) -> None:
    (small.folder / "site.yaml").write_text(f"{SITE}sbatch: {{exclude: 'node[5,6]'}}\n")
    fake.answers("sinfo", "".join(f"node{number}|idle\n" for number in range(1, 7)), call=1)
    fake.answers("sinfo", "node5|idle\nnode6|idle\n", call=2)
    cluster = begun(small)

    assert {part.node for part in cluster.record().parts} == {"node1", "node2", "node3", "node4"}


def test_a_check_comes_to_its_report(small: SmallCluster, fake: FakeSlurm) -> None:
    """Every node measures every round, as an ordinary run, and the check is judged once all are there."""
    cluster = begun(small, select=[MLP])
    parts = cluster.record().parts
    left = next(part for part in parts if part.node == "node3")
    for part in parts:
        if part is not left:
            small.measure(cluster, part.name, part.node)
    assert [state.part.name for state in part_states(cluster, cluster.record()) if state.missing] == [left.name]

    small.measure(cluster, left.name, "node3")
    fake.answers("squeue", "".join(f"{101 + at}|0|COMPLETED|{part.node}|b|None\n" for at, part in enumerate(parts)))
    again = check(options(small, file=None, detach=False, resume="latest"), small.host(), waits()[1])
    assert len(fake.calls("sbatch")) == len(parts)  # nothing was left to submit
    assert again.report
    (cell,) = again.report.cells
    assert (cell.cell_id, cell.rounds, cell.left_out) == (MLP, 3, ())
    assert [node.node for node in cell.nodes] == list(NODES)
    assert again.report == fleet_report(cluster)
    assert len(list(cluster.folder.glob("parts/*/node*/run.json"))) == 9


def test_a_resumed_check_submits_what_is_left(small: SmallCluster, fake: FakeSlurm) -> None:
    cluster = begun(small, select=[MLP])
    parts = cluster.record().parts
    small.measure(cluster, parts[4].name, parts[4].node)
    ended = "".join(f"{101 + number}|0|NODE_FAIL|{part.node}|b|None\n" for number, part in enumerate(parts))
    fake.answers("squeue", ended)
    check(options(small, file=None, resume=cluster.name[:10]), small.host(), waits()[1])

    submitted = [each.parts for each in cluster.jobs().submissions]
    assert submitted[9:] == [(part.name,) for part in parts if part is not parts[4]]


def test_a_check_is_no_run_of_a_matrix(small: SmallCluster) -> None:
    """Its parts have the same cells, of which a report would show one."""
    cluster = begun(small)
    remedy = f"orchestrator doctor --fleet --resume {cluster.name} --results {cluster.folder.parent}"

    for act in (cluster_report, lambda run: resume_run(run, small.resumed(), small.host())):
        with pytest.raises(InputError, match="is a fleet check, and no run of a matrix") as refused:
            act(cluster)
        assert remedy in str(refused.value)


@pytest.mark.parametrize(
    ("site", "changes", "message"),
    [
        ("version: 1\nexecutor: local\n", {"detach": False}, "says `executor: local`"),
        (None, {"detach": False}, "name its site file with --site FILE, or --node NODE"),
        (f"{SITE}results: {{on_nodes: /local/bench}}\n", {}, "leave out `on_nodes` of the site"),
        (f"{SITE}constraint: h100\n", {}, "cannot tell which nodes have `constraint: h100`: name them with --node"),
        (f"{SITE}reservation: night\n", {}, "cannot tell which nodes have `reservation: night`: name them with --node"),
        (SITE, {"rounds": 2}, "--rounds 2: a fleet check needs 3 rounds"),
        (SITE, {"select": ["x*"]}, "x*"),
        (SITE, {"file": None, "resume": "latest"}, "no fleet check 'latest'"),
        (SITE, {"file": None, "resume": "latest", "nodes": ["node1"]}, "leave out --site and --node"),
    ],
)
def test_a_mistake_has_one_line(
    small: SmallCluster, site: str | None, changes: dict[str, object], message: str
) -> None:
    (small.folder / "site.yaml").unlink()
    if site is not None:
        (small.folder / "site.yaml").write_text(site)

    with pytest.raises(InputError) as refused:
        check(options(small, **changes), small.host(), waits()[1])
    assert message in str(refused.value)


def test_too_many_cells_are_refused(small: SmallCluster) -> None:
    sizes = "models: [{name: mlp, batch_size: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13]}]"
    matrix = (small.folder / "matrix.yaml").read_text().replace("models: [lenet, mlp]", sizes)
    (small.folder / "matrix.yaml").write_text(matrix)

    with pytest.raises(InputError, match="takes 1 to 12 short cells, and 13 are planned: choose with --select"):
        check(options(small), small.host(), waits()[1])


def test_two_nodes_are_no_fleet(small: SmallCluster, fake: FakeSlurm) -> None:
    fake.answers("sinfo", "node1|idle\nnode2|idle\nnode3|down\n", call=1)

    with pytest.raises(HostError, match=r"needs 3 nodes, and 2 nodes \(node1 and node2\) would take its jobs"):
        check(options(small), small.host(), waits()[1])


def planted(effects: Sequence[float], count: int = 8) -> dict[str, list[NodeRound]]:
    """Return rounds of nodes that are slower by these shares at the first of two cells."""
    generator = np.random.default_rng(1)
    noise = generator.normal(0, 0.003, (len(effects), count, 2))
    return {
        f"node{number}": [
            NodeRound(
                f"node{number}",
                {LENET: 100 * (1 - effect) * math.exp(one), MLP: 900 * math.exp(other)},
                f"2026-11-21T1{at}:00:{number:02}Z",
            )
            for at, (one, other) in enumerate(noise[number])
        ]
        for number, effect in enumerate(effects)
    }


def test_a_slow_node_is_named_with_its_interval(small: SmallCluster) -> None:
    record = begun(small).record()
    report = compose(record, plan_of(record).cells, planted([0, 0, 0.05, 0, 0, 0]))

    assert (report.unlike, report.undecided) == (("node2",), ())
    assert report.sentence == "Of 6 nodes, node2 is unlike its sisters."
    lenet, mlp = report.cells
    (slow,) = [each for each in lenet.nodes if each.likeness is Likeness.UNLIKE]
    assert slow.low < 0.95 < slow.high < (lenet.low or 0)
    assert {each.likeness for each in mlp.nodes} == {Likeness.LIKE}
    assert report.notes == ("Within a round, nodes began up to 5.00 s apart.",)


def test_what_a_node_lacks_is_said(small: SmallCluster) -> None:
    record = begun(small).record()
    end = str(JobEnd("12_0", JobState.NODE_FAIL, "node1"))
    rounds = planted([0] * 5)
    rounds["node1"][6:] = [NodeRound("node1", {}, end=end)] * 2
    rounds["node3"][2] = replace(rounds["node3"][2], disturbed=1, rates={MLP: 900.0})
    report = compose(record, plan_of(record).cells, rounds)

    assert [cell.rounds for cell in report.cells] == [5, 6]
    assert report.notes[1:] == (
        "node1 lacks figures in 2 of 8 rounds: the scheduler ended job 12_0 on node1: NODE_FAIL.",
        "node3 lacks figures in 1 of 8 rounds.",
        "node3: 1 repeat disturbed by something else, not counted.",
    )
    assert report.sentence == "None of 5 nodes is unlike the others."


def test_nothing_measured_says_nothing(small: SmallCluster) -> None:
    report = fleet_report(begun(small))

    assert report.sentence == "Nothing can be said: 3 nodes with 3 rounds in common are needed."
    assert [cell.left_out for cell in report.cells] == [NODES] * 2
