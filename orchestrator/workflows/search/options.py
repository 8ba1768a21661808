"""The options of a search and its result."""

from dataclasses import dataclass
from pathlib import Path

from orchestrator.regression.search.earlier_record import EarlierBisection
from orchestrator.regression.search.record import Bisection
from orchestrator.workflows import option_values
from orchestrator.workflows.measure.pair import SourceOptions
from orchestrator.workflows.option_values import RuntimeName


@dataclass(frozen=True, kw_only=True)
class SearchOptions(SourceOptions):
    """The options of `search`.

    With `resume` a search goes on with its own question. Then only `results`, `jobs`, `idle_wait_s`, `images`,
    `exclusive` and `retry_failed` may differ from their defaults.
    """

    good: str | None = None
    """A release from before the change, as in `mxnet==1.2.0`."""
    bad: str | None = None
    """A later release, which shows the change."""
    cell: str | None = None
    """A glob of the one cell that shows it, as in `lenet-train-b200`."""
    metric: str | None = None
    """The metric that changed, as in `latency_p50=3%`. By default the throughput, or the one figure of a script."""
    every: bool = False
    """True to find every change between the two, in place of the first."""
    file: Path | None = None
    """The matrix. By default `matrix.yaml` in the working folder, or else the one that ships with the program."""
    max_blocks: int | None = None
    """Most blocks of a release and the next one, in place of 52."""
    prereleases: bool = False
    """True to search alpha, beta, candidate and development releases too."""
    yanked: bool = False
    """True to search withdrawn releases too."""
    runtime: RuntimeName = RuntimeName.AUTO
    """The place that cells run in."""
    results: Path = option_values.RESULTS
    """The results folder, in which the search gets a folder of its own."""
    resume: str | None = None
    """The name of the search that goes on, or `latest`."""
    retry_failed: bool = False
    """True to try again, in a search that goes on, every release that could not be tested."""
    jobs: int = option_values.JOBS
    """Environments made at the same time."""
    idle_wait_s: float = option_values.IDLE_WAIT_S
    """Longest wait for an idle host before a cell."""
    images: Path | None = None
    """A file of `push`, whose images are pulled by digest where the engine lacks them. Nothing is built then."""
    exclusive: bool = False
    """Measure one cell at a time, also where cells on different GPUs are known not to disturb each other."""


@dataclass(frozen=True, slots=True)
class SearchResult:
    """A search with its evidence."""

    record: Bisection | EarlierBisection
    """The releases, what was compared, and the changes that were found; of an earlier schema if it began so."""
    folder: Path
    """The folder of the record, of its report and of all runs."""
    complete: bool
    """False if the search was stopped."""

    @property
    def resume_command(self) -> str:
        """Return the command that goes on with the search."""
        return resume_command(self.folder)


def resume_command(folder: Path) -> str:
    """Return the command that goes on with the search in a folder."""
    return f"orchestrator bisect --resume {folder.name} --results {folder.parent}"
