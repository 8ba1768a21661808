"""Repeats as processes of this host, for the `venv` and `host` runtimes, and the Python interpreters of this host.

An interpreter can make an environment. None is ever downloaded.
"""

import json
import os
import shutil
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import uv

from orchestrator import processes
from orchestrator.catalog.versions import mismatches
from orchestrator.domain import COMPILE_CACHE
from orchestrator.processes import Cause, Finished, StartError, Stop, Watch
from orchestrator.resources import ROOT
from orchestrator.runtimes import memory_kills
from orchestrator.runtimes.model import Ended, Task
from orchestrator.runtimes.variables import LIBRARY_PATH, in_process

_QUERY = "import sys, venv, ensurepip; print('%d.%d.%d' % sys.version_info[:3]); print(sys.executable)"
_TIMEOUT_S = 30.0


@dataclass(frozen=True, slots=True)
class Interpreter:
    """A CPython at hand, asked for its version."""

    path: Path
    version: str
    """`3.11.7`."""


def find_interpreter(python: str, host: Mapping[str, str], own: Path, folder: Path) -> Interpreter | None:
    """Find an interpreter of a version such as `3.11`, among our own, PATH, pyenv's and uv's.

    `host` is the host's environment, of which PATH and HOME are used; `folder` any folder to ask in.
    """
    for candidate in _candidates(python, host, own, folder):
        interpreter = interpreter_at(candidate, host, folder)
        if interpreter and interpreter.version.rsplit(".", 1)[0] == python:
            return interpreter
    return None


def interpreter_at(path: Path, host: Mapping[str, str], folder: Path) -> Interpreter | None:
    """Ask an interpreter for its version, or return None if it cannot make environments."""
    said = _say([str(path), "-I", "-c", _QUERY], host, folder)
    lines = said.split()
    return Interpreter(Path(lines[1]), lines[0]) if len(lines) == 2 else None


def _candidates(python: str, host: Mapping[str, str], own: Path, folder: Path) -> Iterator[Path]:
    yield own
    search = host.get("PATH", "")
    for name in (f"python{python}", "python3", "python"):
        on_path = shutil.which(name, path=search)
        if on_path:
            yield Path(on_path)
    if shutil.which("pyenv", path=search):
        versions = Path(_say(["pyenv", "root"], host, folder).strip() or "/nonexistent") / "versions"
        yield from sorted(versions.glob(f"{python}.*/bin/python{python}"), key=_patch, reverse=True)
    known = _say([uv.find_uv_bin(), "python", "find", "--no-python-downloads", "--no-project", python], host, folder)
    if known.strip():
        yield Path(known.strip())


def _patch(path: Path) -> tuple[int, ...]:
    return tuple(int(part) for part in path.parents[1].name.split(".") if part.isdigit())


def _say(command: list[str], host: Mapping[str, str], folder: Path) -> str:
    environment = {name: host[name] for name in ("PATH", "HOME") if name in host}
    try:
        said = processes.capture(command, environment=environment, folder=folder, timeout_s=_TIMEOUT_S)
    except StartError:
        return ""
    return said.output if said.exit_code == 0 else ""


VERSIONS_TIMEOUT_S = 120.0
SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


class AskingError(Exception):
    """An environment that does not list its packages. The message is one line."""


@dataclass(frozen=True, slots=True)
class InstalledPackages:
    """The Python and the packages of an environment."""

    python: str
    versions: tuple[tuple[str, str], ...]

    def mismatches(self, expected: Iterable[tuple[str, str]]) -> tuple[str, ...]:
        """Return a line for each package of which another version was expected."""
        return mismatches(expected, dict(self.versions))


def library_variables(host: Mapping[str, str]) -> dict[str, str]:
    """Pick the variables of the host with the paths of its (GPU) libraries."""
    return {name: host[name] for name in (LIBRARY_PATH,) if host.get(name)}


