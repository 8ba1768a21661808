"""`doctor --fleet` from outside: its text, its exit status and its refusals."""

from dataclasses import replace
from pathlib import Path

import pytest

from orchestrator.clusters.folder import ClusterRun
from orchestrator.workflows.cluster.run import ClusterResult
from orchestrator.workflows.fleet import check as workflow
from orchestrator.workflows.fleet.check import FleetResult
from tests.unit.cli.conftest import Program
from tests.unit.clusters.fake_slurm import FakeSlurm
from tests.unit.workflows.fleet.judged import JUDGED

TEXT = """\
noop-1-cpu/lenet-train-b200: 8 rounds; like nodes are −1.5 % to +1.5 % off the middle of the fleet
node              off the middle  interval
node3  unlike     −4.9 %          −5.4 % to −4.4 %
node2  undecided  −1.6 %          −2.2 % to −1.0 %
node1  like       +0.2 %          −0.2 % to +0.6 %
node4  left out   –               –

noop-1-cpu/mlp-train-b32: too few rounds or nodes are measured

Within a round, nodes began up to 5.00 s apart.
Of 3 nodes, node3 is unlike its sisters.
"""
MATRIX = "version: 1\nframeworks: [noop==1]\nmodels: [lenet]\nsteps: 10\n"


@pytest.fixture
def judged(monkeypatch: pytest.MonkeyPatch) -> None:
    result = FleetResult(ClusterResult(ClusterRun(Path("results/fleet/x")), is_detached=False), JUDGED)
    monkeypatch.setattr(workflow, "check", lambda *_: result)


@pytest.mark.usefixtures("judged")
def test_nodes_are_listed_from_the_slowest(command: Program) -> None:
    code, out, _ = command("doctor", "--fleet")

    assert (code, [line.rstrip() for line in out.splitlines()]) == (3, TEXT.splitlines())


def test_a_fleet_of_like_nodes_ends_with_0(command: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    run = ClusterResult(ClusterRun(Path("results/fleet/x")), is_detached=False)
    monkeypatch.setattr(workflow, "check", lambda *_: FleetResult(run, replace(JUDGED, unlike=())))

    assert command("doctor", "--fleet")[0] == 0


def test_a_detached_check_says_how_to_attach(command: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = FakeSlurm(tmp_path)
    fake.answers("sinfo", "node1|idle\nnode2|idle\nnode3|idle\n")
    fake.answers("sbatch", "12\n")
    monkeypatch.setenv("PATH", fake.environment["PATH"])
    (tmp_path / "matrix.yaml").write_text(MATRIX)
    code, out, error = command("doctor", "--fleet", "--node", "node[1-3]", "--rounds", "3", "--detach")

    assert code == 0, error
    results = tmp_path / "results" / "fleet"
    assert f"attach again with: orchestrator doctor --fleet --resume {out.strip()} --results {results}" in error
    assert len(fake.calls("sbatch")) == 9
    assert (results / out.strip() / "cluster.json").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--fleet", "--interference"), "two measurements: give one of them"),
        (("--node", "node1"), "go with --fleet"),
        (("--resume", "latest"), "go with --fleet"),
        (("--select", "x"), "choose cells of --interference and --fleet"),
        (("--fleet", "--detach", "--json"), "a detached check has none yet"),
        (("--fleet",), "name its site file with --site FILE, or --node NODE"),
    ],
)
def test_options_that_do_not_go_together(command: Program, words: tuple[str, ...], message: str) -> None:
    code, out, error = command("doctor", *words)

    assert (code, out) == (2, "")
    assert message in error
    assert len(error.splitlines()) == 1
