"""The content of a file of `images/catalog/`, in which a framework release is a line and not code."""

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
    """The default of the builder's `OPTIONS`, which a file of the catalog does not set."""
    help: str
    system_packages: tuple[str, ...] = ()
    """Debian packages of an image with a cell whose value is not the default."""
    where_asked: bool = Field(False, exclude_if=lambda where_asked: not where_asked)
    """True if only cells whose matrix names it have it, so that others stay as they were without it."""


Number = Annotated[str, Field(pattern=r"^\d+(\.\d+)*$")]


class Cuda(_Strict):
    """The release of CUDA that a GPU build is made with, and what that needs of a host."""

    version: Number
    driver: Number
    """The oldest driver that it runs with."""
    capabilities: tuple[Number, ...] = Field((), max_length=2)
    """The oldest and the newest compute capability that it has code for; without a newest, drivers compile it."""


class GpuVariant(_Strict):
    """The needs of a GPU system, in place of or in addition to the CPU environment."""

    packages: dict[str, str] = {}
    """CPU package name → name of its GPU build (`mxnet: mxnet-cu112`), with the same version."""
    requirements: tuple[str, ...] = ()
    """Added to the release's own."""
    cuda_image: str | None = None
    """The image whose CUDA and cuDNN libraries are copied in; None if the wheels bring their own."""
    cuda: Cuda | dict[VersionRange, Cuda] | None = None
    """One for all versions, or the first whose range holds a version."""
    library_folders: tuple[str, ...] = Field((), exclude_if=lambda folders: not folders)
    """Folders of the wheels, below `site-packages`, whose libraries the framework does not find by itself."""

    def needs(self, version: str) -> Cuda | None:
        """Return what the build of a version needs of a host, or None if the catalog does not say."""
        if not isinstance(self.cuda, dict):
            return self.cuda
        holding = (cuda for among, cuda in self.cuda.items() if SpecifierSet(among).contains(version, prereleases=True))
        return next(holding, None)


class Release(_Strict):
    """A range of versions that are installed the same way.

    The first range that holds a version counts.
    """

    versions: VersionRange
    python: tuple[str, ...] = Field(min_length=1)
    """Python versions that it runs on, the default first."""
    packages: dict[str, str] = {}
    """Name in `matrix.yaml` → distribution, if this range has another one than the entry."""
    requirements: tuple[str, ...] = ()
    """pip requirements in addition to the framework itself, such as pins that keep an old release working."""
    absent: dict[str, str] = {}
    """Flavour that this range does not have → the reason, and a name to use instead.

    Its cells are skipped with this text.
    """
    unsupported: str = ""
    """The reason that nothing of this range can be measured.

    Its cells are skipped with it, and nothing is built for them.
    """
    backend_only: str = ""
    """The reason that nothing of this range can be measured by itself, but as the backend of another framework.

    Its own cells are skipped with it.
    """
    backend_versions: dict[str, VersionRange] = {}
    """Backend → its versions that this range runs on, if those are not all that share a Python with it."""
    backend_requirements: dict[str, tuple[str, ...]] = Field({}, exclude_if=lambda lines: not lines)
    """Backend → pip requirements in addition to both, such as what joins them."""
    without_backends: dict[str, str] = Field({}, exclude_if=lambda reasons: not reasons)
    """Backend of the entry that this range does not run on → the reason. Its cells are skipped with this text."""
    system_packages: tuple[str, ...] = ()
    """Debian packages."""
    cpu_index: str | None = None
    """Index of CPU builds, used only if no find-links folder offers them."""
    gpu: GpuVariant | None = None
    """None if no GPU build of this release is known; GPU systems are skipped with that reason."""
    no_gpu: str = ""
    """The reason that there can be no GPU build, for the skips of GPU systems."""
    variables: dict[str, str] = {}
    compile_cache: bool = False
    """True if it compiles what it computes for minutes, into a folder that is to outlive the process.

    Its environment names the folder, which every container of one image has in common.
    """
    links: dict[str, str] = {}
    """Symbolic link → target, for shared libraries that a release expects under another name."""
    size_mb: int = 500
    """About how much the environment adds to its base image, for the estimate of `orchestrator plan`."""


COMPUTES_NOTHING = "computes nothing"
"""The words of reports on a builder without `computes`."""


class Entry(_Strict):
    """One framework, which `images/catalog/<name>.yaml` describes."""

    title: str
    builder: str = ""
    """Module of `benchmarks/frameworks/`, or empty for a framework that is measured as a backend alone."""
    computes: bool = True
    """False if the builder's steps do nothing, so that its cells show the time of the harness and are no result."""
    packages: dict[str, str]
    """Name in `matrix.yaml` → its distribution on the package index; the first is the framework, others are flavours.

    An empty distribution installs nothing (`noop`).
    """
    networks: bool = Field(False, exclude_if=lambda networks: not networks)
    """True if its builder runs ONNX files of the user's own."""
    backends: tuple[str, ...] = ()
    """Frameworks that it runs on; if there are any, one of them must follow the pin, as in `… on mxnet==1.5.1`."""
    runs_alone: bool = Field(False, exclude_if=lambda alone: not alone)
    """True if none of the backends must follow the pin, since it also runs by itself."""
    backend_variables: dict[str, dict[str, str]] = {}
    """Backend → variables of an environment in which the framework runs on it, such as `KERAS_BACKEND`."""
    options: dict[str, Option] = {}
    known: tuple[str, ...] = ()
    """Releases that were seen to train, for hints. Other versions inside a range are tried too."""
    known_backends: dict[str, tuple[str, ...]] = {}
    """Release in `known` → pins of the backends that it was seen to train on, such as `theano==1.0.5`."""
    releases: tuple[Release, ...] = Field(min_length=1)

    @property
    def needs_backend(self) -> bool:
        """Return whether a pin must name one of the backends."""
        return bool(self.backends) and not self.runs_alone
