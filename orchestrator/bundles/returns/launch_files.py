"""The files of one launch that are carried, those of the contract and a limited part of the others."""

import re
from dataclasses import dataclass, field

from orchestrator.domain import OutputLimit
from orchestrator.results.container_answers import MAX_RESULT_BYTES
from orchestrator.results.files import frozen
from orchestrator.results.parity.checks import FOLDER as PARITY
from orchestrator.results.telemetry.files import FILE as TELEMETRY

OURS = frozenset({
    "request.json", "result.json", "outcome.json", "log.txt", "phase", "model.py", "definition.py", TELEMETRY,
})  # fmt: skip
"""Names of files of the contract (`docs/contract.md`). A file above the size limit of the contract is none of them."""
FOREIGN = OutputLimit(64 * 2**20, 1_000)
"""Limit of a launch's other files."""
ATTEMPTS = OutputLimit(2**30, 10_000)
"""Limit of contract files in folders of earlier attempts, which a container can invent."""
NO_ENVIRONMENTS = frozenset({*frozen.FOLDERS, "models", "builds"})
"""Folders of a run that hold inputs or builds, and no launch."""
_ATTEMPT = re.compile(r"attempt-[0-9]{1,9}(\.part)?")
_REPEAT = re.compile(r"[0-9]+")


@dataclass(slots=True)
class LimitedFiles:
    """The first files in order of path, up to a limit, and the count of all."""

    limit: OutputLimit
    files: int = 0
    size_bytes: int = 0
    _first: list[tuple[str, int]] = field(default_factory=list)

    def add(self, path: str, size_bytes: int) -> None:
        """Count a file, and store it if it may be among the first ones."""
        self.files, self.size_bytes = self.files + 1, self.size_bytes + size_bytes
        self._first.append((path, size_bytes))
        if len(self._first) > 2 * self.limit.files:  # bounds the memory for any number of files
            self._first = sorted(self._first)[: self.limit.files]

    def carried(self) -> list[tuple[str, int]]:
        """Return the files that are carried, with their sizes."""
        room, carried = self.limit.size_bytes, []
        for path, size_bytes in sorted(self._first)[: self.limit.files]:
            if size_bytes <= room:
                room -= size_bytes
                carried.append((path, size_bytes))
        return carried


@dataclass(slots=True)
class LaunchFiles:
    """The files in the folder of one launch."""

    folder: str
    """Path in the archive."""
    ours: list[str] = field(default_factory=list)
    foreign: LimitedFiles = field(default_factory=lambda: LimitedFiles(FOREIGN))
    attempts: LimitedFiles = field(default_factory=lambda: LimitedFiles(ATTEMPTS))

    def add(self, path: str, size_bytes: int) -> None:
        """Add a file by its path in the archive and its size."""
        attempt, _, name = path.removeprefix(f"{self.folder}/").rpartition("/")
        if name not in OURS or size_bytes > MAX_RESULT_BYTES or (attempt and not _ATTEMPT.fullmatch(attempt)):
            self.foreign.add(path, size_bytes)
        elif attempt:
            self.attempts.add(path, size_bytes)
        else:
            self.ours.append(path)

    def carried(self) -> list[str]:
        """Return the paths of all files that are carried."""
        return [*self.ours, *(path for kind in (self.attempts, self.foreign) for path, _ in kind.carried())]

    def left_out(self) -> str:
        """Return one line on the files that are not carried, empty if there are none."""
        carried = [*self.foreign.carried(), *self.attempts.carried()]
        files = self.foreign.files + self.attempts.files - len(carried)
        size_bytes = self.foreign.size_bytes + self.attempts.size_bytes - sum(size for _, size in carried)
        if not files:
            return ""
        bounds = f"{FOREIGN.files:,} files and {FOREIGN.size_bytes // 2**20} MiB"
        return f"{self.folder!a}: {files:,} files of {size_bytes / 1e6:,.1f} MB, beyond {bounds} of its own files"


def launch_of(path: str) -> str:
    """Return the launch folder `RUN/ENVIRONMENT/WORK/REPEAT` of a file, empty if it belongs to no launch."""
    run, *folders = path.split("/")[:-1]
    if len(folders) < 3 or folders[0] in NO_ENVIRONMENTS:
        return ""
    return "/".join((run, *folders[:3])) if folders[0] == PARITY or _REPEAT.fullmatch(folders[2]) else ""
