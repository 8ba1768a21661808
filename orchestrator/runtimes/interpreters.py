"""Python interpreters of this host that can make an environment. None is ever downloaded."""

import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import uv

from orchestrator import processes
from orchestrator.processes import StartError

_QUERY = "import sys, venv, ensurepip; print('%d.%d.%d' % sys.version_info[:3]); print(sys.executable)"
_TIMEOUT_S = 30.0


@dataclass(frozen=True, slots=True)
class Interpreter:
    """A CPython at hand, asked for its version."""

    path: Path
    version: str
    """`3.11.7`."""


def find(python: str, host: Mapping[str, str], own: Path, folder: Path) -> Interpreter | None:
    """Find an interpreter of a version such as `3.11`, among our own, PATH, pyenv's and uv's.

    `host` is the host's environment, of which PATH and HOME are used; `folder` any folder to ask in.
    """
    for candidate in _candidates(python, host, own, folder):
        interpreter = ask(candidate, host, folder)
        if interpreter and interpreter.version.rsplit(".", 1)[0] == python:
            return interpreter
    return None


def ask(path: Path, host: Mapping[str, str], folder: Path) -> Interpreter | None:
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
