"""The package files of an image, as the image itself lists them."""

import json

import docker

from orchestrator.bundles.describe import rpm_database
from orchestrator.engine.questions import ask_python
from orchestrator.resources import BENCHMARKS

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
MAX_ANSWER_BYTES = 256 << 20


def package_files(client: docker.DockerClient, image: str) -> dict[str, str]:
    """Return the text of each package file of an image by its path without a leading slash.

    The text of an RPM database is its list of packages as JSON. The image's own Python reads the files, as root,
    so that no folder is closed to it, in a container that is confined like what is measured.
    Raises `BuildError` if the image has no Python that answers.
    """
    source = (BENCHMARKS / "package_files.py").read_text(encoding="utf-8")
    return stored_texts(ask_python(client, image, source, answer_bytes=MAX_ANSWER_BYTES))


def stored_texts(answer: str) -> dict[str, str]:
    """Return the texts by path from the lines of `benchmarks/package_files.py`. Raises `ValueError` for other lines."""
    lines = (json.loads(line) for line in answer.splitlines())
    return {path: UNREAD if content is None else _stored(path, content.encode("latin-1")) for path, content in lines}


def _stored(path: str, content: bytes) -> str:
    if content and (path in _OTHER_DATABASES or path.endswith(f"/{_CONDA_HISTORY}")):
        return UNREAD
    if path not in RPM:
        return content.decode("utf-8", "replace")
    try:
        return json.dumps(rpm_database.packages(content))
    except rpm_database.UnreadableError:
        return UNREAD
