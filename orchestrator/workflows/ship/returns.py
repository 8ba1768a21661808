"""The way back of results from a host without a network."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from orchestrator import __version__
from orchestrator.bundles.returns import publication
from orchestrator.bundles.returns.collect import Collected
from orchestrator.bundles.returns.collect import collect as collect_runs
from orchestrator.bundles.returns.merge import Merged, manifest_of
from orchestrator.bundles.returns.merge import merge as merge_runs
from orchestrator.clusters.record import PART
from orchestrator.errors import InputError
from orchestrator.workflows import option_values
from orchestrator.workflows.host.host import Host
from orchestrator.workflows.inputs.cluster_runs import find_reported
from orchestrator.workflows.inputs.stored_runs import report_hidden_runs
from orchestrator.workflows.outputs import check_file


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectOptions:
    """The options of `collect`."""

    runs: Sequence[str] = ()
    """Names of runs or their beginnings, the latest by default."""
    output: Path = option_values.RESULTS_FILE
    """The new file. One that is there is never replaced."""
    every: bool = False
    """Every run of the results folder."""
    results: Path = option_values.RESULTS
    """The results folder."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeOptions:
    """The options of `merge`."""

    file: Path
    """The file that `collect` wrote."""
    results: Path = option_values.RESULTS
    """The results folder that its runs go to."""


@dataclass(frozen=True, slots=True)
class MergeResult:
    """The runs of a file of results after a merge."""

    runs: Merged
    """Those that were added, and those that were there already."""
    interrupted: Mapping[Path, int]
    """Folders with complete runs of an interrupted merge, and their numbers."""
    cluster: str = ""
    """The run on a cluster that they are parts of. Empty for runs of their own."""


def collect(options: CollectOptions, host: Host) -> Collected:
    """Gather runs into one checksummed file, for `merge` on another host.

    Raises `InputError` if a run is not there or another file has that name, `HostError` if it cannot be written.

    Example: `collect(CollectOptions(every=True), this_host()).path`
    """
    check_file(options.output)
    report_hidden_runs(options.results, host)
    runs = find_reported(options.results, options.runs, every=options.every)
    return collect_runs(runs, options.output, __version__)


def merge(options: MergeOptions, host: Host) -> MergeResult:
    """Put the runs of a file from another host next to those that are here. Nothing that is here is replaced.

    A run that belongs to a part of a run on a cluster goes into that part.

    Raises `InputError` if the file is damaged, `HostError` if the folder cannot take it.

    Example: `merge(MergeOptions(file=Path("results.tar.zst")), this_host()).runs.added`
    """
    del host
    place = _place(options)
    merged = merge_runs(options.file, place)
    seen = place.parents[1].name if place != options.results else ""
    return MergeResult(merged, publication.unnamed(place), seen)


def _place(options: MergeOptions) -> Path:
    """Return the folder for the runs of a file: the results folder, or the part of a run there that they belong to."""
    parts = {run.part_of for run in manifest_of(options.file).runs}
    if parts == {None}:
        return options.results
    if len(parts) > 1:
        raise InputError(f"{options.file}: its runs belong to several places; collect each part in a file of its own")
    place = options.results / str(parts.pop())
    if not (place / PART).is_file():
        raise InputError(
            f"{options.file}: belongs to {place.name} of the run {place.parents[1].name}, which is not in "
            f"{options.results}: name the results folder of that run with --results"
        )
    return place
