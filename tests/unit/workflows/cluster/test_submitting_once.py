"""Arrays that are submitted once and not again, whatever the scheduler says and whoever stops it meanwhile."""

import threading
from pathlib import Path

import pytest

from orchestrator.clusters.folder import ClusterRun
from orchestrator.clusters.ownership import FILE
from orchestrator.clusters.record import JobsRecord
from orchestrator.errors import HostError
from orchestrator.workflows.cluster.cancel import CancelOptions, cancel
from orchestrator.workflows.cluster.run import resume, run
from orchestrator.workflows.host.host import Host
from orchestrator.workflows.inputs.cluster_runs import cluster_report
from tests.unit.clusters.fake_slurm import FakeSlurm
from tests.unit.workflows.cluster.small_cluster import LENET, SLURM, SmallCluster, waits

AWAY = "sbatch: error: Batch job submission failed: Socket timed out on send/recv operation\n"
NEVER = "sbatch: error: QOSMaxWallDurationPerJobLimit\nsbatch: error: Job violates accounting/QOS policy\n"
CANCELS = """\
#!/bin/sh
echo "sbatch\t" >> "{calls}"
for path; do :; done
echo asked > "$(dirname "$(dirname "$path")")/cancelled"
touch "{calls}.stop"
echo 12
"""
"""An `sbatch` during which somebody cancels the run, or presses Ctrl-C."""


@pytest.fixture
def fake(tmp_path: Path) -> FakeSlurm:
    fake = FakeSlurm(tmp_path)
    fake.answers("sbatch", "12\n")
    fake.answers("squeue", "\n")
    return fake


@pytest.fixture
def small(tmp_path: Path, fake: FakeSlurm) -> SmallCluster:
    return SmallCluster(tmp_path, fake.environment)


