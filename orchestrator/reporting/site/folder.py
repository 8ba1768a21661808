"""The folder of a site: data named by content, a record of what is in it, and a page that is replaced last."""

import json
import os
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from orchestrator.errors import HostError, InputError, remedy
from orchestrator.reporting.site.encoding import Document, parsed
from orchestrator.results.files.writing import flush, write_atomically

RECORD = "published.json"
"""The record of a site, which marks its folder as ours."""
DATA = "data"
INDEX = "index.html"
_FORMAT = "site/1"
_LOCK = ".lock"


@dataclass(frozen=True, slots=True)
class PublishedRun:
    """A run as it was published."""

    stamp: str
    """Changes if any file of the run that is read does."""
    file: str


@dataclass(slots=True)
class SiteFolder:
    """The folder of a site, to which files are added until it is completed."""

    folder: Path
    version: str
    """Changes if the same files of runs would be published in another way."""
    runs: dict[str, PublishedRun] = field(default_factory=dict)
    """Those of the site that is there."""
    series: str = ""
    """The name of its series."""
    files: dict[str, int] = field(default_factory=dict)
    """All files of the site that is there, with their sizes in bytes."""
    kept: dict[str, int] = field(default_factory=dict)
    """All files of the new site."""
    written: int = 0

    def add(self, name: str, text: str) -> None:
        """Add a file of data whose name is made of its content, which is ASCII."""
        place = f"{DATA}/{name}.js"
        self.kept[place] = len(text)
        if _size(f"{self.folder}/{place}") != len(text):
            self.written += 1
            _write(self.folder / place, text.encode())

    def keep(self, names: Iterable[str]) -> bool:
        """Keep files of data that are there. Return false if one of them is missing, or was cut off."""
        places = [f"{DATA}/{name}.js" for name in names]
        sizes = {place: self.files.get(place) for place in places}
        if any(size is None or _size(f"{self.folder}/{place}") != size for place, size in sizes.items()):
            return False
        self.kept.update({place: size for place, size in sizes.items() if size is not None})
        return True

    def put(self, place: str, content: bytes) -> None:
        """Write a file of the front, if it is not there as it is."""
        self.kept[place] = len(content)
        path = self.folder / place
        if not path.is_file() or path.read_bytes() != content:
            self.written += 1
            _write(path, content)

    def read(self, name: str) -> Document | None:
        """Return a document that is there, or None if it is missing or damaged."""
        try:
            return parsed((self.folder / DATA / f"{name}.js").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None

    def complete(self, page: str, runs: Mapping[str, PublishedRun], series: str) -> int:
        """Replace the page and the record, and then remove files of the earlier site. Return the size in bytes."""
        record = {
            "format": _FORMAT, "version": self.version, "series": series, "files": dict(sorted(self.kept.items())),
            "runs": {name: [run.stamp, run.file] for name, run in runs.items()},
        }  # fmt: skip
        flush(self.folder)
        write_atomically(self.folder / INDEX, page)
        write_atomically(self.folder / RECORD, json.dumps(record, separators=(",", ":")) + "\n")
        for place in self.files.keys() - self.kept.keys():
            (self.folder / place).unlink(missing_ok=True)
        return sum(self.kept.values()) + len(page.encode())


def open_folder(folder: Path, version: str, *, whole: bool) -> SiteFolder:
    """Make the folder of a site, or take up the one that is there, of which nothing is kept with `whole`.

    Raises `InputError` if something else is in it, and `HostError` if it cannot be made.
    """
    try:
        (folder / DATA).parent.mkdir(parents=True, exist_ok=True)
        others = [path.name for path in folder.iterdir() if path.name != _LOCK]
    except OSError as error:
        raise HostError(f"{folder}: cannot be made: {error.strerror}; choose another place with -o") from error
    site = SiteFolder(folder, version)
    if not others:
        return site
    try:
        record = json.loads((folder / RECORD).read_text(encoding="utf-8"))
        is_ours = str(record["format"]).startswith("site/")
        files = {str(place): int(size) for place, size in record["files"].items() if _is_ours(place)}
        runs = {str(name): PublishedRun(str(stamp), str(file)) for name, (stamp, file) in record["runs"].items()}
        series, published_as = str(record["series"]), str(record["version"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        is_ours = False
    if not is_ours:
        raise InputError(f"{folder}: holds {others[0]}, and no site; name an empty or a new folder with -o")
    site.files = files
    if published_as == version and not whole:
        site.runs, site.series = runs, series
    return site


def _is_ours(place: object) -> bool:
    """Return true for a path that a site of ours may have, and that leads nowhere else."""
    return isinstance(place, str) and place.split("/")[0] in {DATA, "app", "vendor"} and ".." not in place.split("/")


def _size(path: str) -> int | None:
    try:
        return os.stat(path).st_size  # noqa: PTH116 -- a `Path` for each takes far longer
    except OSError:
        return None


def _write(path: Path, content: bytes) -> None:
    """Write a file that no reader sees in part."""
    beside = path.with_name(f".{secrets.token_hex(8)}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        beside.write_bytes(content)
        beside.replace(path)
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise HostError(f"{path}: cannot be written: {error.strerror}; {remedy(error)}") from error
