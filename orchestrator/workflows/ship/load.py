"""The verification and the loading of a bundle on the far side."""

import contextlib
import platform
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from orchestrator.bundles.format import layout, signature
from orchestrator.bundles.format.manifest import Manifest
from orchestrator.bundles.format.sources import open_source, read_whole
from orchestrator.bundles.format.streams import Meter, stoppable
from orchestrator.bundles.read import stored_files
from orchestrator.bundles.read.load import load_images
from orchestrator.bundles.read.load_lock import one_load_at_a_time
from orchestrator.bundles.read.loaded_bundle import LoadedBundle
from orchestrator.bundles.read.receiver import Receiver
from orchestrator.bundles.read.verify import OpenedBundle, open_bundle
from orchestrator.bundles.read.verify import verify as verify_bundle
from orchestrator.domain import Plan
from orchestrator.engine import transfer
from orchestrator.engine.client import connect
from orchestrator.workflows.host.host import Host

_UNVERIFIED = "stopped before every byte was read; the same command starts again"


@dataclass(frozen=True, slots=True, kw_only=True)
class BundleOptions:
    """The options of `verify` and `load`."""

    bundle: Path
    """The folder or the tar that `export` wrote."""
    allowed_signers: Path | None = None
    """Accept the bundle only from those who are named in this file, as in ssh-keygen(1)."""


@dataclass(frozen=True, slots=True)
class VerifyResult:
    """A bundle whose bytes are those of its manifest."""

    manifest: Manifest
    """The images and all other files, each with its size and digest."""
    manifest_sha256: str

    @property
    def size_bytes(self) -> int:
        """The bytes of all files."""
        return _size_bytes(self.manifest)


@dataclass(frozen=True, slots=True)
class LoadResult(VerifyResult):
    """A bundle whose images are on the engine."""

    bundle: LoadedBundle
    """The bundle as it is registered here. `plan` and `run` take its name."""
    plan: Plan
    loaded: tuple[str, ...]
    """The images that were missing."""


def verify(options: BundleOptions, host: Host) -> VerifyResult:
    """Prove every byte of a bundle against its manifest. No engine is needed.

    Raises `InputError` if the bundle is damaged, or made by another than allowed. Raises `TransferStoppedError` after
    a request to stop.

    Example: `verify(BundleOptions(bundle=Path("usb/night")), this_host()).size_bytes`
    """
    opened = _opened(options, host)
    with host.working():
        meter = Meter(host.listener, "verified", _size_bytes(opened.manifest))
        verify_bundle(opened, stoppable(meter, host.stop, _UNVERIFIED))
    return VerifyResult(opened.manifest, opened.manifest_sha256)


def load(options: BundleOptions, host: Host) -> LoadResult:
    """Verify a bundle, and put the images and layers that are missing on the engine.

    Processes that load one bundle on a host at the same time take turns, and only the first has work to do.
    Raises as `verify` does. Raises `HostError` if the engine or the disk cannot take it.

    Example: `load(BundleOptions(bundle=Path("usb/night.tar")), this_host()).bundle.name`
    """
    opened = _opened(options, host)
    turn = one_load_at_a_time(host.cache, platform.node(), opened.manifest_sha256, host.say, host.stop)
    with contextlib.closing(connect(host.environment)) as client, host.working(), turn:
        meter = Meter(host.listener, "read", _size_bytes(opened.manifest))
        sources = stored_files.check_stored_files(opened, options.bundle, host.bundles, host.stop)
        by_manifest = transfer.knows_by_manifest(client)
        to = Receiver(client, meter, host.say, host.stop, by_manifest)
        loaded = load_images(opened, options.bundle, to)
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        bundle = stored_files.store(host.bundles, opened, sources, to.identity, now)
    names = tuple(image.name for image in loaded)
    return LoadResult(opened.manifest, opened.manifest_sha256, bundle, bundle.plan(), names)


def _opened(options: BundleOptions, host: Host) -> OpenedBundle:
    """Open a bundle, and report who made it.

    Raises `InputError` if that must be another.
    """
    opened = open_bundle(open_source(options.bundle))
    source = opened.source
    made = (
        read_whole(source, layout.SIGNATURE, signature.MAX_SIGNATURE_BYTES)
        if layout.SIGNATURE in source.sizes
        else None
    )
    allowed, place = options.allowed_signers, str(options.bundle)
    host.say(signature.check(opened.manifest.encoded(), made, allowed, host.environment, bundle=place).sentence)
    return opened


def _size_bytes(manifest: Manifest) -> int:
    return sum(file.size_bytes for file in manifest.files)
