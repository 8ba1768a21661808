"""The image of the orchestrator, built from a bundle's wheels for hosts without a suitable Python."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from uuid import uuid4

import docker

from orchestrator import __version__
from orchestrator.build_settings import BuildSettings
from orchestrator.bundles.format.streams import STOPPED, TransferStoppedError
from orchestrator.bundles.program.own_wheel import DISTRIBUTION
from orchestrator.domain import Environment, Framework, ImageSpec
from orchestrator.engine import images as engine
from orchestrator.engine.images import BuildError, Builds
from orchestrator.errors import HostError, InputError
from orchestrator.images import labels
from orchestrator.images.bases import Bases
from orchestrator.images.context import ContextFile, digest, tar
from orchestrator.images.dockerfiles import base_reference, environment_text, orchestrator_text
from orchestrator.images.settings import build_arguments, build_network, redacted, secrets
from orchestrator.processes import Stop

REPOSITORY = "bench/orchestrator"
PYTHON = "3.13"
"""Used if the bundle has wheels for it."""
SYSTEM_PACKAGES = ("openssh-client",)
"""Holds `ssh-keygen`, which checks signatures."""


@dataclass(frozen=True, slots=True)
class OwnImageRecipe:
    """The inputs of the image, and its names."""

    spec: ImageSpec
    reference: str
    content: str
    """The content hash, which is part of the reference."""
    base: str
    files: tuple[ContextFile, ...]
    """The build context, with the Dockerfile first."""


def recipe(wheels: Sequence[Path], python: str, settings: BuildSettings) -> OwnImageRecipe:
    """Return the recipe of the image. Its reference depends on its contents, not on the settings of the site.

    `wheels` are those for `python`, including pip and the orchestrator. Raises `InputError` if a file that the
    settings name cannot be read.
    """
    certificates = _certificates(settings)
    files = [ContextFile(f"build/wheels/{wheel.name}", wheel) for wheel in sorted(wheels)]
    configuration = ContextFile("build/pip.conf", b"[global]\nno-index = true\nfind-links = /opt/build/wheels\n")
    trust = [ContextFile("build/ca.pem", certificates)] if certificates else []
    neutral = BuildSettings(base_image=settings.base_image, base_images=settings.base_images)
    identity = _text(python, neutral, certificates=False)
    content = hashlib.sha256(f"{identity}\0{digest(files)}".encode()).hexdigest()[:12]
    text = _text(python, settings, certificates=bool(trust))
    spec = _spec(python)
    return OwnImageRecipe(
        spec=spec,
        reference=f"{REPOSITORY}:{__version__}-{content}",
        content=content,
        base=base_reference(spec, settings),
        files=(ContextFile("Dockerfile", text.encode()), configuration, *trust, *files),
    )


def build(
    client: docker.DockerClient, recipe: OwnImageRecipe, settings: BuildSettings, *, log: Path, stop: Stop
) -> str:
    """Build the image if it is missing, and return its id. Raises `HostError` with the reason if that fails."""
    present = engine.facts(client, recipe.reference)
    if present is not None:
        return present.image_id
    token = uuid4().hex
    builds = Builds(client)
    with log.open("w", encoding="utf-8") as file:

        def note(line: str) -> None:
            file.write(redacted(line, secrets(settings)) + "\n")
            if stop.is_set():
                raise TransferStoppedError(STOPPED)

        try:
            base_digest = Bases(client, stop.is_set).digest(recipe.base)
            image_id = builds.build(
                tar(_labelled(recipe, base_digest)),
                build_args={**build_arguments(settings), "BENCH_BUILD": token},
                network=build_network(settings),
                on_line=note,
            )
        except BuildError as error:
            cause = redacted(str(error), secrets(settings))
            raise HostError(f"the orchestrator's own image cannot be built: {cause} (log: {log})") from error
        finally:
            engine.remove_steps(client, f"{labels.STAGE}={token}")
    engine.tag(client, image_id, recipe.reference)
    return image_id


def _labelled(recipe: OwnImageRecipe, base_digest: str) -> tuple[ContextFile, ...]:
    """Return the context with labels for `clean` and for the provenance."""
    dockerfile, *rest = recipe.files
    text = dockerfile.read()
    values = {
        labels.KIND: labels.IMAGE,
        labels.CONTENT: recipe.content,
        labels.BASE_DIGEST: base_digest,
        labels.DOCKERFILE: hashlib.sha256(text).hexdigest(),
    }
    pairs = " ".join(f'{name}="{value}"' for name, value in values.items())
    return (replace(dockerfile, content=text + f"\nLABEL {pairs}\n".encode()), *rest)


def _text(python: str, settings: BuildSettings, *, certificates: bool) -> str:
    environment = environment_text(_spec(python), settings, indexed=None, certificates=certificates)
    own_labels = {
        labels.TITLE: "orchestrator",
        labels.VERSION: __version__,
        labels.BASE_NAME: base_reference(_spec(python), settings),
        labels.ORCHESTRATOR: __version__,
    }
    return environment + orchestrator_text(tuple(own_labels.items()))


def _spec(python: str) -> ImageSpec:
    """Return the orchestrator as an environment of requirements on a base image."""
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
