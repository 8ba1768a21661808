"""The files of one launch that are carried: those of the contract, and of what it left besides, a bounded part."""

import re
from dataclasses import dataclass, field

from orchestrator.domain import OutputLimit
from orchestrator.results.checks import FOLDER as PARITY
from orchestrator.results.frozen_scripts import FOLDER as FROZEN
from orchestrator.results.store import MAX_RESULT_BYTES

OURS = frozenset({
    "request.json", "result.json", "outcome.json", "log.txt", "phase", "model.py", "definition.py",
})  # fmt: skip
"""The names of the contract (`docs/contract.md`); what is larger than any such file can be is not one of them."""
FOREIGN = OutputLimit(64 * 2**20, 1_000)
"""The most that is carried of what a launch left besides."""
ATTEMPTS = OutputLimit(2**30, 10_000)
"""The same of the contract's files in folders of earlier attempts, which a container can make up as well."""
NO_ENVIRONMENTS = frozenset({FROZEN, "models", "builds"})
"""Folders of a run that hold what was given to it, or made for it, and no launch."""
_ATTEMPT = re.compile(r"attempt-[0-9]{1,9}(\.part)?")
_REPEAT = re.compile(r"[0-9]+")


@dataclass(slots=True)
class Bounded:
    """Files in order of their paths, as many as the bounds take; the rest is counted."""

    most: OutputLimit
    files: int = 0
    size_bytes: int = 0
    _first: list[tuple[str, int]] = field(default_factory=list)

    def add(self, path: str, size_bytes: int) -> None:
        """Count a file, and keep it where it may be among the first ones."""
        self.files, self.size_bytes = self.files + 1, self.size_bytes + size_bytes
        self._first.append((path, size_bytes))
        if len(self._first) > 2 * self.most.files:  # a flood is never kept whole
            self._first = sorted(self._first)[: self.most.files]

    def taken(self) -> list[tuple[str, int]]:
        """Give the files that are carried, with their sizes."""
        room, taken = self.most.size_bytes, []
        for path, size_bytes in sorted(self._first)[: self.most.files]:
            if size_bytes <= room:
                room -= size_bytes
                taken.append((path, size_bytes))
        return taken


@dataclass(slots=True)
class LaunchFiles:
    """What one launch has left in its folder."""

    folder: str
    """As the archive names it."""
    ours: list[str] = field(default_factory=list)
    foreign: Bounded = field(default_factory=lambda: Bounded(FOREIGN))
    attempts: Bounded = field(default_factory=lambda: Bounded(ATTEMPTS))

    def add(self, path: str, size_bytes: int) -> None:
        """Sort a file in, by its path in the archive and its length."""
        attempt, _, name = path.removeprefix(f"{self.folder}/").rpartition("/")
        if name not in OURS or size_bytes > MAX_RESULT_BYTES or (attempt and not _ATTEMPT.fullmatch(attempt)):
            self.foreign.add(path, size_bytes)
        elif attempt:
            self.attempts.add(path, size_bytes)
        else:
            self.ours.append(path)

    def carried(self) -> list[str]:
        """Give the paths of all files that are carried."""
        return [*self.ours, *(path for kind in (self.attempts, self.foreign) for path, _ in kind.taken())]

    def left_out(self) -> str:
        """Say in one line how much is not carried; empty where all is."""
        taken = [*self.foreign.taken(), *self.attempts.taken()]
        files = self.foreign.files + self.attempts.files - len(taken)
        size_bytes = self.foreign.size_bytes + self.attempts.size_bytes - sum(size for _, size in taken)
        if not files:
            return ""
        bounds = f"{FOREIGN.files:,} files and {FOREIGN.size_bytes // 2**20} MiB"
        return f"{self.folder!a}: {files:,} files of {size_bytes / 1e6:,.1f} MB, beyond {bounds} of its own files"


def launch_of(path: str) -> str:
    """Return the folder of the launch that a file of a run lies in, `RUN/ENVIRONMENT/WORK/REPEAT`; empty for none."""
    run, *folders = path.split("/")[:-1]
    if len(folders) < 3 or folders[0] in NO_ENVIRONMENTS:
        return ""
    return "/".join((run, *folders[:3])) if folders[0] == PARITY or _REPEAT.fullmatch(folders[2]) else ""
