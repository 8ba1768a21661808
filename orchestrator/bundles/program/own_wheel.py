"""The wheel of the orchestrator, built from its checkout or put together again from its installation."""

import base64
import hashlib
import tempfile
import zipfile
from collections.abc import Mapping
from email.parser import HeaderParser
from importlib import metadata
from pathlib import Path, PurePosixPath

import uv

from orchestrator import processes
from orchestrator.errors import HostError
from orchestrator.images.settings import redacted, secrets
from orchestrator.processes import StartError
from orchestrator.resources import ROOT
from orchestrator.runtimes import sources
from orchestrator.runtimes.environments import Workshop, reason

DISTRIBUTION = "framework-bench-orchestrator"
BUILD_TIMEOUT_S = 300.0
_EPOCH = (1980, 1, 1, 0, 0, 0)
_INSTALLER_FILES = {"INSTALLER", "REQUESTED", "RECORD", "direct_url.json", "uv_cache.json", "uv_build.json"}
"""Files that installers add to the metadata. They are no part of a wheel."""


def write(folder: Path, workshop: Workshop, *, root: Path = ROOT) -> Path:
    """Write the wheel of the running orchestrator into `folder`. Equal contents give equal bytes.

    Raises `HostError` if it cannot be built, or if its installation was changed.
    """
    files = _built(root, workshop) if (root / "pyproject.toml").is_file() else installed(_distribution())
    path = folder / _file_name(files)
    pack(path, files)
    return path


def installed(distribution: metadata.Distribution) -> dict[str, bytes]:
    """Return the files of the wheel that a distribution was installed from, by their names in it.

    Raises `HostError` if a file has changed since the installation.
    """
    files: dict[str, bytes] = {}
    entries = distribution.files or []
    home = next((each.parent.stem for each in entries if each.parent.suffix == ".dist-info"), "")
    for entry in entries:
        shared = _shared(entry)
        if shared is None and _is_installer_file(entry):
            continue
        place = Path(str(entry.locate()))
        if shared is not None and not place.is_file():  # `pip install --target` puts it elsewhere than it records
            place = Path(str(distribution.locate_file(shared)))
        try:
            content = place.read_bytes()
        except OSError as error:
            raise HostError(f"{place}: {error.strerror}; install the orchestrator again") from error
        if entry.hash and entry.hash.value != _digest(content, entry.hash.mode):
            raise HostError(f"{place}: changed since it was installed; install the orchestrator again")
        files[entry.as_posix() if shared is None else f"{home}.data/data/{shared}"] = content
    return files


def pack(path: Path, files: Mapping[str, bytes]) -> None:
    """Write files as a wheel with a new record, in order of name and without times.

    The files are not compressed, because then the bytes would depend on the compression library.
    """
    information = _information(files)
    record = "".join(f"{name},sha256={_digest(files[name])},{len(files[name])}\n" for name in sorted(files))
    whole = {**files, f"{information}/RECORD": f"{record}{information}/RECORD,,\n".encode()}
    # The metadata comes last, because some installers read from the end.
    names = sorted(whole, key=lambda name: (name.startswith(f"{information}/"), name))
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for name in names:
            entry = zipfile.ZipInfo(name, _EPOCH)
            entry.create_system, entry.external_attr = 3, 0o100644 << 16
            archive.writestr(entry, whole[name])


def _built(root: Path, workshop: Workshop) -> dict[str, bytes]:
    offline = ["--no-index"] if workshop.settings.no_index else []
    with tempfile.TemporaryDirectory(prefix="bench-") as place:
        locked = ["--build-constraints", str(root / "locks" / "build.txt"), "--require-hashes"]
        command = [uv.find_uv_bin(), "build", "--wheel", "--quiet", *locked, *offline, "--out-dir", place, str(root)]
        variables = sources.variables(workshop.settings, workshop.host, workshop.cache)
        try:
            build = processes.capture(command, environment=variables, folder=root, timeout_s=BUILD_TIMEOUT_S)
        except StartError as error:
            raise HostError(f"the orchestrator's own wheel cannot be built: {error}") from error
        if build.exit_code != 0:
            cause = redacted(reason(build.errors), secrets(workshop.settings))
            raise HostError(f"{root}: the orchestrator's own wheel cannot be built: {cause}")
        (wheel,) = Path(place).glob("*.whl")
        with zipfile.ZipFile(wheel) as archive:
            return {name: archive.read(name) for name in archive.namelist() if not name.endswith("/RECORD")}


def _distribution() -> metadata.Distribution:
    try:
        return metadata.distribution(DISTRIBUTION)
    except metadata.PackageNotFoundError:
        raise HostError(
            f"{DISTRIBUTION} is not installed, and no checkout either: its wheel cannot be made; install it with pip"
        ) from None


def _shared(entry: PurePosixPath) -> str | None:
    """Return the place of a file below the prefix of the installation, such as a manual page, or None for others."""
    below = [part for part in entry.parts if part != ".."]
    return "/".join(below) if ".." in entry.parts and below[0] == "share" else None


def _is_installer_file(entry: PurePosixPath) -> bool:
    in_metadata = entry.parent.suffix == ".dist-info" and entry.name in _INSTALLER_FILES
    return in_metadata or ".." in entry.parts or entry.suffix == ".pyc"


def _information(files: Mapping[str, bytes]) -> str:
    return next(name.partition("/")[0] for name in files if name.endswith(".dist-info/WHEEL"))


def _file_name(files: Mapping[str, bytes]) -> str:
    information = _information(files)
    tags = HeaderParser().parsestr(files[f"{information}/WHEEL"].decode()).get_all("Tag") or []
    return f"{information.removesuffix('.dist-info')}-{'.'.join(tags)}.whl"


def _digest(content: bytes, algorithm: str = "sha256") -> str:
    return base64.urlsafe_b64encode(hashlib.new(algorithm, content).digest()).rstrip(b"=").decode()
