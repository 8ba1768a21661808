"""Refuse what cannot fit on a disk before the first build."""

import os
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

from orchestrator import images
from orchestrator.cli import composition
from orchestrator.domain import BuildSettings, ImageSpec
from orchestrator.engine.client import Client, is_local
from orchestrator.errors import HostError, InputError
from orchestrator.planning.cost import space
from orchestrator.runtimes.environments import environment_images, environments_folder

VARIABLE = "ORCHESTRATOR_DISK_CHECK"
_FEWER_CELLS = "take fewer cells with --select"
_ROOM_FOR_IMAGES = "make room (`orchestrator clean`, `docker image prune`)"
_ROOM_FOR_ENVIRONMENTS = "make room (`orchestrator clean`)"
_OTHER_CACHE = "point XDG_CACHE_HOME to a folder on a larger disk"
_OTHER_FOLDER = "write the bundle to a larger disk with --output"
Free = Callable[[Path], int | None]


def free_bytes(place: Path) -> int | None:
    """Return the free space where a folder is or will be; None where nobody can tell."""
    there = next((folder for folder in (place.absolute(), *place.absolute().parents) if folder.is_dir()), None)
    try:
        return shutil.disk_usage(there).free if there else None
    except OSError:
        return None


def require_for_images(
    client: Client,
    specs: Sequence[ImageSpec],
    settings: BuildSettings,
    free: Free = free_bytes,
    *,
    selects: bool = True,
) -> None:
    """Raise `HostError` where the engine has no room for the images that are missing.

    `selects` says that the command takes `--select`.
    Nothing is said of an engine on another machine, or behind another user's walls: its disk cannot be asked.
    """
    if is_off():
        return
    folder = Path(str(client.info().get("DockerRootDir") or ""))
    if not folder.is_absolute() or not folder.is_dir() or not is_local(client):
        return
    absent, bases = images.absent(client, specs, settings)
    needed = space.image_bytes(absent, len(bases), composition.the_catalog())
    remedies = (_ROOM_FOR_IMAGES, *([_FEWER_CELLS] if selects else []))
    _refuse(_counted(len(absent), "image"), needed, free(folder), folder, remedies)


def require_for_environments(
    cache: Path, specs: Sequence[ImageSpec], free: Free = free_bytes, *, selects: bool = True
) -> None:
    """Raise `HostError` where the cache has no room for the virtual environments that are missing.

    `selects` says that the command takes `--select`.
    """
    if is_off():
        return
    held = environment_images(cache)
    absent = [spec for spec in specs if spec.name not in held]
    needed = space.environment_bytes(absent, composition.the_catalog())
    remedies = (_ROOM_FOR_ENVIRONMENTS, _OTHER_CACHE, *([_FEWER_CELLS] if selects else []))
    _refuse(
        _counted(len(absent), "environment"),
        needed,
        free(environments_folder(cache)),
        environments_folder(cache),
        remedies,
    )


def require_for_bundle(folder: Path, specs: Sequence[ImageSpec], free: Free = free_bytes) -> None:
    """Raise `HostError` where there is no room for a bundle with the layers of all images."""
    if is_off():
        return
    there = sum(path.lstat().st_size for path in folder.rglob("*") if path.is_file()) if folder.is_dir() else 0
    needed = space.bundle_bytes(specs, composition.the_catalog(), there)
    remedies = ("make room", _OTHER_FOLDER, _FEWER_CELLS)
    _refuse(f"a bundle of {_counted(len(specs), 'image')}", needed, free(folder), folder, remedies)


def is_off() -> bool:
    """Whether the environment says not to check; raises `InputError` for a word that is neither on nor off."""
    word = os.environ.get(VARIABLE, "on")
    if word not in {"on", "off"}:
        raise InputError(f"{VARIABLE}={word}: say on or off")
    return word == "off"


def _refuse(what: str, needed: int, free: int | None, where: Path, remedies: Sequence[str]) -> None:
    if why := space.shortage(what, needed, free, str(where), remedies):
        raise HostError(why)


def _counted(number: int, thing: str) -> str:
    return f"{number} {thing}{'' if number == 1 else 's'}"
