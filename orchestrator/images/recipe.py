"""The exact text and files an image is built from, worked out without an engine."""

import hashlib
import re
from dataclasses import dataclass, replace
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from orchestrator.build_settings import BuildSettings
from orchestrator.domain import ImageSpec
from orchestrator.errors import InputError
from orchestrator.images import labels, wheels
from orchestrator.images.context import ContextFile, digest, folder_files, source_files
from orchestrator.images.dockerfiles import base_reference, cuda_reference, environment_text, image_text, prefixed
from orchestrator.images.wheels import Candidate
from orchestrator.resources import BENCHMARKS

ENVIRONMENT_REPOSITORY = "bench/environment"
_HASH_DIGITS = 12


@dataclass(frozen=True, slots=True)
class Inputs:
    """The inputs of a recipe from this host's disk."""

    benchmarks: tuple[ContextFile, ...]
    wheels: tuple[Candidate, ...] = ()
    dockerfile: tuple[ContextFile, ...] = ()
    """The user's own Dockerfile, first, and its folder."""
    certificates: bytes | None = None


@dataclass(frozen=True, slots=True)
class BuildStep:
    """One call of the builder, with its context and the name of its product."""

    reference: str
    files: tuple[ContextFile, ...]
    """The Dockerfile first."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """Everything that is needed to build one image, and the names it will have."""

    spec: ImageSpec
    reference: str
    """The truth: `bench/mxnet:1.9.1-cpu-<content hash>`."""
    alias: str
    """For people: `bench/mxnet:1.9.1-cpu`."""
    content: str
    """The content hash alone."""
    dockerfile: str
    """Both steps as one text, such as a person could give to `docker build`."""
    environment: BuildStep | None
    """Everything but the measuring side, under a name of its own: it outlives changes to that side, and the images of
    several system classes share it. None for the user's own image."""
    image: BuildStep
    base: str
    """The image that all of it stands on; empty for the user's own Dockerfile, which names it itself."""
    bases: tuple[str, ...]
    """Every image that must be on the engine before."""
    labels: tuple[tuple[str, str], ...]

    @property
    def files(self) -> tuple[ContextFile, ...]:
        """The context of `dockerfile`."""
        below = self.environment.files[1:] if self.environment else ()
        return (ContextFile("Dockerfile", self.dockerfile.encode()), *below, *self.image.files[1:])


def measuring_side() -> tuple[ContextFile, ...]:
    """Read the files of `benchmarks/`, which are those of every image."""
    return source_files(BENCHMARKS, "benchmarks")


def gather(
    spec: ImageSpec,
    settings: BuildSettings,
    *,
    architecture: str = "amd64",
    benchmarks: tuple[ContextFile, ...] | None = None,
) -> Inputs:
    """Read the inputs of a recipe from this host. `architecture` is the engine's.

    `benchmarks` are the files of `measuring_side`, where they were read already.
    Raises `InputError` where a file that the settings or the matrix name cannot be read.
    """
    own_files = measuring_side() if benchmarks is None else benchmarks
    if spec.framework.image:
        return Inputs(own_files)
    if spec.framework.dockerfile:
        return Inputs(own_files, dockerfile=folder_files(Path(spec.framework.dockerfile)))
    offered = wheels.offered(settings.find_links, spec.environment.python, architecture)
    if spec.image_class != "cpu":
        # A local version outranks its release, so that a CPU build at hand would displace the GPU build of an index.
        offered = tuple(one for one in offered if not (one.version.local or "").startswith("cpu"))
    relevant = wheels.relevant(offered, spec.environment.requirements)
    return Inputs(own_files, wheels=relevant, certificates=_certificates(settings.ca_bundle))


def render(spec: ImageSpec, settings: BuildSettings, inputs: Inputs) -> Recipe:
    """Return the recipe of one image. Equal arguments give equal text, tags and files.

    Settings that only say where things come from leave the content hash alone.
    Raises `InputError` where the settings would leave a secret in the image.
    """
    base, environment = _below(spec, settings, inputs)
    below = environment.reference if environment else base
    own_labels = _labels(spec, base)
    text = image_text(spec, below, own_labels)
    content = _content(spec, settings, below, inputs)
    tag = re.sub(r"[^\w.-]", "-", spec.alias, flags=re.ASCII)
    alias = f"{spec.repository}:{tag}"
    reference = prefixed(f"{alias}-{content}", settings)
    cuda_image = cuda_reference(spec, settings) if environment else None
    return Recipe(
        spec=spec,
        reference=reference,
        alias=prefixed(alias, settings),
        content=content,
        dockerfile=_whole(spec, environment, text, own_labels),
        environment=environment,
        image=BuildStep(reference, (ContextFile("Dockerfile", text.encode()), *inputs.benchmarks)),
        base=base,
        bases=tuple(name for name in (base, cuda_image) if name),
        labels=own_labels,
    )


def left_out(settings: BuildSettings) -> tuple[str, ...]:
    """Return a line on indexes that no build can reach because they are folders of this host, or `()`."""
    indexes = (*((settings.pip_index,) if settings.pip_index else ()), *settings.extra_indexes)
    here = [index for index in indexes if index.startswith("file:")]
    if not here:
        return ()
    said = f"package index {', '.join(here)} exists on this host only and is left out of image builds"
    return (f"{said}; a folder of wheels in build.find_links is sent along",)


