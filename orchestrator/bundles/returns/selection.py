"""The files of a run that a file of results carries."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from orchestrator.bundles.format import layout
from orchestrator.bundles.returns.cluster_files import WholeRun, node_runs_of
from orchestrator.bundles.returns.frozen_folders import FrozenFolders
from orchestrator.bundles.returns.launch_files import OURS, LaunchFiles, launch_of
from orchestrator.bundles.returns.results_manifest import MERGED
from orchestrator.errors import HostError
from orchestrator.results.files.trees import TreeEntry, reclaim, walk
from orchestrator.results.names import EVENTS, PARTS
from orchestrator.results.store import Run

NOT_CARRIED = frozenset({".lock", EVENTS, "report", MERGED})
"""The lock of a run, what happens in it at the moment, pages that are made from the other files, and our mark of merged
runs."""


def select_files(run: Run, left_out: list[str]) -> list[str]:
    """Return the paths `<run>/<path in its folder>` of the files that are carried, in order.

    Lines on the other files are added to `left_out`. Folders that a measured program has closed are opened again.
    A run on a cluster has the files of each run of its parts too.
    """
    files = _own_files(run, left_out)
    for nested in node_runs_of(run) if isinstance(run, WholeRun) else ():
        place = f"{run.name}/{nested.folder.parent.relative_to(run.folder).as_posix()}"
        lines: list[str] = []
        files += [f"{place}/{path}" for path in select_files(nested, lines)]
        left_out += [f"{place}: {line}" for line in lines]
    return sorted(files)


def _own_files(run: Run, left_out: list[str]) -> list[str]:
    others: list[str] = []
    launches: dict[str, LaunchFiles] = {}
    frozen = FrozenFolders(run)
    for entry in _entries(run):
        path = f"{run.name}/{entry.path}"
        if not frozen.admits(entry):
            continue
        launch = launch_of(path)
        if launch and not entry.status.st_mode & stat.S_IRUSR:
            reclaim(run.folder.parent / launch)
        problem = entry.problem or _problem(path, entry.status.st_mode) or _denied(run, path, entry)
        if entry.problem and not launch:
            raise HostError(f"{run.folder / entry.path}: {problem}; give yourself the right to")
        if problem:
            left_out.append(f"{path!a} {problem}")
        elif stat.S_ISREG(entry.status.st_mode) and launch:
            launches.setdefault(launch, LaunchFiles(launch)).add(path, entry.status.st_size)
        elif stat.S_ISREG(entry.status.st_mode):
            others.append(path)
    lines = [launch.left_out() for _, launch in sorted(launches.items())]
    left_out[:0] = filter(None, (*lines, frozen.left_out()))
    return [*others, *(path for launch in launches.values() for path in launch.carried())]


def _entries(run: Run) -> Iterator[TreeEntry]:
    try:
        for entry in walk(run.folder):
            first = entry.path.partition("/")[0]
            if first not in NOT_CARRIED and not (first == PARTS and isinstance(run, WholeRun) and _is_nested(entry)):
                yield entry
    except OSError as error:
        raise HostError(f"{run.folder}: cannot be read: {error.strerror}; give yourself the right to") from error


def _is_nested(entry: TreeEntry) -> bool:
    """Return true for what lies in the run of a part, `parts/003/node7/…`."""
    depth = entry.path.count("/")
    return depth > 2 or (depth == 2 and stat.S_ISDIR(entry.status.st_mode))


def _problem(path: str, mode: int) -> str | None:
    """Return the reason an entry is not carried, or None if it is."""
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        return "is no plain file"
    return layout.problem_of_path(path)


def _denied(run: Run, path: str, entry: TreeEntry) -> str:
    """Return the reason if a file of another user cannot be read, else an empty text.

    Files that our launches write are excepted.
    """
    others = stat.S_ISREG(entry.status.st_mode) and entry.status.st_uid != os.geteuid()
    if others and Path(path).name not in OURS and launch_of(path) and not os.access(run.folder.parent / path, os.R_OK):
        return "cannot be read: it is another user's"
    return ""
