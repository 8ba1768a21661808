"""The package files of an image, as the image itself lists them."""

import base64
import json
from collections.abc import Iterable

import docker

from orchestrator.bundles.describe import rpm_database
from orchestrator.engine.questions import python_answer
from orchestrator.processes import Stop
from orchestrator.resources import IMAGES

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
MAX_ANSWER_BYTES = 160 << 20
"""More than the program writes, which bounds its files to 96 MiB."""
MAX_LINES = 30_000


def package_files(client: docker.DockerClient, image: str, stop: Stop) -> dict[str, str]:
    """Return the text of each package file of an image by its path without a leading slash.

    The text of an RPM database is its list of packages as JSON. The image's own Python reads the files in a container
    that is confined like what is measured, but may read what belongs to others.
    Raises `BuildError` if the image has no Python that answers, and `ValueError` if it answers something else.
    """
    program = (IMAGES / "package_files.py").read_text(encoding="utf-8")
    with python_answer(client, image, program, stop=stop, limit_bytes=MAX_ANSWER_BYTES) as lines:
        return stored_texts(lines)


def stored_texts(lines: Iterable[str]) -> dict[str, str]:
    """Return the texts by path from the lines of `images/package_files.py`.

    An image may answer anything. Raises `ValueError` for what is no such line, and for too many.
    """
    texts: dict[str, str] = {}
    for number, line in enumerate(lines):
        if number == MAX_LINES:
            raise ValueError(f"more than {MAX_LINES} lines")
        try:
            entry = json.loads(line)
        except RecursionError:
            raise ValueError("a line is nested too deep") from None
        match entry:
            case [str(path), None]:
                texts[_plain(path)] = UNREAD
            case [str(path), str(content)]:
                texts[_plain(path)] = _stored(path, base64.b64decode(content, validate=True))
            case _:
                raise ValueError(f"line {number + 1} is no path with its content")
    return texts


def _plain(path: str) -> str:
    """Return a path that can be written as UTF-8."""
    return path.encode("utf-8", "replace").decode("utf-8")


def _stored(path: str, content: bytes) -> str:
    if content and (path in _OTHER_DATABASES or path.endswith(f"/{_CONDA_HISTORY}")):
        return UNREAD
    if path not in RPM:
        return content.decode("utf-8", "replace")
    try:
        return json.dumps(rpm_database.packages(content))
    except rpm_database.UnreadableError:
        return UNREAD
