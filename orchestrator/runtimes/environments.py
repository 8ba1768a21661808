"""Virtual environments in the user's cache, one per content."""

import contextlib
import errno
import hashlib
import json
import os
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import uv
from filelock import FileLock, Timeout

from orchestrator import processes
from orchestrator.build_settings import BuildSettings
from orchestrator.domain import Environment, ImageSpec
from orchestrator.errors import HostError
from orchestrator.images.reasons import telling_line
from orchestrator.images.settings import redacted, secrets
from orchestrator.processes import Cause, StartError, Stop, last_line, tail
from orchestrator.results.files.writing import write_atomically
from orchestrator.runtimes import sources
from orchestrator.runtimes.local import AskingError, InstalledPackages, Interpreter, ask

MAKER = 1
"""Raised when environments are made in another way, so that older ones are not taken for new ones."""
MARKER = "bench-environment.json"
TIMEOUT_S = 3600.0
OLDEST_FOR_UV = (3, 8)
UNSOLVED = "No solution found when resolving dependencies"
"""Words that uv prints, and pip never."""
OLD_PIP = "pip<22"
"""The last pips for Pythons that uv does not know; those that come with them pass over newer kinds of wheels."""


class MakingError(Exception):
    """An environment that could not be made. The message is one line."""


class MakingStoppedError(Exception):
    """An environment whose making was stopped on request."""


@dataclass(frozen=True, slots=True)
class MadeEnvironment:
    """An environment that is whole."""

    python: Path
    versions: tuple[tuple[str, str], ...]
    cached: bool


@dataclass(frozen=True, slots=True)
class Workshop:
    """The cache, settings and variables with which environments are made."""

    cache: Path
    settings: BuildSettings
    host: Mapping[str, str]
    """The host's environment, of which PATH and HOME are used."""


@dataclass(frozen=True, slots=True)
class _Job:
    image: ImageSpec
    interpreter: Interpreter
    workshop: Workshop
    log: Path
    stop: Stop


def key(image: ImageSpec, interpreter: Interpreter) -> str:
    """Hash everything that decides the content of an environment, as 16 hexadecimal digits."""
    environment, gpu = image.environment, image.image_class != "cpu"
    own = (environment.requirements, environment.package_index, environment.expected_versions, gpu)
    tools = [] if _is_known_to_uv(environment) else [OLD_PIP]
    content = json.dumps([MAKER, interpreter.version, str(interpreter.path), *own, *tools])
    return hashlib.sha256(content.encode()).hexdigest()[:16]