def expected_versions(spec: ImageSpec) -> tuple[tuple[str, str], ...]:
    """Return the versions the finished image must report, by canonical distribution name without extras."""
    pins = spec.environment.expected_versions
    return tuple((str(canonicalize_name(Requirement(name).name)), version) for name, version in pins)


def _below(spec: ImageSpec, settings: BuildSettings, inputs: Inputs) -> tuple[str, BuildStep | None]:
    """The base image, and the step that makes the environment on it."""
    if spec.framework.image:
        return spec.framework.image, None
    if spec.framework.dockerfile:
        return "", BuildStep(_environment_reference(digest(inputs.dockerfile), settings), inputs.dockerfile)
    indexed, certificates = _indexed(spec, inputs), inputs.certificates is not None
    text = environment_text(spec, settings, indexed=indexed, certificates=certificates)
    neutral = BuildSettings(settings.base_image, settings.base_images, settings.cuda_images)
    identity = environment_text(spec, neutral, indexed=_indexed(spec, Inputs(())), certificates=False)
    files = (ContextFile("Dockerfile", text.encode()), *_build_files(spec, settings, inputs))
    return base_reference(spec, settings), BuildStep(_environment_reference(_hash(identity), settings), files)


def _content(spec: ImageSpec, settings: BuildSettings, below: str, inputs: Inputs) -> str:
    if settings.registry and not spec.framework.image:
        below = below.removeprefix(prefixed("", settings))
    return _hash(image_text(spec, below, _labels(spec, "")), digest(inputs.benchmarks))[:_HASH_DIGITS]


def _whole(spec: ImageSpec, environment: BuildStep | None, text: str, own_labels: tuple[tuple[str, str], ...]) -> str:
    if environment is None or spec.framework.dockerfile:
        return text
    below = environment.files[0].read().decode()
    return f"{below}\n{image_text(spec, 'environment', own_labels)}"


def _indexed(spec: ImageSpec, inputs: Inputs) -> str | None:
    """Return the requirement to fetch from the framework's own index, or None if it is at hand.

    It is the backend's requirement if there is a backend.
    """
    environment = spec.environment
    if not environment.package_index:
        return None
    wanted = environment.requirements[1 if spec.framework.backend else 0]
    return None if wheels.offers(inputs.wheels, wanted) else wanted


def _build_files(spec: ImageSpec, settings: BuildSettings, inputs: Inputs) -> tuple[ContextFile, ...]:
    """The folder `build` of the context, which only a discarded stage sees."""
    files = [ContextFile("build/pip.conf", _pip_configuration(settings, inputs).encode())]
    if spec.environment.package_index:
        # Short of patience, because where it cannot be reached the build is to fail within seconds; and alone,
        # because another index may offer a GPU build of gigabytes under the same version.
        own = replace(settings, pip_index=spec.environment.package_index, extra_indexes=(), no_index=False)
        text = _pip_configuration(own, inputs) + "timeout = 5\nretries = 1\n"
        files.append(ContextFile("build/own-index.conf", text.encode()))
    if inputs.certificates is not None:
        files.append(ContextFile("build/ca.pem", inputs.certificates))
    files.extend(ContextFile(f"build/wheels/{one.path.name}", one.path) for one in inputs.wheels)
    return tuple(files)


def _pip_configuration(settings: BuildSettings, inputs: Inputs) -> str:
    urls = tuple(link for link in settings.find_links if not wheels.is_folder(link))
    index = settings.pip_index
    options = {
        "index-url": (index,) if index and not index.startswith("file:") else (),
        "extra-index-url": tuple(url for url in settings.extra_indexes if not url.startswith("file:")),
        "no-index": ("true",) if settings.no_index else (),
        "find-links": ("/opt/build/wheels", *urls),
        "trusted-host": settings.trusted_hosts,
        "cert": ("/opt/build/ca.pem",) if inputs.certificates is not None else (),
    }
    lines = [f"{name} = " + "\n    ".join(values) for name, values in options.items() if values]
    return "\n".join(["[global]", *lines]) + "\n"


def _labels(spec: ImageSpec, base: str) -> tuple[tuple[str, str], ...]:
    versions = {
        labels.TITLE: f"{spec.framework.label} ({spec.image_class})",
        labels.VERSION: spec.framework.version,
        labels.BASE_NAME: base,
        labels.KIND: labels.IMAGE,
        labels.FRAMEWORK: spec.framework.name,
        labels.FRAMEWORK_VERSION: spec.framework.version,
        labels.IMAGE_CLASS: spec.image_class,
        labels.PYTHON: spec.environment.python,
    }
    return tuple((name, value) for name, value in versions.items() if value)


def _environment_reference(content: str, settings: BuildSettings) -> str:
    return prefixed(f"{ENVIRONMENT_REPOSITORY}:{content[:_HASH_DIGITS]}", settings)


def _hash(*texts: str) -> str:
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()


def _certificates(bundle: str | None) -> bytes | None:
    if not bundle:
        return None
    try:
        return Path(bundle).read_bytes()
    except OSError as error:
        raise InputError(
            f"build.ca_bundle: {bundle}: {error.strerror}; name a PEM file (PIP_CERT and SSL_CERT_FILE count too)"
        ) from error
