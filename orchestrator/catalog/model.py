"""What a file of `images/catalog/` may say; a framework release is a line there, not code."""

from typing import Annotated

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from orchestrator.domain import OptionValue


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


def _specifier(text: str) -> str:
    try:
        SpecifierSet(text)
    except InvalidSpecifier as error:
        raise ValueError(f"{text!r} is no version range such as '>=1.5,<2'") from error
    return text


VersionRange = Annotated[str, AfterValidator(_specifier)]


class Option(_Strict):
    """An optional axis of a framework, such as `hybridize`."""

    values: tuple[OptionValue, ...]
    default: OptionValue
    """Of the builder's `OPTIONS`; a file of the catalog does not give it."""
    help: str
    system_packages: tuple[str, ...] = ()
    """Debian packages that an image holds where one of its cells asks for another value than the default."""


class Gpu(_Strict):
    """What a GPU system needs in place of, or on top of, the CPU environment."""

    packages: dict[str, str] = {}
    """CPU package name → name of its GPU build (`mxnet: mxnet-cu112`); the version stays."""
    requirements: tuple[str, ...] = ()
    """Added to the release's own."""
    cuda_image: str | None = None
    """Image whose CUDA and cuDNN libraries are copied in; None where the wheels bring their own."""


class Release(_Strict):
    """A range of versions that are installed the same way; the first range that holds a version counts."""

    versions: VersionRange
    python: tuple[str, ...] = Field(min_length=1)
    """Python versions it runs on; the first is the default."""
    packages: dict[str, str] = {}
    """Name in `matrix.yaml` → distribution, where this range has another one than the entry says."""
    requirements: tuple[str, ...] = ()
    """pip requirements beside the framework itself: the pins that keep an old release working."""
    absent: dict[str, str] = {}
    """Flavour that this range does not have → why, and what to name instead; its cells are skipped with that."""
    unsupported: str = ""
    """Why nothing of this range can be measured; its cells are skipped with that, and nothing is built for them."""
    system_packages: tuple[str, ...] = ()
    """Debian packages."""
    cpu_index: str | None = None
    """Index of CPU builds, asked only where no find-links folder offers them."""
    gpu: Gpu | None = None
    """None: this release has no GPU build we know of, and GPU systems are skipped with that reason."""
    variables: dict[str, str] = {}
    links: dict[str, str] = {}
    """Symbolic link → target, for shared libraries that a release looks for under another name."""
    size_mb: int = 500
    """About what the environment adds to its base image, for the estimate of `orchestrator plan`."""


class Entry(_Strict):
    """One framework: `images/catalog/<name>.yaml`."""

    title: str
    builder: str
    """Module of `benchmarks/frameworks/`."""
    computes: bool = True
    """False where the builder's steps do nothing: what its cells take is what the harness takes, and no result."""
    packages: dict[str, str]
    """Name in `matrix.yaml` → its distribution on the package index; the first is the framework, others are flavours.
    An empty distribution installs nothing (`noop`)."""
    backends: tuple[str, ...] = ()
    """Frameworks it runs on; where given, one of them must follow the pin: `… on mxnet==1.5.1`."""
    options: dict[str, Option] = {}
    known: tuple[str, ...] = ()
    """Releases that were seen to train, for hints; other versions inside a range are tried all the same."""
    releases: tuple[Release, ...] = Field(min_length=1)
