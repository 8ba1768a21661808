"""The wait for the jobs of a run, with one question to the scheduler at a time."""

from collections.abc import Callable
from dataclasses import dataclass, field

from orchestrator.wording import counted, listing_of
from orchestrator.workflows.cluster.cancelled import Cancellation
from orchestrator.workflows.cluster.progress import MOST_NAMED, RunProgress
from orchestrator.workflows.cluster.questions import Questions, SlurmAnswer
from orchestrator.workflows.cluster.submission import Submitter
from orchestrator.workflows.host.host import Host

POLL_S = 10.0
"""Least time between two questions to the scheduler, whatever the number of jobs."""
LONGEST_POLL_S = 60.0
_BACK_OFF = 1.5

Pause = Callable[[float], bool]
"""Waits so many seconds, and returns true as soon as all must end."""


@dataclass
class Follower:
    """One submitter of a run, from its first question to the end of all jobs."""

    submitter: Submitter
    host: Host
    pause: Pause
    cancellation: Cancellation
    _questions: Questions = field(init=False)
    _progress: RunProgress = field(init=False)
    _attached: SlurmAnswer | None = None
    """The answer that `attach` had."""

    def __post_init__(self) -> None:
        self._questions = Questions(self.submitter, self.host.say, self.cancellation.is_asked)
        self._progress = RunProgress(self.submitter, self.host)

    def attach(self) -> set[str] | None:
        """Return the parts that have a live job, from an earlier submitter. None if all must end before that is known.

        Ends of jobs that nobody has seen are written down.
        """
        if not self.submitter.jobs.submissions:
            return set()
        while True:
            answer = self._questions.ask()
            if answer is not None and not answer.is_open and not self.submitter.is_unsure:
                self._attached = answer
                return set(answer.live)
            if self.pause(POLL_S):
                return None

    def submitted(self) -> bool:
        """Submit what waits until nothing does, and return true unless all must end before, or the run is cancelled."""
        while True:
            self._submit()
            is_cancelled = self.cancellation.is_asked()
            if not (self.submitter.waiting or self.submitter.is_unsure or is_cancelled):
                return True
            if is_cancelled and self._questions.ask() is not None and not self.submitter.is_unsure:
                return False
            if self.pause(POLL_S):
                return False
            if self.submitter.is_unsure and not is_cancelled:
                self._questions.ask()

    def follow(self) -> bool:
        """Wait for the end of every job, and return true unless all must end before."""
        self._progress.begin()
        delay, answer = POLL_S, self._attached
        while True:
            taken = self._submit()
            if answer is None and not self._has_just_gone_away():
                answer, taken = self._questions.ask(), 0
            changed = self._progress.tell(answer) if answer is not None else False
            if answer is not None and not taken and self._is_over(answer):
                return True
            is_unsure = self.submitter.is_unsure or (answer is not None and answer.is_open)
            delay = POLL_S if changed or taken or is_unsure else min(delay * _BACK_OFF, LONGEST_POLL_S)
            answer = None
            if self.pause(delay):
                return False

    def _is_over(self, answer: SlurmAnswer) -> bool:
        return not (answer.live or answer.is_open or self.submitter.waiting or self.submitter.is_unsure)

    def _has_just_gone_away(self) -> bool:
        """Return true if the scheduler did not say whether it took an array. Its queue may not show that one yet."""
        return self.submitter.is_unsure and bool(self.submitter.held_back)

    def _submit(self) -> int:
        """Submit what waits, unless the run is cancelled, and return the number of arrays that were taken."""
        taken = self.submitter.submit()
        if taken:
            ids = [f"{each.array}" for each in self.submitter.jobs.submissions if each.array is not None]
            self.host.say(f"submitted: job {listing_of(ids[-taken:], MOST_NAMED)}")
        if self.cancellation.is_asked():
            if self.submitter.waiting:
                self.host.say(f"cancelled: {counted(len(self.submitter.waiting), 'array')} will not be submitted")
            self.submitter.waiting.clear()
        elif self.submitter.held_back:
            self._progress.say_once(f"the scheduler takes no more for now: {self.submitter.held_back}")
        return taken
