"""The files of image layers that tell of installed packages."""

import json
import posixpath
from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict

from orchestrator.bundles.describe import rpm_database

DEBIAN = "var/lib/dpkg/status"
ALPINE = frozenset({"lib/apk/db/installed", "usr/lib/apk/db/installed"})
_RPM_FOLDERS = ("var/lib/rpm/", "usr/lib/sysimage/rpm/")
RPM = frozenset(f"{folder}rpmdb.sqlite" for folder in _RPM_FOLDERS)
_OTHER_DATABASES = frozenset(
    f"{folder}{name}" for folder in _RPM_FOLDERS for name in ("Packages", "Packages.db", "rpmdb.sqlite-wal")
)
"""Databases of older and other builds of RPM, and the log of what is not in the database yet."""
_CONDA_HISTORY = "conda-meta/history"
UNREAD = "\0"
"""Text in place of a package database that cannot be read."""
_EXACT = frozenset({DEBIAN, "etc/os-release", "usr/lib/os-release"}) | ALPINE | RPM | _OTHER_DATABASES
_BELOW = (f"{DEBIAN}.d/",)
_DISTRIBUTION_FILES = {".dist-info": ("METADATA", "direct_url.json"), ".egg-info": ("PKG-INFO",)}
_SITES = frozenset({"site-packages", "dist-packages"})


class LayerContents(BaseModel):
    """The package files of one layer, and what the layer removes from the layers below."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    files: dict[str, str] = {}
    """Text by path without a leading slash. The text of an RPM database is its list of packages as JSON."""
    removed: tuple[str, ...] = ()
    emptied: tuple[str, ...] = ()
    """Folders from which everything of the layers below is removed."""


def image_files(layers: Sequence[LayerContents]) -> dict[str, str]:
    """Return the package files of an image from those of its layers, lowest first."""
    files: dict[str, str] = {}
    for layer in layers:
        removed = (*layer.removed, *(f"{folder}/" if folder else "" for folder in layer.emptied))
        files = {path: text for path, text in files.items() if not any(_is_below(path, place) for place in removed)}
        files |= layer.files
    return files


def _is_below(path: str, place: str) -> bool:
    return path == place or path.startswith(place if place.endswith("/") or not place else f"{place}/")


def is_package_file(path: str) -> bool:
    """Return true if a file tells of installed packages or of the distribution."""
    if path in _EXACT or path.startswith(_BELOW) or path.endswith(f"/{_CONDA_HISTORY}"):
        return True
    folder, _, base = path.rpartition("/")
    site, _, distribution = folder.rpartition("/")
    if posixpath.basename(site) in _SITES:
        return base in _DISTRIBUTION_FILES.get(posixpath.splitext(distribution)[1], ())
    return posixpath.basename(folder) in _SITES and base.endswith(".egg-info")


def stored_text(path: str, content: bytes) -> str:
    """Return the text that is stored of a package file, `UNREAD` if it cannot be read."""
    if content and (path in _OTHER_DATABASES or path.endswith(f"/{_CONDA_HISTORY}")):
        return UNREAD
    if path not in RPM:
        return content.decode("utf-8", "replace")
    try:
        return json.dumps(rpm_database.packages(content))
    except rpm_database.UnreadableError:
        return UNREAD
