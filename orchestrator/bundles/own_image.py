"""The orchestrator as an image, for hosts without a Python that is new enough: built from a bundle's own wheels."""

import gzip
import hashlib
import io
import json
import posixpath
import tarfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO, cast
from uuid import uuid4

import docker

from orchestrator import __version__
from orchestrator.bundles.own_wheel import DISTRIBUTION
from orchestrator.bundles.saving import STOPPED, Stoppable, StoppedError
from orchestrator.domain import BuildSettings, Environment, Framework, ImageSpec
from orchestrator.engine import images as engine
from orchestrator.engine import transfer
from orchestrator.engine.images import BuildError, Builds
from orchestrator.engine.transfer import TransferError
from orchestrator.errors import HostError, InputError
from orchestrator.images import labels
from orchestrator.images.bases import Bases
from orchestrator.images.context import File, digest, tar
from orchestrator.images.dockerfiles import base_reference, environment_text, orchestrator_text
from orchestrator.images.settings import build_arguments, build_network, redacted, secrets
from orchestrator.processes import Stop

REPOSITORY = "bench/orchestrator"
PYTHON = "3.13"
"""Preferred, where the bundle has wheels for it."""
SYSTEM_PACKAGES = ("openssh-client",)
"""For `ssh-keygen`, which checks signatures."""
_CHUNK = 1 << 20
_OF_OLDER_ENGINES = frozenset({"repositories", "VERSION", "json", "index.json", "oci-layout"})
"""What an archive holds beside the image, in forms that no engine since 1.10 needs."""


@dataclass(frozen=True, slots=True)
class OwnRecipe:
    """What the image is built from, and the names that it will have."""

    spec: ImageSpec
    reference: str
    content: str
    """The content hash alone, as in the reference."""
    base: str
    files: tuple[File, ...]
    """Of the context, the Dockerfile first."""


def recipe(wheels: Sequence[Path], python: str, settings: BuildSettings) -> OwnRecipe:
    """Give what the image is built from; its name is that of its content, whatever the settings of the site.

    `wheels` are those of Python `python`, pip's and our own among them. Raises `InputError` where a file that the
    settings name cannot be read.
    """
    certificates = _certificates(settings)
    files = [File(f"build/wheels/{wheel.name}", wheel) for wheel in sorted(wheels)]
    configuration = File("build/pip.conf", b"[global]\nno-index = true\nfind-links = /opt/build/wheels\n")
    trust = [File("build/ca.pem", certificates)] if certificates else []
    identity = _text(python, BuildSettings(base_image=settings.base_image), certificates=False)
    content = hashlib.sha256(f"{identity}\0{digest(files)}".encode()).hexdigest()[:12]
    text = _text(python, settings, certificates=bool(trust))
    spec = _spec(python)
    return OwnRecipe(
        spec=spec,
        reference=f"{REPOSITORY}:{__version__}-{content}",
        content=content,
        base=base_reference(spec, settings),
        files=(File("Dockerfile", text.encode()), configuration, *trust, *files),
    )


def build(client: docker.DockerClient, wanted: OwnRecipe, settings: BuildSettings, *, log: Path, stop: Stop) -> str:
    """Build the image unless it is there, and return its id; raises `HostError` with the reason where that fails."""
    there = engine.facts(client, wanted.reference)
    if there is not None:
        return there.image_id
    token = uuid4().hex
    builds = Builds(client)
    with log.open("w", encoding="utf-8") as file:

        def note(line: str) -> None:
            file.write(redacted(line, secrets(settings)) + "\n")
            if stop.is_set():
                raise StoppedError(STOPPED)

        try:
            digest_of_base = Bases(client, stop.is_set).digest(wanted.base)
            image_id = builds.build(
                tar(_labelled(wanted, digest_of_base)),
                build_args={**build_arguments(settings), "BENCH_BUILD": token},
                network=build_network(settings),
                on_line=note,
            )
        except BuildError as error:
            why = redacted(str(error), secrets(settings))
            raise HostError(f"the orchestrator's own image cannot be built: {why} (log: {log})") from error
        finally:
            engine.remove_steps(client, f"{labels.STAGE}={token}")
    engine.tag(client, image_id, wanted.reference)
    return image_id


