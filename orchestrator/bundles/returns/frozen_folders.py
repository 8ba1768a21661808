"""The frozen scripts and networks of a run, of which only the files in its plan are carried."""

import stat
from functools import cached_property

from orchestrator.results.files import frozen as frozen_files
from orchestrator.results.files.trees import TreeEntry
from orchestrator.results.store import Run
from orchestrator.user_files import Frozen, Script


class FrozenFolders:
    """The folders of a run with scripts and networks."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._files = self._size_bytes = 0

    def admits(self, entry: TreeEntry) -> bool:
        """Return false for an entry of these folders that is not in the plan, and count it."""
        if entry.path.partition("/")[0] not in frozen_files.FOLDERS:
            return True
        if stat.S_ISDIR(entry.status.st_mode):
            self._files += bool(entry.problem)
            return False
        if stat.S_ISREG(entry.status.st_mode) and self._listed.get(entry.path) == entry.status.st_size:
            return True
        self._files, self._size_bytes = self._files + 1, self._size_bytes + entry.status.st_size
        return False

    def left_out(self) -> str:
        """Return one line on the files that are not carried, empty if there are none."""
        if not self._files:
            return ""
        named = {each.FOLDER for each in self._frozen} or {Script.FOLDER}
        folders = " and ".join(ascii(f"{self._run.name}/{folder}") for folder in sorted(named))
        size = f"{self._size_bytes / 1e6:,.1f} MB"
        return f"{folders}: {self._files:,} files of {size} that are not, or no longer, those of the plan"

    @cached_property
    def _frozen(self) -> tuple[Frozen, ...]:
        return frozen_files.frozen_of(self._run.plan())

    @cached_property
    def _listed(self) -> dict[str, int]:
        return {
            f"{each.FOLDER}/{each.name}/{file.path}": file.size_bytes for each in self._frozen for file in each.files
        }
