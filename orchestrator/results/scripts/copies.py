"""A script's frozen files copied for one repeat.

They are copied where no container keeps the script from writing to them, and where it asks for a copy to write to.
"""

import contextlib
import os
import stat
from dataclasses import dataclass, field
from pathlib import Path

from orchestrator.errors import FolderError, host_error
from orchestrator.files import move_aside
from orchestrator.results.files import frozen as frozen_files
from orchestrator.user_files import Script

FOLDER = "script"
"""In the folder of a repeat; the script's working directory."""
_WRITABLE = 0o644
_Seen = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ScriptCopy:
    """The copies made for one repeat, with the state of each file and folder."""

    files: dict[Path, _Seen] = field(default_factory=dict)
    folders: dict[Path, _Seen] = field(default_factory=dict)

    def remove(self) -> None:
        """Remove the files that are unchanged, then the empty folders."""
        for path, seen in self.files.items():
            with contextlib.suppress(OSError):
                if _seen(path) == seen:
                    path.unlink()
        for path in sorted(self.folders, reverse=True):
            with contextlib.suppress(OSError):
                if _seen(path) == self.folders[path]:
                    path.rmdir()


def copy(base: Path, script: Script, repeat: Path) -> ScriptCopy:
    """Copy the files of a script that is frozen below `base` into the folder of a repeat.

    Raises `HostError` where that cannot be done: `FolderError` where a frozen file is not what it was.
    """
    working, frozen = repeat / FOLDER, frozen_files.folder_of(base, script)
    made = ScriptCopy()
    try:
        if os.path.lexists(working):
            move_aside(working)
        for file in script.files:
            target = working / file.path
            target.parent.mkdir(parents=True, exist_ok=True)
            if not frozen_files.copied(file, frozen / file.path, target):
                why = "is not what it was when the run began; bring it back, or begin a new run"
                raise FolderError(f"{frozen / file.path}: {why}")
            if script.has_copy:
                target.chmod(_WRITABLE)
            made.files[target] = _seen(target)
            above = target.relative_to(repeat).parents
            made.folders.update({repeat / each: _seen(repeat / each) for each in above if each.parts})
    except OSError as error:
        made.remove()
        raise host_error(f"{error.filename or working}: cannot be copied: {error.strerror}", error) from error
    except BaseException:
        made.remove()
        raise
    return made


def _seen(path: Path) -> _Seen:
    """Identify a file or folder, and for a file also its state.

    The time of change in it cannot be set by anybody.
    """
    status = path.lstat()
    if stat.S_ISDIR(status.st_mode):
        return status.st_dev, status.st_ino
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns
