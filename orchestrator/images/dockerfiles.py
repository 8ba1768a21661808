"""The Dockerfile templates of `images/templates/`, filled in as deterministic text."""

import posixpath
import re
import shlex
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from orchestrator.build_settings import BuildSettings
from orchestrator.catalog import BaseImages, load_base_images
from orchestrator.domain import ImageSpec
from orchestrator.errors import InputError
from orchestrator.images import labels
from orchestrator.images.settings import password
from orchestrator.resources import IMAGES

if TYPE_CHECKING:
    import jinja2

TEMPLATES = IMAGES / "templates"


def base_reference(spec: ImageSpec, settings: BuildSettings) -> str:
    """The image that a catalog environment stands on, with the registry prefix of the settings."""
    return prefixed(base_image(spec.environment.python, settings), settings)


def base_image(python: str, settings: BuildSettings) -> str:
    """Return the base image for a Python such as `3.11`, without the registry prefix."""
    template = _named(python, settings) or _base_images().of(python).image
    return template.replace("{python}", python)


def _named(python: str, settings: BuildSettings) -> str | None:
    """Return the template that the settings name for a Python, or None if they leave it to the catalog."""
    return dict(settings.base_images).get(python, settings.base_image)


def _archive(python: str, settings: BuildSettings) -> str | None:
    """Return where the packages of the catalog's own base are kept, or None for another base."""
    return None if _named(python, settings) else _base_images().of(python).apt_archive


@cache
def _base_images() -> BaseImages:
    return load_base_images(IMAGES / "base_images.yaml")


def cuda_reference(spec: ImageSpec, settings: BuildSettings) -> str | None:
    """Return the image that CUDA libraries are copied from, or None if wheels bring their own."""
    environment = spec.environment
    if environment.cuda_image is None:
        return None
    own = dict(settings.cuda_images).get(environment.cuda.version) if environment.cuda else None
    return prefixed(own or environment.cuda_image, settings)


def prefixed(reference: str, settings: BuildSettings) -> str:
    """Return a name below the registry of the settings, if there is one."""
    return f"{settings.registry.rstrip('/')}/{reference}" if settings.registry else reference


def environment_text(
    spec: ImageSpec, settings: BuildSettings, *, indexed: str | None, certificates: bool, templates: Path = TEMPLATES
) -> str:
    """The Dockerfile of everything below the measuring side.

    `indexed` is the requirement that has to be fetched from the framework's own index, `certificates` whether a CA
    bundle travels along. Raises `InputError` where the settings would leave a secret in the image.
    """
    mirror = settings.apt_mirror.rstrip("/") if settings.apt_mirror else None
    if mirror and password(mirror):
        raise InputError(
            "build.apt_mirror: holds a credential, which would stay in the image; "
            "use a mirror without one, or reach it through build.proxy"
        )
    environment, cuda_image = spec.environment, cuda_reference(spec, settings)
    variables = {"PATH": "/opt/environment/bin:$PATH", "PYTHONUNBUFFERED": "1"}
    if spec.image_class != "cpu":
        variables["NVIDIA_DRIVER_CAPABILITIES"] = "compute,utility"
    site_packages = f"/opt/environment/lib/python{environment.python}/site-packages"
    libraries = ["/opt/cuda/lib"] if cuda_image else []
    libraries += [f"{site_packages}/{folder}" for folder in environment.library_folders]
    if libraries:
        variables["LD_LIBRARY_PATH"] = ":".join(libraries)
    template = _jinja(templates).get_template("environment.j2")
    return template.render(
        base_image=base_reference(spec, settings),
        cuda_image=cuda_image,
        system_packages=environment.system_packages,
        apt_mirror=mirror,
        apt_archive=None if mirror else _archive(environment.python, settings),
        apt_certificate=bool(certificates and mirror and mirror.startswith("https:")),
        links=environment.links,
        stage_label=labels.STAGE,
        requirements=environment.requirements,
        indexed=indexed,
        variables=tuple((variables | dict(environment.variables)).items()),
    )


def image_text(
    spec: ImageSpec, below: str, own_labels: Sequence[tuple[str, str]], *, templates: Path = TEMPLATES
) -> str:
    """The Dockerfile of the measuring side on top of `below`, an image or the name of a stage."""
    foreign = bool(spec.framework.image or spec.framework.dockerfile)
    template = _jinja(templates).get_template("image.j2")
    return template.render(
        below=below,
        foreign=foreign,
        python="python3" if foreign else "python",
        builder=spec.environment.builder,
        labels=own_labels,
    )


def orchestrator_text(own_labels: Sequence[tuple[str, str]], *, templates: Path = IMAGES / "orchestrator") -> str:
    """The Dockerfile of the orchestrator's own image, on top of a stage `environment`."""
    return _jinja(templates).get_template("Dockerfile.j2").render(labels=own_labels)


def _docker_quote(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return escaped if re.fullmatch(r"[\w./:$,{}+@-]+", escaped, flags=re.ASCII) else f'"{escaped}"'


@cache
def _jinja(templates: Path) -> "jinja2.Environment":
    import jinja2  # noqa: PLC0415 - most commands render nothing

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(templates),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,  # noqa: S701 - the output is a Dockerfile; what reaches a shell goes through `quote`
    )
    environment.filters |= {"quote": shlex.quote, "docker_quote": _docker_quote, "parent": posixpath.dirname}
    return environment
