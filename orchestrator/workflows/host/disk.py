"""Refuse what cannot fit on a disk before the first build."""

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from orchestrator import images
from orchestrator.build_settings import BuildSettings
from orchestrator.domain import ImageSpec
from orchestrator.engine.client import Client, is_local
from orchestrator.errors import HostError, InputError
from orchestrator.planning.cost import space
from orchestrator.runtimes.environments import environment_images, environments_folder
from orchestrator.wording import counted
from orchestrator.workflows.host.host import Host

VARIABLE = "ORCHESTRATOR_DISK_CHECK"
_FEWER_CELLS = "take fewer cells with --select"
_ROOM_FOR_IMAGES = "make room (`orchestrator clean`, `docker image prune`)"
_ROOM_FOR_ENVIRONMENTS = "make room (`orchestrator clean`)"
_OTHER_CACHE = "point XDG_CACHE_HOME to a folder on a larger disk"
_OTHER_FOLDER = "write the bundle to a larger disk with --output"
Free = Callable[[Path], int | None]


def free_bytes(place: Path) -> int | None:
    """Return the free space of the disk that a folder is or will be on, or None if it is unknown."""
    there = next((folder for folder in (place.absolute(), *place.absolute().parents) if folder.is_dir()), None)
    try:
        return shutil.disk_usage(there).free if there else None
    except OSError:
        return None


@dataclass(frozen=True, slots=True)
class DiskCheck:
    """Checks that the disks of a host have room for what is about to be made."""

    host: Host
    selects: bool = True
    """The user can take fewer cells with `--select`."""
    free: Free = free_bytes

    def images(self, client: Client, specs: Sequence[ImageSpec], settings: BuildSettings) -> None:
        """Raise `HostError` if the engine has no room for the images that are missing.

        Nothing is checked for an engine on another machine or one whose disk this user cannot read.
        """
        if is_off(self.host):
            return
        folder = Path(str(client.info().get("DockerRootDir") or ""))
        if not folder.is_absolute() or not folder.is_dir() or not is_local(client):
            return
        absent, bases = images.absent(client, specs, settings)
        needed = space.image_bytes(absent, len(bases))
        remedies = (_ROOM_FOR_IMAGES, *([_FEWER_CELLS] if self.selects else []))
        _refuse(counted(len(absent), "image"), needed, self.free(folder), folder, remedies)

    def environments(self, specs: Sequence[ImageSpec]) -> None:
        """Raise `HostError` if the cache has no room for the virtual environments that are missing."""
        if is_off(self.host):
            return
        stored = environment_images(self.host.cache)
        absent = [spec for spec in specs if spec.name not in stored]
        needed = space.environment_bytes(absent)
        remedies = (_ROOM_FOR_ENVIRONMENTS, _OTHER_CACHE, *([_FEWER_CELLS] if self.selects else []))
        folder = environments_folder(self.host.cache)
        _refuse(counted(len(absent), "environment"), needed, self.free(folder), folder, remedies)

    def bundle(self, folder: Path, specs: Sequence[ImageSpec]) -> None:
        """Raise `HostError` if there is no room for a bundle with the layers of all images."""
        if is_off(self.host):
            return
        there = sum(path.lstat().st_size for path in folder.rglob("*") if path.is_file()) if folder.is_dir() else 0
        needed = space.bundle_bytes(specs, there)
        remedies = ("make room", _OTHER_FOLDER, _FEWER_CELLS)
        _refuse(f"a bundle of {counted(len(specs), 'image')}", needed, self.free(folder), folder, remedies)


def is_off(host: Host) -> bool:
    """Return whether the environment says not to check.

    Raises `InputError` for a word that is neither on nor off.
    """
    word = host.environment.get(VARIABLE, "on")
    if word not in {"on", "off"}:
        raise InputError(f"{VARIABLE}={word}: say on or off")
    return word == "off"


def _refuse(what: str, needed: int, free: int | None, where: Path, remedies: Sequence[str]) -> None:
    if why := space.shortage(what, needed, free, str(where), remedies):
        raise HostError(why)
