"""The runs of a results folder, found by name, the matrix stored with each, and the cells of them to show."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from orchestrator import matrix
from orchestrator.build_settings import BuildSettings
from orchestrator.clusters.folder import ClusterRun, cluster_runs
from orchestrator.domain import Skip
from orchestrator.errors import InputError
from orchestrator.planning import Selection
from orchestrator.planning.selection import check, idle_globs
from orchestrator.results import results_folder
from orchestrator.results.files.writing import write_atomically
from orchestrator.results.names import PARTS, matching
from orchestrator.results.results_folder import runs
from orchestrator.results.store import Run
from orchestrator.user_files import ModelFile
from orchestrator.workflows.host.host import Host
from orchestrator.workflows.inputs.planned_matrix import site_settings, with_frozen_files

STORED_MATRIX = "matrix.yaml"
STORED_MODELS = "models"


def store_matrix(run: Run, document: dict[str, Any], own: Sequence[ModelFile] = ()) -> None:
    """Store a matrix's long form with the run and the user's own models, for people and for a resumed run."""
    if own:
        for name, text in (file for model in own for file in model.files.items()):
            path = run.folder / STORED_MODELS / name
            path.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(path, text)
    document = {**with_frozen_files(document), "models_folder": STORED_MODELS if own else None}
    write_atomically(run.folder / STORED_MATRIX, yaml.safe_dump(document, sort_keys=False, allow_unicode=True))


def stored_settings(run: Run, base_image: str | None, environment: Mapping[str, str]) -> BuildSettings:
    """Return the settings of a stored run's environments.

    A setting that held a password is not stored, and comes from pip's configuration.
    """
    return site_settings(matrix.build_settings(run.folder / STORED_MATRIX), base_image, environment)


def report_hidden_runs(results: Path, host: Host) -> None:
    """Report that runs of an interrupted merge are missing from the results that are read next, if there are any."""
    if line := results_folder.notice(results):
        host.say(line)


def find_run(results: Path, name: str, hint: str = "") -> Run:
    """Return the run of that name, or the only one that begins with it. An empty name is that of the latest run.

    Raises `InputError` if there is not exactly one; `hint` ends its message.
    """
    every = runs(results)
    named = matching([run.name for run in every], name)
    if not named:
        _refuse_cluster(results, name)
    if not named and name:
        _refuse_hidden(results, name)
    if not every:
        raise InputError(f"{results}: no runs here; `orchestrator run` makes one, --results DIR looks elsewhere")
    if len(named) == 1:
        return Run(results / named[0])
    problem = f"{len(named)} runs begin with {name!r}" if named else f"no run {name!r}"
    shown = ", ".join((named or [run.name for run in every])[-5:])
    raise InputError(f"{results}: {problem}; there are {shown}{hint}")


def _refuse_cluster(results: Path, name: str) -> None:
    """Raise `InputError` if a name means a run on a cluster, whose parts are runs of their own."""
    for cluster in (ClusterRun(results / each) for each in matching([run.name for run in cluster_runs(results)], name)):
        raise InputError(
            f"{results}: {cluster.name} is a run on a cluster; this command reads the runs of its parts: name the "
            f"results folder of one, as in --results {cluster.folder / PARTS}/000"
        )


def _refuse_hidden(results: Path, name: str) -> None:
    """Raise `InputError` if a name, or the beginning of one, is that of a run of an interrupted merge."""
    for hidden in sorted(results_folder.pending(results)):
        if hidden.startswith(name):
            raise InputError(
                f"{results}: {hidden} is hidden by an interrupted merge; merge its file again, or any other, to "
                "complete it"
            )


def find_runs(results: Path, names: Sequence[str], *, every: bool) -> list[Run]:
    """Return the runs of these names, each once, or all there are. The latest if none is named."""
    if every and names:
        raise InputError("--all means every run: leave out the names, or --all")
    if every:
        find_run(results, "")  # raises where there is none
        return runs(results)
    named = [find_run(results, name) for name in names or ("",)]
    return list({run.name: run for run in named}.values())


def check_shown(selection: Selection, names: Sequence[tuple[str, ...]], host: Host, skips: Sequence[Skip] = ()) -> None:
    """Report globs to exclude that match nothing. `names` are the ids of each thing that may be shown.

    Raises `InputError` for every glob to select that matches no id, and if nothing is left.
    """
    ids = list(dict.fromkeys(each for of_one in names for each in of_one))
    check(selection, ids, skips)
    for warning in idle_globs(selection, [*ids, *(skip.cell_id for skip in skips)]):
        host.say(f"warning: {warning}")
    if names and not any(selection.takes(*of_one) for of_one in names):
        raise InputError("--exclude leaves nothing to show of what is selected; drop one of its globs")