@pytest.fixture
def _single_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each part is an array of its own."""
    monkeypatch.setattr("orchestrator.clusters.arrays.MOST_TASKS", 1)


def the_run(small: SmallCluster) -> ClusterRun:
    (path,) = (small.folder / "results").glob("*/cluster.json")
    return ClusterRun(path.parent)


def script_of(small: SmallCluster, number: int) -> Path:
    cluster = the_run(small)
    return cluster.folder / "submissions" / f"bench-{cluster.name}-{number}.sh"


def test_an_array_that_shows_late_is_taken_once(small: SmallCluster, fake: FakeSlurm) -> None:
    """The controller did not say that it has the array, and its queue shows it at the second look only."""
    fake.answers("sbatch", error=AWAY, call=1)

    def not_asked_yet() -> None:
        assert not fake.calls("squeue")

    def shown() -> None:
        path = script_of(small, 1)
        fake.answers("squeue", f"40|0|COMPLETED|node1|{path}|None\n40|1|COMPLETED|node2|{path}|None\n")

    waited, pause = waits(not_asked_yet, shown)
    result = run(small.options(), SLURM, small.host(), pause)
    assert (waited, len(fake.calls("sbatch"))) == ([10.0, 10.0], 1)
    assert [(each.parts, each.array) for each in result.cluster.jobs().submissions] == [(("000", "001"), 40)]


@pytest.mark.parametrize("detach", [False, True])
def test_an_array_that_was_given_up_is_cancelled(small: SmallCluster, fake: FakeSlurm, detach: bool) -> None:
    """It shows when another one stands for it, to its submitter or to a later one."""
    fake.answers("sbatch", error=AWAY, call=1)

    def shown() -> None:
        assert fake.calls("scancel") == []
        late, other = script_of(small, 1), script_of(small, 2)
        fake.answers("squeue", f"40|0|RUNNING|node1|{late}|None\n12|0|PENDING||{other}|None\n")

    steps = [lambda: None] * 2 if detach else [*[lambda: None] * 3, shown]
    run(small.options(detach=detach), SLURM, small.host(), waits(*steps)[1])
    assert [each.array for each in the_run(small).jobs().submissions] == [12]
    if detach:
        shown()
        resume(the_run(small), small.resumed(detach=True), small.host(), waits()[1])
    assert fake.calls("scancel") == [["40_0"]]
    assert any(line.startswith("cancelled: 40_0, shown too late by the scheduler") for line in small.said)


@pytest.mark.usefixtures("_single_parts")
@pytest.mark.parametrize("detach", [False, True])
def test_a_run_that_is_cancelled_meanwhile_has_no_jobs(small: SmallCluster, fake: FakeSlurm, detach: bool) -> None:
    """The one who cancels may ask for the queue before an array is in it."""
    (fake.folder / "sbatch").write_text(CANCELS.format(calls=fake.folder / "calls"))
    fake.answers("squeue", "12|0|PENDING||x.sh|None\n")

    def ended() -> None:
        fake.answers("squeue", "12|0|CANCELLED||x.sh|None\n")

    run(small.options(detach=detach), SLURM, small.host(), waits(ended)[1])
    assert len(fake.calls("sbatch")) == 1
    assert fake.calls("scancel") == [["12_0"]]
    assert "cancelled: 1 array will not be submitted" in small.said


@pytest.mark.usefixtures("_single_parts")
def test_nothing_is_submitted_after_an_interrupt(small: SmallCluster, fake: FakeSlurm) -> None:
    (fake.folder / "sbatch").write_text(CANCELS.format(calls=fake.folder / "calls"))
    pressed = fake.folder / "calls.stop"

    class Stop(threading.Event):
        def is_set(self) -> bool:
            return pressed.exists()

    host = small.host()
    result = run(small.options(), SLURM, Host(host.environment, host.listener, Stop()), lambda _: True)
    assert (len(fake.calls("sbatch")), result.stopped) == (1, True)


def test_cancel_asks_for_all_jobs_of_the_run(small: SmallCluster, fake: FakeSlurm) -> None:
    """Also for those that no record has."""
    cluster = run(small.options(detach=True), SLURM, small.host(), waits()[1]).cluster
    fake.answers(
        "squeue", "12|0|RUNNING|node1|x.sh|None\n12|1|COMPLETED|node1|x.sh|None\n40|0|RUNNING|node2|y.sh|None\n"
    )
    result = cancel(CancelOptions(run="latest", results=small.folder / "results"), small.host())

    assert f"--name=bench-{cluster.name}" in fake.calls("squeue")[-1]
    assert (result.jobs, fake.calls("scancel")) == (("12_0", "40_0"), [["12_0", "40_0"]])


def test_an_older_record_has_a_name_for_each_array(small: SmallCluster, fake: FakeSlurm) -> None:
    cluster = run(small.options(detach=True), SLURM, small.host(), waits()[1]).cluster
    jobs = cluster.jobs()
    cluster.write_jobs(JobsRecord(submissions=jobs.submissions))
    fake.answers("squeue", "12|0|FAILED|node1|x.sh|None\n12|1|RUNNING|node1|x.sh|None\n")
    fake.answers("sbatch", "13\n", call=2)
    resume(cluster, small.resumed(detach=True), small.host(), waits()[1])

    assert f"--name=bench-{cluster.name}-1" in fake.calls("squeue")[-1]
    assert f"#SBATCH --job-name=bench-{cluster.name}-2\n" in script_of(small, 2).read_text()


@pytest.mark.usefixtures("_single_parts")
def test_an_array_that_is_refused_holds_up_no_other(small: SmallCluster, fake: FakeSlurm) -> None:
    """The scheduler can never take it, and its parts say so."""
    fake.answers("sbatch", error=NEVER, call=1)
    fake.answers("squeue", "12|0|CANCELLED|node1|x.sh|None\n")
    result = run(small.options(), SLURM, small.host(), waits()[1])

    assert result.report
    reasons = {cell.cell.id: cell.repeats[0].outcome.reason for cell in result.report.cells}
    words = "QOSMaxWallDurationPerJobLimit: sbatch: error: Job violates accounting/QOS policy"
    assert reasons[LENET] == f"sbatch refuses {script_of(small, 1)}: {words}"
    assert [each.parts for each in result.cluster.jobs().submissions] == [("001",)]
    assert result.refusals == (reasons[LENET],)
    assert f"not submitted: {reasons[LENET]}" in small.said

    resume(result.cluster, small.resumed(detach=True), small.host(), waits()[1])
    assert result.cluster.jobs().refusals == {}
    assert "sbatch refuses" not in str(cluster_report(result.cluster).problems)


def test_another_host_takes_over_a_run(small: SmallCluster, fake: FakeSlurm) -> None:
    """The one that had it submits and writes nothing more."""
    fake.answers("squeue", "12|0|RUNNING|node1|x.sh|None\n12|1|RUNNING|node2|x.sh|None\n")

    def taken() -> None:
        (the_run(small).folder / FILE).write_text("login2\nanother-boot\nanother-token\n")
        fake.answers("squeue", "12|0|FAILED|node1|x.sh|None\n")

    with pytest.raises(HostError, match="the orchestrator on login2 follows this run now, so this one submits nothing"):
        run(small.options(), SLURM, small.host(), waits(taken)[1])
    assert the_run(small).jobs().ends == {}
    with pytest.raises(HostError, match=r"login2 follows this run, with a sign .* ago.*If it was killed, remove "):
        resume(the_run(small), small.resumed(), small.host(), waits()[1])


def test_a_run_is_left_to_any_host(small: SmallCluster) -> None:
    cluster = run(small.options(detach=True), SLURM, small.host(), waits()[1]).cluster

    assert not (cluster.folder / FILE).exists()
