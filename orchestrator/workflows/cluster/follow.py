"""The wait for the jobs of a run, with one question to the scheduler at a time."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

from orchestrator.clusters.folder import LOGS, SeenOutcomes
from orchestrator.clusters.following import JobsSeen, look, remembered, with_status
from orchestrator.clusters.record import JobEnd
from orchestrator.clusters.states import JobState, SeenJob, read_log
from orchestrator.domain import Cell
from orchestrator.errors import InputError
from orchestrator.events import Notice, RepeatFinished, RunStarted
from orchestrator.processes import last_line, tail
from orchestrator.results.container_answers import InvalidResultError
from orchestrator.results.store import Run
from orchestrator.results.throughput import throughput
from orchestrator.wording import counted, listing_of
from orchestrator.workflows.cluster.cancelled import Cancellation
from orchestrator.workflows.cluster.submission import Submitter
from orchestrator.workflows.host.host import Host

POLL_S = 10.0
"""Least time between two questions to the scheduler, whatever the number of jobs."""
LONGEST_POLL_S = 60.0
_BACK_OFF = 1.5
_MOST_NAMED = 3

Pause = Callable[[float], bool]
"""Waits so many seconds, and returns true as soon as all must end."""


@dataclass
class Follower:
    """One submitter of a run, from its first question to the end of all jobs."""

    submitter: Submitter
    host: Host
    pause: Pause
    cancellation: Cancellation
    _outcomes: SeenOutcomes = field(init=False)
    _last: dict[str, SeenJob] = field(default_factory=dict)
    """The job of each part as it was seen last."""
    _missed: dict[str, str] = field(default_factory=dict)
    """The jobs of parts that the last look did not show."""
    _said: str = ""
    _is_away: bool = False

    def __post_init__(self) -> None:
        self._outcomes = SeenOutcomes(self.submitter.cluster)

    def attach(self) -> set[str] | None:
        """Return the parts that have a live job, from an earlier submitter. None if all must end before that is known.

        Ends of jobs that nobody has seen are written down.
        """
        if not self.submitter.jobs.submissions:
            return set()
        while True:
            seen = self._look()
            if seen is not None and not seen.vanished:
                return set(seen.live)
            if self.pause(POLL_S):
                return None

    def submitted(self) -> bool:
        """Submit what waits until nothing does, and return true unless all must end before."""
        while True:
            self._submit()
            if not self.submitter.waiting and not self.submitter.is_unsure:
                return True
            if self.pause(POLL_S):
                return False
            if self.submitter.is_unsure:
                self._look()

    def follow(self) -> bool:
        """Wait for the end of every job, and return true unless all must end before."""
        self._begin()
        delay = POLL_S
        while True:
            self._submit()
            seen = self._look()
            changed = self._report(seen) if seen is not None else False
            unsure = self.submitter.is_unsure or (seen is not None and seen.vanished)
            if seen is not None and not (seen.live or self.submitter.waiting or unsure):
                return True
            delay = POLL_S if changed or unsure else min(delay * _BACK_OFF, LONGEST_POLL_S)
            if self.pause(delay):
                return False

    def _begin(self) -> None:
        """Tell how much there is to measure, and how much of it is there already."""
        record = self.submitter.record
        done = sum(1 for part in record.parts for _ in self._outcomes.new(part.name))
        planned = record.site.replicate * sum(part.repeats for part in record.parts)
        self.host.listener(RunStarted(planned=max(0, planned - done), done=done))

    def _submit(self) -> None:
        if self.submitter.waiting and self.cancellation.is_asked():
            self.host.say(f"cancelled: {counted(len(self.submitter.waiting), 'array')} will not be submitted")
            self.submitter.waiting.clear()
        if taken := self.submitter.submit():
            ids = [f"{each.array}" for each in self.submitter.jobs.submissions[-taken:]]
            self.host.say(f"submitted: job {listing_of(ids, _MOST_NAMED)}")
        if self.submitter.refused:
            self._say_once(f"the scheduler takes no more for now: {self.submitter.refused}")

    def _look(self) -> JobsSeen | None:
        """Ask the scheduler for all jobs, once. None if its controller is away.

        A job that it does not show for the first time is left open: what it shows may lag behind.
        """
        queue = self.submitter.slurm.queue(self.submitter.names)
        if queue is None:
            if not self._is_away:
                self.host.say("the scheduler does not answer; its jobs go on, and it is asked again")
            self._is_away = True
            return None
        self._is_away = False
        self.submitter.settle(queue)
        seen = look(self.submitter.jobs, queue)
        ends = dict(seen.ends)
        gone = {part: job for part, job in seen.vanished.items() if self._missed.get(part) == job.id}
        if gone:
            arrays = sorted({job.array for job in gone.values()})
            ends |= remembered(gone, self.submitter.slurm.history(arrays), self._last)
        missed = {part: job for part, job in seen.vanished.items() if part not in gone}
        self._missed = {part: job.id for part, job in missed.items()}
        self.submitter.slurm.cancel(seen.held)
        ends = self._explained(ends)
        self.submitter.ended(ends)
        self._last |= seen.live
        for end in _unusual(ends.values()):
            self.host.say(self.submitter.record.sentence_of(end))
        return JobsSeen(seen.live, ends, missed, seen.held)

    def _explained(self, ends: Mapping[str, JobEnd]) -> dict[str, JobEnd]:
        """Return ends of which the queue says too little with what is known besides."""
        if not self.submitter.record.site.on_nodes:
            return {part: self._by_log(end) for part, end in ends.items()}
        failed = [end.job for end in ends.values() if end.state is JobState.FAILED]
        statuses = self.submitter.slurm.exit_statuses(failed) if failed else {}
        return {part: with_status(end, statuses.get(end.job)) for part, end in ends.items()}

    def _by_log(self, end: JobEnd) -> JobEnd:
        """Return an end with what the log of the job says of it."""
        if end.state not in {JobState.FAILED, JobState.FORGOTTEN}:
            return end
        log = tail(self.submitter.cluster.folder / LOGS / f"{end.job}.log")
        state, node = read_log(log)
        if end.state is JobState.FORGOTTEN:
            return replace(end, state=state or end.state, node=end.node or node)
        if state is JobState.TIMEOUT:
            return replace(end, state=state, detail="")
        return replace(end, detail=last_line(log) or end.detail)

    def _report(self, seen: JobsSeen) -> bool:
        """Tell the outcomes that have come, and where the jobs are. Return true if anything has changed."""
        changed = bool(seen.ends)
        for part in dict.fromkeys((*(part for part, job in seen.live.items() if job.node), *seen.ends)):
            for run, cell, repeat in self._outcomes.new(part):
                changed = True
                self._tell(run, cell, repeat)
        waits = [job for job in seen.live.values() if job.state is JobState.PENDING]
        runs = sorted(job.node for job in seen.live.values() if job.state is JobState.RUNNING)
        return self._say_once(_where(runs, waits)) or changed

    def _tell(self, run: Run, cell: Cell, repeat: int) -> None:
        outcome = run.outcome(cell.id, repeat)
        if outcome is None:
            return
        try:
            result = None if cell.script else run.result(outcome)
        except (InvalidResultError, InputError):
            result = None
        reached = throughput(result, epochs=cell.duration.epochs is not None) if result else None
        self.host.listener(RepeatFinished(outcome, reached))

    def _say_once(self, line: str) -> bool:
        """Report a line unless it is the last one that was reported. Return true if it is another."""
        if not line or line == self._said:
            return False
        self._said = line
        self.host.listener(Notice(line))
        return True


def _unusual(ends: Iterable[JobEnd]) -> Iterable[JobEnd]:
    """Return the ends that a person should know of."""
    return (end for end in ends if end.state is not JobState.COMPLETED)


def _where(runs: list[str], waits: list[SeenJob]) -> str:
    """Return where the jobs are, in one line, or nothing if there are none."""
    reasons = Counter(job.reason for job in waits if job.reason)
    why = f" ({', '.join(reason for reason, _ in reasons.most_common(2))})" if reasons else ""
    running = f"{counted(len(runs), 'part')} measured on {listing_of(runs, _MOST_NAMED)}" if runs else ""
    waiting = f"{counted(len(waits), 'part')} waiting for a node{why}" if waits else ""
    return "; ".join(filter(None, (running, waiting)))