def environments_folder(cache: Path) -> Path:
    """Give the folder that holds all environments, made if it is not there.

    Raises `HostError` where this user cannot write it.
    """
    folder = cache / "environments"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if not os.access(folder, os.W_OK | os.X_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    except OSError as error:
        raise HostError(
            f"{folder}: environments cannot be kept here: {error.strerror}; "
            "point XDG_CACHE_HOME to a folder that can be written"
        ) from error
    return folder


def environment_images(cache: Path) -> frozenset[str]:
    """Return the names of the images that the cache has an environment for, whatever else those hold today."""
    names: set[str] = set()
    for path in (cache / "environments").glob(f"*/{MARKER}"):
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            names.add(str(json.loads(path.read_bytes())["image"]))
    return frozenset(names)


def provide(image: ImageSpec, interpreter: Interpreter, workshop: Workshop, log: Path, stop: Stop) -> MadeEnvironment:
    """Return the environment, made now if it is not complete. Waits for another orchestrator that makes it.

    Raises `MakingError` or `MakingStoppedError`.
    """
    folder = environments_folder(workshop.cache) / key(image, interpreter)
    lock = FileLock(folder.with_suffix(".lock"))
    _acquire(lock, stop)
    try:
        made = whole(folder)
        if made:
            return made
        shutil.rmtree(folder, ignore_errors=True)
        try:
            _make(_Job(image, interpreter, workshop, log, stop), folder)
            installed = _checked(image.environment, folder, stop)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        write_atomically(folder / MARKER, _marker(image, installed))
        return MadeEnvironment(_python(folder), installed.versions, cached=False)
    finally:
        lock.release()


def _marker(image: ImageSpec, installed: InstalledPackages) -> str:
    return json.dumps({"image": image.name, "python": installed.python, "versions": dict(installed.versions)}) + "\n"


def whole(folder: Path) -> MadeEnvironment | None:
    """Read a complete environment, or return None if its marker or its interpreter is missing."""
    try:
        versions = json.loads((folder / MARKER).read_bytes())["versions"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    if not _python(folder).exists():
        return None
    return MadeEnvironment(_python(folder), tuple(sorted(versions.items())), cached=True)


def reason(log: str) -> str:
    """Return the line of an installer's log with the reason."""
    conclusion = re.findall(r"^ *(?:╰─▶|cause:) (.*(?:\n +\S.*)*)", log, flags=re.MULTILINE)
    if conclusion:
        return last_line(" ".join(conclusion[-1].split()))
    return telling_line(log.splitlines(), last_line(log))


def _acquire(lock: FileLock, stop: Stop) -> None:
    while True:
        if stop.is_set():
            raise MakingStoppedError
        try:
            lock.acquire(timeout=processes.TICK_S)
            return
        except Timeout:
            continue


def _make(job: "_Job", folder: Path) -> None:
    settings = job.workshop.settings
    wanted = sources.indexed(job.image, settings)
    own = sources.own_index(job.image, settings)
    silence = sources.unreachable(own.pip_index, settings) if wanted and own.pip_index else None
    if silence:
        raise MakingError(f"the index that has {wanted} cannot be reached: {silence}; offer it in a find-links folder")
    tools = Tools(job.image.environment, job.interpreter, folder)
    _run(job, tools.make(), settings)
    offline = ["--no-index"] if settings.no_index else []
    upgrade = tools.upgrade(*offline)
    if upgrade:
        with contextlib.suppress(MakingError):  # the pip that is there may do as well
            _run(job, upgrade, settings)
    if wanted:
        _install(job, tools, ("--no-deps", wanted), own)
    requirements = (*job.image.environment.requirements, *sources.refused(job.image, settings))
    if requirements:
        _install(job, tools, (*offline, *requirements), settings)


def _install(job: "_Job", tools: "Tools", arguments: tuple[str, ...], settings: BuildSettings) -> None:
    """Install, and if uv's stored index pages lack a requirement, install with fresh ones.

    A release may be minutes old, with what it needs. pip asks for pages anew by itself.
    """
    try:
        _run(job, tools.install(*arguments), settings)
    except MakingError:
        if UNSOLVED not in tail(job.log):
            raise
        _run(job, tools.install("--refresh", *arguments), settings)


def _run(job: "_Job", command: list[str], settings: BuildSettings) -> None:
    workshop = job.workshop
    variables = sources.variables(settings, workshop.host, workshop.cache)
    try:
        finished = processes.run(
            command, environment=variables, folder=workshop.cache, log=job.log, timeout_s=TIMEOUT_S, stop=job.stop
        )
    except StartError as error:
        raise MakingError(str(error)) from error
    if finished.cause is Cause.STOPPED:
        raise MakingStoppedError
    if finished.cause is Cause.TIMED_OUT:
        raise MakingError(f"not made within {TIMEOUT_S:g} s")
    if finished.exit_code != 0:
        why = reason(tail(job.log)) or f"{Path(command[0]).name} exited {finished.exit_code}"
        raise MakingError(redacted(why, secrets(workshop.settings)))


@dataclass(frozen=True, slots=True)
class Tools:
    """The commands that make an environment, of uv or of an interpreter that uv does not know."""

    environment: Environment
    interpreter: Interpreter
    folder: Path

    @property
    def _uv(self) -> str | None:
        return uv.find_uv_bin() if _is_known_to_uv(self.environment) else None

    def make(self) -> list[str]:
        """Make the folder with nothing in it."""
        if self._uv:
            return [
                self._uv,
                "venv",
                "--quiet",
                "--no-project",
                "--python",
                str(self.interpreter.path),
                str(self.folder),
            ]
        return [str(self.interpreter.path), "-m", "venv", str(self.folder)]

    def upgrade(self, *arguments: str) -> list[str]:
        """Return the command that upgrades the installer. It is empty for uv."""
        return [] if self._uv else self.install(*arguments, "--upgrade", OLD_PIP)

    def install(self, *arguments: str) -> list[str]:
        """Install into it."""
        python = str(_python(self.folder))
        if self._uv:
            return [self._uv, "pip", "install", "--compile-bytecode", "--python", python, *arguments]
        return [python, "-m", "pip", "install", "--progress-bar", "off", *arguments]


def _is_known_to_uv(environment: Environment) -> bool:
    return tuple(map(int, environment.python.split("."))) >= OLDEST_FOR_UV


def _checked(environment: Environment, folder: Path, stop: Stop) -> InstalledPackages:
    try:
        installed = ask(_python(folder), {})
    except AskingError as error:
        if stop.is_set():
            raise MakingStoppedError from error
        raise MakingError(f"the finished environment does not answer: {error}") from error
    wrong = installed.mismatches(environment.expected_versions)
    if wrong:
        raise MakingError("; ".join(wrong))
    return installed


def _python(folder: Path) -> Path:
    return folder / "bin" / "python"