def _labelled(wanted: OwnRecipe, digest_of_base: str) -> tuple[File, ...]:
    """The context with what `clean` and the image's provenance know it by."""
    dockerfile, *rest = wanted.files
    text = dockerfile.read()
    told = {
        labels.KIND: labels.IMAGE,
        labels.CONTENT: wanted.content,
        labels.BASE_DIGEST: digest_of_base,
        labels.DOCKERFILE: hashlib.sha256(text).hexdigest(),
    }
    named = " ".join(f'{name}="{value}"' for name, value in told.items())
    return (replace(dockerfile, content=text + f"\nLABEL {named}\n".encode()), *rest)


def save(client: docker.DockerClient, reference: str, path: Path, stop: Stop) -> None:
    """Write an image as a plain gzip docker-archive, which every engine reads; equal images make equal bytes.

    Raises `HostError` where the engine does not give it, `StoppedError` when asked to stop.
    """
    try:
        with (
            transfer.saved(client, [reference]) as stream,
            path.open("wb") as file,
            gzip.GzipFile(filename="", mode="wb", fileobj=file, compresslevel=6, mtime=0) as packed,
        ):
            _rewrite(Stoppable(stream, stop), cast("BinaryIO", packed), reference)
    except (TransferError, tarfile.TarError, EOFError, KeyError, ValueError, *transfer.STREAM_ERRORS) as error:
        raise HostError(f"the engine did not save {reference}: {error}") from error


def _rewrite(stream: Stoppable, out: BinaryIO, reference: str) -> None:
    links: dict[str, str] = {}
    manifest: list[dict[str, Any]] = []
    with (
        tarfile.open(fileobj=cast("BinaryIO", stream), mode="r|", bufsize=_CHUNK) as archive,
        tarfile.open(fileobj=out, mode="w|", bufsize=_CHUNK, format=tarfile.PAX_FORMAT) as made,
    ):
        for member in archive:
            name = posixpath.normpath(member.name)
            if member.issym():
                links[name] = posixpath.normpath(posixpath.join(posixpath.dirname(name), member.linkname))
            elif name == "manifest.json":
                manifest = json.loads(cast("BinaryIO", archive.extractfile(member)).read())
            elif member.isreg() and posixpath.basename(name) not in _OF_OLDER_ENGINES:
                _add(made, name, member.size, cast("BinaryIO", archive.extractfile(member)))
            archive.members = []  # type: ignore[attr-defined]  # it would remember every one
        (entry,) = manifest
        # A layer that the engine has under two names is a link in its archive: named once here, and no link carried.
        told = [{
            "Config": entry["Config"],
            "RepoTags": [f"{REPOSITORY}:{__version__}", reference],
            "Layers": [links.get(posixpath.normpath(name), name) for name in entry["Layers"]],
        }]  # fmt: skip
        content = json.dumps(told).encode()
        _add(made, "manifest.json", len(content), io.BytesIO(content))


def _add(made: tarfile.TarFile, name: str, size: int, file: BinaryIO) -> None:
    entry = tarfile.TarInfo(name)
    entry.size = size
    made.addfile(entry, file)


def _text(python: str, settings: BuildSettings, *, certificates: bool) -> str:
    below = environment_text(_spec(python), settings, indexed=None, certificates=certificates)
    own = {
        labels.TITLE: "orchestrator",
        labels.VERSION: __version__,
        labels.BASE_NAME: base_reference(_spec(python), settings),
        labels.ORCHESTRATOR: __version__,
    }
    return below + orchestrator_text(tuple(own.items()))


def _spec(python: str) -> ImageSpec:
    """The orchestrator as any other environment: requirements on a base image."""
    requirement = f"{DISTRIBUTION}=={__version__}"
    environment = Environment("", python, requirements=(requirement,), system_packages=SYSTEM_PACKAGES)
    return ImageSpec(REPOSITORY, __version__, "cpu", Framework("orchestrator", __version__, python=python), environment)


def _certificates(settings: BuildSettings) -> bytes | None:
    if not settings.ca_bundle:
        return None
    try:
        return Path(settings.ca_bundle).read_bytes()
    except OSError as error:
        raise InputError(f"build.ca_bundle: {settings.ca_bundle}: {error.strerror}; name a PEM file") from error
