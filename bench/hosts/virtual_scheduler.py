"""A stand-in for a scheduler, whose jobs end by a virtual clock, and which counts the questions it is asked."""

import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from orchestrator.clusters.arrays import JobArray
from orchestrator.clusters.folder import ClusterRun
from orchestrator.clusters.images import FrozenImages
from orchestrator.clusters.ownership import claim, this_host
from orchestrator.clusters.parts import NodeNeeds, Part
from orchestrator.clusters.record import ClusterRecord, PartRecord, PartSettings
from orchestrator.clusters.site import Executor, Site
from orchestrator.clusters.slurm import Slurm
from orchestrator.clusters.states import JobState, SeenJob
from orchestrator.domain import Plan
from orchestrator.events import Event
from orchestrator.results.records import plan_to_json
from orchestrator.workflows.cluster import cancelled
from orchestrator.workflows.cluster.follow import Follower
from orchestrator.workflows.cluster.submission import Submitter
from orchestrator.workflows.host.host import Host

HOUR_S = 3600.0
_ARRAY = 1
_SETTINGS = PartSettings(
    runtime="host",
    jobs=1,
    fail_fast=False,
    retries=0,
    extra_repeats=0,
    idle_wait_s=0,
    prune_images=False,
    exclusive=False,
)


@dataclass
class VirtualScheduler(Slurm):
    """A scheduler without a cluster. One job begins after the other, and the last of them ends with the hour."""

    jobs: int
    lasts_s: float = 60.0
    """Of each job."""
    now_s: float = 0.0
    asked_at_s: list[float] = field(default_factory=list)
    names: list[str] = field(default_factory=list)

    @property
    def keeps_accounts(self) -> bool:
        """There is nothing that a controller could forget."""
        return False

    def submit(self, script: Path, after: Sequence[int] = ()) -> int:  # noqa: ARG002 -- it takes one array
        """Take an array."""
        self.names.append(script.stem)
        return _ARRAY

    def queue(self, names: Sequence[str]) -> tuple[SeenJob, ...]:
        """Show all jobs, and note the question."""
        self.asked_at_s.append(self.now_s)
        return tuple(self._seen(index) for index in range(self.jobs) if self.names[0].startswith(names[0]))

    def history(self, arrays: Sequence[int]) -> tuple[SeenJob, ...]:
        """Note the question, if there is one; nothing was forgotten."""
        self.asked_at_s += [self.now_s] * bool(arrays)
        return ()

    def cancel(self, jobs: Sequence[str]) -> None:
        """Note the question, if there is one."""
        self.asked_at_s += [self.now_s] * bool(jobs)

    def pause(self, seconds: float) -> bool:
        """Let the time pass."""
        self.now_s += seconds
        return False

    def _seen(self, index: int) -> SeenJob:
        begins_s = (HOUR_S - self.lasts_s) * index / (self.jobs - 1)
        if self.now_s < begins_s:
            return SeenJob(_ARRAY, index, JobState.PENDING, "", self.names[0])
        state = JobState.COMPLETED if self.now_s >= begins_s + self.lasts_s else JobState.RUNNING
        return SeenJob(_ARRAY, index, state, f"node{index}", self.names[0])


def questions_in_an_hour(jobs: int) -> list[float]:
    """Follow a run of so many jobs to its end, and return the virtual seconds of every question to the scheduler."""
    names = tuple(f"{number:04}" for number in range(jobs))
    nothing = plan_to_json(Plan("nothing", 0, (), (), ()))
    site = Site(Executor.SLURM)
    parts = tuple(Part(name, (), 1, HOUR_S, NodeNeeds()) for name in names)
    scheduler = VirtualScheduler(jobs)
    with tempfile.TemporaryDirectory(prefix="bench-queries-") as folder:
        cluster = ClusterRun(Path(folder))
        record = ClusterRecord(
            run="queries",
            created_at="",
            orchestrator_version="",
            site=site,
            options=_SETTINGS,
            parts=parts,
            plan=nothing,
        )
        cluster.create(
            record,
            ((part, Plan("nothing", 0, (), (), ())) for part in parts),
            lambda name, _: PartRecord(
                run="queries", part=name, replicate=1, images=FrozenImages(), options=_SETTINGS, plan=nothing
            ),
        )
        submitter = Submitter(cluster, record, scheduler, (), print, claim(cluster.folder, this_host()))
        submitter.waiting.append(JobArray(names, 60, NodeNeeds()))
        host = Host(dict(os.environ), _unheard)
        follower = Follower(submitter, host, scheduler.pause, cancelled.watch(cluster.folder))
        if not follower.follow() or len(submitter.jobs.ends) != jobs:
            raise RuntimeError(f"{len(submitter.jobs.ends)} of {jobs} jobs came to an end")
    return scheduler.asked_at_s


def _unheard(event: Event) -> None:
    """Hear what happens, and do nothing."""
