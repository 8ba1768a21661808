"""The frozen scripts of a run, of which only the files in its plan are carried."""

import stat
from functools import cached_property

from orchestrator.results.scripts import frozen as frozen_scripts
from orchestrator.results.store import Run
from orchestrator.results.trees import TreeEntry


class ScriptFiles:
    """The scripts folder of a run."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._files = self._size_bytes = 0

    def admits(self, entry: TreeEntry) -> bool:
        """Return false for an entry of the scripts folder that is not in the plan, and count it."""
        if entry.path.partition("/")[0] != frozen_scripts.FOLDER:
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
        folder = f"{self._run.name}/{frozen_scripts.FOLDER}"
        size = f"{self._size_bytes / 1e6:,.1f} MB"
        return f"{folder!a}: {self._files:,} files of {size} that are not, or no longer, those of the plan"

    @cached_property
    def _listed(self) -> dict[str, int]:
        scripts = frozen_scripts.scripts_of(self._run.plan())
        return {
            f"{frozen_scripts.FOLDER}/{script.name}/{file.path}": file.size_bytes
            for script in scripts
            for file in script.files
        }
