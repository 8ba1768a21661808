"""The acceptance of a release as the baseline of later nights."""

from dataclasses import dataclass
from pathlib import Path

from packaging.version import InvalidVersion, Version

from orchestrator.errors import InputError
from orchestrator.regression.nightly.files import NightFiles
from orchestrator.regression.nightly.loading import Nightly
from orchestrator.regression.nightly.settings import ACCEPTED
from orchestrator.workflows import option_values
from orchestrator.workflows.host.host import Host
from orchestrator.workflows.measure.pair import SourceOptions
from orchestrator.workflows.nightly.planner import NightlyPlanner


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptOptions:
    """The options of `accept`."""

    release: str
    """A release, as in `mxnet==1.9.1` or `1.9.1`."""
    file: Path = option_values.NIGHTLY_FILE
    """The package that is watched, and the way it is measured."""
    models: Path | None = None
    """A folder with models of the user's own."""


@dataclass(frozen=True, slots=True)
class AcceptResult:
    """The change of the baseline."""

    name: str
    """The name before `==` of a watched release."""
    watched: str
    accepted: str
    before: str
    """The release that was accepted before, or an empty text."""


def accept(options: AcceptOptions, host: Host) -> AcceptResult:
    """Take a release as the baseline of later nights, whatever its verdict. Raises `InputError` if it cannot be.

    Example: `accept(AcceptOptions(release="mxnet==1.9.1"), this_host()).before`
    """
    planner = NightlyPlanner.of(options.file, SourceOptions(models=options.models), host)
    nightly = planner.nightly
    if nightly.settings.baseline != ACCEPTED:
        raise InputError(
            f"{nightly.path}: baseline: is the pin {nightly.settings.baseline}; write `baseline: accepted` to accept "
            "releases"
        )
    version = named_version(options.release, nightly)
    if reason := planner.unknown_reason(version):
        raise InputError(f"{options.release!r}: {reason}")
    files = NightFiles(nightly.reports)
    with files.held():
        state = files.state(nightly.watched)
        files.write_state(state.model_copy(update={"accepted": version, "accepted_by": "hand"}))
    return AcceptResult(nightly.name, nightly.watched, version, state.accepted)


def named_version(release: str, nightly: Nightly) -> str:
    """Return the version of a watched release, as in `mxnet==1.9.1` or `1.9.1`. Raises `InputError` for any other."""
    name, mark, version = (part.strip() for part in release.rpartition("=="))
    if mark and name != nightly.name:
        raise InputError(f"{release!r}: {nightly.path} watches {nightly.name!r}; write {nightly.name}=={version}")
    try:
        return str(Version(version))
    except InvalidVersion:
        raise InputError(f"{release!r} is no release such as {nightly.name}==1.9.1") from None
