"""The questions of a submitter to the scheduler, one at a time, and what their answers say of its jobs."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from orchestrator.clusters.folder import LOGS
from orchestrator.clusters.following import look, remembered, with_status
from orchestrator.clusters.record import JobEnd
from orchestrator.clusters.slurm import NoAnswerError
from orchestrator.clusters.states import JobState, SeenJob, read_log
from orchestrator.errors import HostError
from orchestrator.processes import last_line, tail
from orchestrator.workflows.cluster.submission import Submitter

MOST_UNANSWERED = 6
"""Questions to the accounts without an answer, after which the jobs count as forgotten. It takes some minutes."""


@dataclass(frozen=True, slots=True)
class SlurmAnswer:
    """The jobs of a run by the latest answers of the scheduler."""

    live: Mapping[str, SeenJob]
    """The job of each part that has one."""
    ends: Mapping[str, JobEnd]
    """The last jobs of parts whose end was not known before."""
    is_open: bool
    """The end of a job is still to be asked for."""


@dataclass
class Questions:
    """The questions of a submitter: for the queue, and sometimes another one in place of it.

    `ask` never asks two questions, so that the pauses of its caller bound how often the scheduler is asked.
    """

    submitter: Submitter
    say: Callable[[str], object]
    is_cancelled: Callable[[], bool]
    """Returns true if the jobs of the run are to be cancelled, those too that the queue shows late."""
    _live: Mapping[str, SeenJob] = field(default_factory=dict)
    _last: dict[str, SeenJob] = field(default_factory=dict)
    """The job of each part as it was seen last."""
    _missed: dict[str, str] = field(default_factory=dict)
    """The jobs of parts that the last look did not show."""
    _gone: dict[str, SeenJob] = field(default_factory=dict)
    """The jobs of parts that the controller has forgotten, and that the accounts are to be asked for."""
    _failed: dict[str, JobEnd] = field(default_factory=dict)
    """The ends of parts whose exit status is to be asked for."""
    _unanswered: int = 0
    _is_away: bool = False

    def ask(self) -> SlurmAnswer | None:
        """Ask the next question. None if the scheduler does not answer."""
        try:
            answer = self._ask()
        except NoAnswerError as error:
            if not self._is_away:
                self.say(f"the scheduler does not answer ({error}); its jobs go on, and it is asked again")
            self._is_away = True
            return None
        self._is_away = False
        return answer

    def _ask(self) -> SlurmAnswer:
        self.submitter.owned.confirm()
        if self._gone:
            return self._ask_accounts()
        return self._ask_statuses() if self._failed else self._ask_queue()

    def _ask_queue(self) -> SlurmAnswer:
        """Ask for all jobs. One that is not shown for the first time is left open: what is shown may lag behind."""
        submitter = self.submitter
        queue = submitter.slurm.queue(submitter.jobs.names)
        submitter.settle(queue)
        seen = look(submitter.jobs, queue)
        live = [job.id for job in queue if job.state.is_live] if self.is_cancelled() else []
        self._cancel(dict.fromkeys((*seen.held, *seen.unknown, *live)), given_up=seen.unknown)
        gone = {part: job for part, job in seen.vanished.items() if self._missed.get(part) == job.id}
        self._missed = {part: job.id for part, job in seen.vanished.items() if part not in gone}
        self._live, ends = seen.live, dict(seen.ends)
        if submitter.slurm.keeps_accounts:
            self._gone = gone
        else:
            ends |= remembered(gone, (), self._last)
        if submitter.record.site.on_nodes:
            self._failed = {part: end for part, end in ends.items() if end.state is JobState.FAILED}
        return self._answer({part: end for part, end in ends.items() if part not in self._failed})

    def _ask_accounts(self) -> SlurmAnswer:
        """Ask for the ends of the jobs that the controller has forgotten."""
        arrays = sorted({job.array for job in self._gone.values()})
        accounts: Sequence[SeenJob] = ()
        try:
            accounts = self.submitter.slurm.history(arrays)
        except NoAnswerError:
            self._unanswered += 1
            if self._unanswered < MOST_UNANSWERED:
                raise
        ends, self._gone, self._unanswered = remembered(self._gone, accounts, self._last), {}, 0
        return self._answer(ends)

    def _ask_statuses(self) -> SlurmAnswer:
        """Ask for the exit statuses of failed jobs, whose logs are on their nodes."""
        statuses = self.submitter.slurm.exit_statuses([end.job for end in self._failed.values()])
        ends = {part: with_status(end, statuses.get(end.job)) for part, end in self._failed.items()}
        self._failed = {}
        return self._answer(ends)

    def _answer(self, ends: Mapping[str, JobEnd]) -> SlurmAnswer:
        """Write down how jobs ended, and return what is known now."""
        if not self.submitter.record.site.on_nodes:
            ends = {part: self._by_log(end) for part, end in ends.items()}
        self.submitter.ended(dict(ends))
        self._last |= self._live
        for end in _unusual(ends.values()):
            self.say(self.submitter.record.sentence_of(end))
        return SlurmAnswer(self._live, ends, is_open=bool(self._missed or self._gone or self._failed))

    def _cancel(self, jobs: Iterable[str], given_up: Sequence[str]) -> None:
        """Cancel jobs that wait for ever, that stand for others, or that nobody wants any more."""
        if given_up:
            self.say(f"cancelled: {', '.join(given_up)}, shown too late by the scheduler, and given up before")
        try:
            self.submitter.slurm.cancel(list(jobs))
        except HostError as error:
            self.say(str(error))

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


def _unusual(ends: Iterable[JobEnd]) -> Iterable[JobEnd]:
    """Return the ends that a person should know of."""
    return (end for end in ends if end.state is not JobState.COMPLETED)
