"""Files and folders that a matrix names.

They are part of the input, so they must exist when it is read.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from orchestrator.catalog.source import Loc, Mistake, Source
from orchestrator.files import says_where_it_leads

_PACKAGES = ("*.whl", "*.tar.gz", "*.zip")
"""Files taken from a folder of wheels."""
_BESIDE = "relative paths start at the folder of the matrix"
_OUTSIDE = "leads out of the folder of the matrix through a link; write where it is"


def path_of(text: str, folder: Path) -> Path | None:
    """Return the path that an entry names, or None for a URL of another host."""
    if text.startswith("file://"):
        return Path(text.removeprefix("file://"))
    return None if "://" in text else folder / text


def missing(source: Source, folder: Path, only: str = "") -> Iterator[Mistake]:
    """Yield a mistake for every Dockerfile, certificate, wheel folder or model folder that does not exist.

    `only` limits this to the entries under one key of the file.
    """
    for loc, text, is_there, what in _named(source.value):
        if only and loc[0] != only:
            continue
        path = path_of(text, folder)
        if path is not None and not _holds(is_there, path):
            yield source.mistake(loc, f"there is no {what} {text!r}; {_BESIDE}")
        elif path is not None:
            paths = (path, *_packages(path)) if "find_links" in loc else (path,)
            astray = next((each for each in paths if not says_where_it_leads(each, folder)), None)
            if astray is not None:
                shown = text if astray == path else f"{text}/{astray.name}"
                yield source.mistake(loc, f"{shown!r} {_OUTSIDE}: {str(astray.resolve())!r}")


def outside(source: Source, folder: Path) -> Iterator[Mistake]:
    """Yield a mistake if the data folder leads elsewhere through a link.

    The folder need not exist before anything is run.
    """
    text = source.value.get("data_folder")
    if isinstance(text, str) and is_folder(folder / text) and not says_where_it_leads(folder / text, folder):
        yield source.mistake(("data_folder",), f"{text!r} {_OUTSIDE}: {str((folder / text).resolve())!r}")


def _named(value: dict[str, Any]) -> Iterator[tuple[Loc, str, Callable[[Path], bool], str]]:
    """Yield every text that stands where a path should be, with its place, the test for it, and a word for it.

    Other values are passed over: the check of the shape reports them.
    """
    frameworks, build = value.get("frameworks"), value.get("build")
    for index, entry in enumerate(frameworks if isinstance(frameworks, list) else ()):
        if isinstance(entry, dict) and isinstance(text := entry.get("dockerfile"), str) and text:
            yield ("frameworks", index, "dockerfile"), text, Path.is_file, "file"
    if isinstance(text := value.get("models_folder"), str) and text:
        yield ("models_folder",), text, Path.is_dir, "folder"
    if not isinstance(build, dict):
        return
    if isinstance(text := build.get("ca_bundle"), str):
        yield ("build", "ca_bundle"), text, Path.is_file, "file"
    links = build.get("find_links")
    for index, link in enumerate(links if isinstance(links, list) else ()):
        if isinstance(link, str):
            yield ("build", "find_links", index), link, Path.is_dir, "folder"
    if isinstance(links, str):
        yield ("build", "find_links"), links, Path.is_dir, "folder"


def _packages(folder: Path) -> Iterator[Path]:
    for names in _PACKAGES:
        yield from sorted(folder.glob(names))


def is_folder(path: Path) -> bool:
    """Return true if a path names a folder, and False for a path that the file system rejects."""
    return _holds(Path.is_dir, path)


def _holds(is_there: Callable[[Path], bool], path: Path) -> bool:
    """Return the answer of a test of a path, or False if the file system rejects the path."""
    try:
        return is_there(path)
    except OSError:
        # The name may be longer than file systems take.
        return False
