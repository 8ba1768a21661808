"""The news of a submitter that waits: the outcomes that have come, and where the jobs are."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from orchestrator.clusters.folder import ClusterRun
from orchestrator.clusters.record import plan_of
from orchestrator.clusters.states import JobState, SeenJob
from orchestrator.domain import Cell
from orchestrator.errors import InputError
from orchestrator.events import Notice, RepeatFinished, RunStarted
from orchestrator.results.container_answers import InvalidResultError
from orchestrator.results.results_folder import runs
from orchestrator.results.store import Run
from orchestrator.results.throughput import throughput
from orchestrator.running.order import is_final
from orchestrator.wording import counted, listing_of
from orchestrator.workflows.cluster.questions import SlurmAnswer
from orchestrator.workflows.cluster.submission import Submitter
from orchestrator.workflows.host.host import Host

MOST_NAMED = 3


class SeenOutcomes:
    """The outcomes that a submitter has already reported."""

    def __init__(self, run: ClusterRun) -> None:
        self._run = run
        self._cells: dict[str, tuple[Cell, ...]] = {}
        self._seen: dict[tuple[str, str], set[tuple[str, int]]] = {}

    def new(self, part: str) -> Iterator[tuple[Run, Cell, int]]:
        """Yield the repeats of a part that have come to a final outcome since the last time, of every node."""
        folder = self._run.part_folder(part)
        for run in runs(folder):
            if part not in self._cells:
                self._cells[part] = plan_of(self._run.part(part)).cells
            seen = self._seen.setdefault((part, run.name), set())
            for cell in self._cells[part]:
                for repeat in range(cell.repeats):
                    key = cell.id, repeat
                    if key not in seen and is_final(run.outcome(*key), retry_failed=False):
                        seen.add(key)
                        yield run, cell, repeat


@dataclass
class RunProgress:
    """The outcomes of a run that were told already, and the last line that was said."""

    submitter: Submitter
    host: Host
    _outcomes: SeenOutcomes = field(init=False)
    _said: str = ""

    def __post_init__(self) -> None:
        self._outcomes = SeenOutcomes(self.submitter.cluster)

    def begin(self) -> None:
        """Tell how much there is to measure, and how much of it is there already."""
        record = self.submitter.record
        done = sum(1 for part in record.parts for _ in self._outcomes.new(part.name))
        planned = record.site.replicate * sum(part.repeats for part in record.parts)
        self.host.listener(RunStarted(planned=max(0, planned - done), done=done))

    def tell(self, answer: SlurmAnswer) -> bool:
        """Tell the outcomes that have come, and where the jobs are. Return true if anything has changed."""
        changed = bool(answer.ends)
        for part in dict.fromkeys((*(part for part, job in answer.live.items() if job.node), *answer.ends)):
            for run, cell, repeat in self._outcomes.new(part):
                changed = True
                self._tell(run, cell, repeat)
        return self.say_once(_where(answer.live)) or changed

    def say_once(self, line: str) -> bool:
        """Report a line unless it is the last one that was reported. Return true if it is another."""
        if not line or line == self._said:
            return False
        self._said = line
        self.host.listener(Notice(line))
        return True

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


def _where(live: Mapping[str, SeenJob]) -> str:
    """Return where the jobs are, in one line, or nothing if there are none."""
    waits = [job for job in live.values() if job.state is JobState.PENDING]
    runs = sorted(job.node for job in live.values() if job.state is JobState.RUNNING)
    reasons = Counter(job.reason for job in waits if job.reason)
    why = f" ({', '.join(reason for reason, _ in reasons.most_common(2))})" if reasons else ""
    running = f"{counted(len(runs), 'part')} measured on {listing_of(runs, MOST_NAMED)}" if runs else ""
    waiting = f"{counted(len(waits), 'part')} waiting for a node{why}" if waits else ""
    return "; ".join(filter(None, (running, waiting)))