def ask(python: Path, variables: Mapping[str, str]) -> InstalledPackages:
    """Ask an interpreter for its distributions. `variables` are those of the host that it needs.

    Raises `AskingError` where it gives no answer.
    """
    with tempfile.TemporaryDirectory(prefix="bench-") as home:
        environment = _base(python) | {"HOME": home} | dict(variables)
        command = [str(python), "-m", "benchmarks.run", "--versions"]
        try:
            said = processes.capture(command, environment=environment, folder=Path(home), timeout_s=VERSIONS_TIMEOUT_S)
        except StartError as error:
            raise AskingError(str(error)) from error
    if said.exit_code != 0:
        raise AskingError(processes.last_line(said.errors) or f"{python} exited {said.exit_code} and said nothing")
    try:
        document = json.loads(said.output)
        versions = {str(name): str(version) for name, version in document["versions"].items() if version}
        return InstalledPackages(str(document["python"]), tuple(sorted(versions.items())))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise AskingError(f"{python} gave no list of versions: {processes.last_line(said.output)}") from error


def launch(python: Path, task: Task, *, stop: Stop, watch: Watch, variables: Mapping[str, str]) -> Ended:
    """Run `benchmarks.run` on a task's folder with an interpreter, in a home folder that goes away afterwards.

    `variables` are those of the host that the process needs. Raises `StartError` where it cannot be started.
    """
    with tempfile.TemporaryDirectory(prefix="bench-", ignore_cleanup_errors=True) as home:
        base = _base(python)
        environment = base | in_process(task.allocation, path=base["PATH"], home=home)
        environment |= dict(variables) | dict(task.ready.variables) | _compile_cache(task) | dict(task.variables)
        kills, began_at, slept_s = memory_kills.counted(), time.time(), processes.sleeping_s()
        finished = processes.run(
            [str(python), "-m", "benchmarks.run", "--io", str(task.folder.resolve())],
            environment=environment,
            folder=Path(home),
            log=task.log,
            timeout_s=task.timeout_s,
            stop=stop,
            watch=watch,
        )
    finished = _corrected(finished, task, began_at, slept_s)
    code = finished.exit_code
    signal = -code if code is not None and code < 0 else None
    return Ended(
        cause=finished.cause,
        exit_code=code,
        wall_s=finished.wall_s,
        create_s=finished.start_s,
        signal=signal,
        oom_killed=finished.cause is Cause.EXITED and memory_kills.was_one(signal, kills),
        log_omitted_bytes=finished.log_omitted_bytes,
    )


def _corrected(finished: Finished, task: Task, began_at: float, slept_s: float) -> Finished:
    """Correct the end of a process that was not watched for a while, by the time of its last file.

    `began_at` is by the clock of files, `slept_s` how long the system had slept by then.
    """
    if finished.cause is not Cause.EXITED or finished.away_s <= processes.TICK_S:
        return finished
    written_at = _last_written(task)
    # Where no file tells, the least that is certain: nobody can say that it was over its time.
    told_s = 0.0 if written_at is None else written_at - began_at - (processes.sleeping_s() - slept_s)
    wall_s = processes.corrected_wall_s(finished.wall_s, finished.away_s, told_s)
    if wall_s > task.timeout_s:
        return replace(finished, cause=Cause.TIMED_OUT, exit_code=None, wall_s=wall_s)
    return replace(finished, wall_s=wall_s)


def _last_written(task: Task) -> float | None:
    """Return the time of the last file a task has written, its log apart."""
    try:
        with os.scandir(task.folder) as entries:
            own = [entry for entry in entries if entry.is_file(follow_symlinks=False) and entry.name != task.log.name]
            return max((entry.stat(follow_symlinks=False).st_mtime for entry in own), default=None)
    except OSError:
        return None  # it has closed its folder


def _compile_cache(task: Task) -> dict[str, str]:
    """Name the folder of this host in place of that of a container."""
    return {COMPILE_CACHE: str(task.ready.compile_cache[0].absolute())} if task.ready.compile_cache else {}


def _base(python: Path) -> dict[str, str]:
    return {
        "PATH": f"{python.parent}:{SYSTEM_PATH}",
        "LANG": "C.UTF-8",
        "PYTHONPATH": str(ROOT),
        # What is measured must not change the environment it is measured in.
        "PYTHONDONTWRITEBYTECODE": "1",
    }
