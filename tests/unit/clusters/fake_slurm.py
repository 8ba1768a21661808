"""A fake `sbatch`, `squeue`, `sacct`, `scancel` and `sinfo`, for hosts without Slurm.

Each call is written down. What is to be answered lies in files of the folder, which a test writes.
"""

from collections.abc import Mapping
from pathlib import Path

_PROGRAM = """\
#!/bin/sh
name=$(basename "$0")
here=$(dirname "$0")
for word in "$name" "$@"; do printf '%s\\t' "$word" >> "$here/calls"; done
printf '\\n' >> "$here/calls"
env > "$here/$name.env"
number=1
[ ! -f "$here/$name.count" ] || number=$(($(cat "$here/$name.count") + 1))
printf '%s' "$number" > "$here/$name.count"
answer=$here/$name.$number
[ -f "$answer.out" ] || [ -f "$answer.err" ] || answer=$here/$name
[ ! -f "$answer.out" ] || cat "$answer.out"
if [ -f "$answer.err" ]; then cat "$answer.err" >&2; exit 1; fi
"""


class FakeSlurm:
    """The commands in a folder of `PATH`, and what they are to answer."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "fake-slurm"
        self.folder.mkdir()
        for name in ("sbatch", "squeue", "sacct", "scancel", "sinfo"):
            (self.folder / name).write_text(_PROGRAM)
            (self.folder / name).chmod(0o755)

    @property
    def environment(self) -> Mapping[str, str]:
        return {"PATH": f"{self.folder}:/usr/bin:/bin"}

    def answers(self, name: str, output: str = "", *, call: int | None = None, error: str = "") -> None:
        """Set the answer of a command, or of its call of a number alone. With an error it fails."""
        base = name if call is None else f"{name}.{call}"
        if output:
            (self.folder / f"{base}.out").write_text(output)
        if error:
            (self.folder / f"{base}.err").write_text(error)

    def calls(self, name: str) -> list[list[str]]:
        """Return the arguments of every call of a command."""
        log = self.folder / "calls"
        lines = log.read_text().splitlines() if log.exists() else []
        calls = [line.split("\t")[:-1] for line in lines]
        return [arguments for program, *arguments in calls if program == name]

    def variables(self, name: str) -> set[str]:
        """Return the names of the variables that the last call of a command had."""
        return {line.partition("=")[0] for line in (self.folder / f"{name}.env").read_text().splitlines()}
