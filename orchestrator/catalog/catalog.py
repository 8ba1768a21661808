"""The catalog of framework releases and of the environment of each one."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, partial

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from orchestrator.catalog.model import Cuda, Entry, GpuVariant, Option, Release
from orchestrator.catalog.versions import united
from orchestrator.domain import COMPILE_CACHE, CudaNeeds, Environment, Framework, Options

COMPILED = "/compiled"
"""The folder of a container at which its compile cache is mounted."""


class UnsupportedError(Exception):
    """A framework, version, Python or system that the catalog has no environment for, with the way out."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)


@dataclass(frozen=True, slots=True)
class Catalog:
    """Every framework by its name, where flavours are names within an entry."""

    entries: Mapping[str, Entry]

    def names(self) -> tuple[str, ...]:
        """Return all frameworks and their flavours, in alphabetical order of the framework."""
        return tuple(name for entry in self.entries.values() for name in entry.packages)

    def family(self, name: str) -> str | None:
        """Return the framework that a flavour belongs to, or None for an unknown name.

        It is `mxnet` for `mxnet-mkl` and for `mxnet` itself.
        """
        return next((family for family, entry in self.entries.items() if name in entry.packages), None)

    def entry(self, name: str) -> Entry | None:
        """Return the entry of a framework or flavour, or None for an unknown name."""
        family = self.family(name)
        return self.entries[family] if family else None

    def options(self, name: str) -> Mapping[str, Option]:
        """Return the options of a framework or flavour by name, or none for an unknown name."""
        entry = self.entry(name)
        return entry.options if entry else {}

    def variables(self, name: str) -> frozenset[str]:
        """Return every variable that the catalog sets in environments of a framework, whatever its backend."""
        entry = self.entry(name)
        if entry is None:
            return frozenset()
        parts = [entry, *filter(None, map(self.entry, entry.backends))]
        releases = [release for part in parts for release in part.releases]
        names = {name for release in releases for name in release.variables}
        names |= {name for variables in entry.backend_variables.values() for name in variables}
        return frozenset(names | ({COMPILE_CACHE} if any(release.compile_cache for release in releases) else set()))

    def option_packages(self, framework: Framework, options: Options) -> tuple[str, ...]:
        """Return the Debian packages that options need if they are off their defaults.

        The user's own image gets none.
        """
        if framework.image or framework.dockerfile:
            return ()
        known = self.options(framework.name)
        return tuple(
            package
            for name, value in options
            if name in known and value != known[name].default
            for package in known[name].system_packages
        )

    def release(self, framework: Framework, *, as_backend: bool = False) -> Release:
        """Return the range that holds the version of a framework, or of its front-end if it runs on a backend.

        Raises `UnsupportedError`.
        """
        releases = self._entry(framework).releases
        try:
            version = Version(framework.version)
        except InvalidVersion:
            raise UnsupportedError(f"{framework.version!r} is no version of {framework.name}") from None
        for release in releases:
            if _range(release.versions).contains(version, prereleases=True):
                if why := release.absent.get(framework.name):
                    raise UnsupportedError(f"there is no {framework.name} {framework.version}: {why}")
                if why := release.unsupported or ("" if as_backend else release.backend_only):
                    raise UnsupportedError(f"{framework.name} {framework.version} cannot be measured: {why}")
                return release
        ranges = " or ".join(united(release.versions for release in releases))
        raise UnsupportedError(
            f"the catalog knows {framework.name} {ranges}, not {framework.version}; "
            f"add a line to images/catalog/{self.family(framework.name)}.yaml"
        )

    def newest_known(self, name: str) -> str | None:
        """Return the newest release of a framework or flavour that was seen to train, or None."""
        return max(self.seen(name), key=Version, default=None)

    def seen(self, name: str, *, as_backend: bool = False) -> tuple[str, ...]:
        """Return every release of a framework or flavour that was seen to train."""
        entry = self.entry(name)
        return tuple(filter(partial(self.has, name, as_backend=as_backend), entry.known if entry else ()))

    def has(self, name: str, version: str, *, as_backend: bool = False) -> bool:
        """Return true if the catalog has environments for a release, by itself or as a backend."""
        try:
            self.release(Framework(name, version), as_backend=as_backend)
        except UnsupportedError:
            return False
        return True

    def pythons(self, framework: Framework) -> tuple[str, ...]:
        """Return the Python versions that a framework and its backend run on, the default first.

        Raises `UnsupportedError`.
        """
        release = self.release(framework)
        own = release.python
        if framework.backend is None:
            return own
        if why := release.without_backends.get(framework.backend.name):
            raise UnsupportedError(f"{framework.label} cannot be had: {why}")
        other = self.release(framework.backend, as_backend=True).python
        wanted = release.backend_versions.get(framework.backend.name, "")
        if not SpecifierSet(wanted).contains(framework.backend.version, prereleases=True):
            raise UnsupportedError(
                f"{framework.label}: {framework.name} {framework.version} needs {framework.backend.name} {wanted}"
            )
        both = tuple(python for python in own if python in other)
        if not both:
            raise UnsupportedError(
                f"{framework.label} share no Python: {', '.join(own)} against {', '.join(other)} in the catalog"
            )
        return both

    def default_python(self, framework: Framework) -> str:
        """Return the Python of a framework for which the matrix names none.

        Raises `UnsupportedError`.
        """
        return self.pythons(framework)[0]

    def size_mb(self, framework: Framework) -> int:
        """Return about how many megabytes the environment adds to its base image, or 0 for the user's own image."""
        if framework.image or framework.dockerfile:
            return 0
        backend = self.release(framework.backend, as_backend=True).size_mb if framework.backend else 0
        return self.release(framework).size_mb + backend

    def cuda_image_releases(self) -> tuple[str, ...]:
        """Return the releases of CUDA whose libraries some build takes from an image, the oldest first."""
        variants = [release.gpu for entry in self.entries.values() for release in entry.releases if release.gpu]
        needed = {gpu.cuda.version for gpu in variants if gpu.cuda_image and isinstance(gpu.cuda, Cuda)}
        return tuple(sorted(needed, key=Version))

    def environment(self, framework: Framework, gpus: int) -> Environment:
        """Return the environment that a framework needs on a system with `gpus` GPUs.

        The user's own image or Dockerfile needs only our builder. Raises `UnsupportedError`.
        """
        entry = self._entry(framework)
        if framework.image or framework.dockerfile:
            if not entry.builder:
                raise UnsupportedError(f"{framework.name} has no builder of its own; another framework runs on it")
            return Environment(builder=entry.builder, python="")
        pythons = self.pythons(framework)
        python = framework.python or pythons[0]
        if python not in pythons:
            raise UnsupportedError(
                f"{framework.label} does not run on Python {python}; the catalog has {', '.join(pythons)}"
            )
        release = self.release(framework)
        parts = [self._part(framework, gpus, release)]
        variables: Mapping[str, str] = {}
        if framework.backend:
            # Beside what also runs alone, a backend computes nothing that is timed.
            backend_gpus = 0 if entry.runs_alone else gpus
            backend = self._part(framework.backend, backend_gpus, self.release(framework.backend, as_backend=True))
            joining = release.backend_requirements.get(framework.backend.name, ())
            parts.append(replace(backend, requirements=(*backend.requirements, *joining)))
            variables = entry.backend_variables.get(framework.backend.name, {})
        if any(part.release.compile_cache for part in parts):
            variables = {**variables, COMPILE_CACHE: COMPILED}
        merged = _merged(entry.builder, python, parts, framework.packages)
        return replace(merged, variables=tuple(sorted({**dict(merged.variables), **variables}.items())))

    def _entry(self, framework: Framework) -> Entry:
        entry = self.entry(framework.name)
        if entry is None:
            raise UnsupportedError(f"the catalog has no framework {framework.name!r}")
        return entry

    def _part(self, framework: Framework, gpus: int, release: Release) -> "_Part":
        entry = self._entry(framework)
        distribution = release.packages.get(framework.name, entry.packages[framework.name])
        computes = framework.backend is None or entry.runs_alone
        gpu = self._gpu(framework, release, distribution) if gpus and computes else GpuVariant()
        cuda = gpu.needs(framework.version)
        return _Part(
            release=release,
            pin=(gpu.packages.get(distribution, distribution), framework.version),
            requirements=(*release.requirements, *gpu.requirements),
            cuda_image=gpu.cuda_image,
            cuda=CudaNeeds(cuda.version, cuda.driver, cuda.capabilities) if cuda else None,
            library_folders=gpu.library_folders,
            package_index=None if gpus else release.cpu_index,
        )

    def _gpu(self, framework: Framework, release: Release, distribution: str) -> GpuVariant:
        """Return the GPU build of a release. Raises `UnsupportedError` if there is none."""
        gpu = release.gpu
        if gpu is None or (gpu.packages and distribution not in gpu.packages):
            way_out = f"add `gpu` to its range in images/catalog/{self.family(framework.name)}.yaml"
            raise UnsupportedError(f"the catalog has no GPU build of {framework.label}; {release.no_gpu or way_out}")
        return gpu


def requirement(distribution: str, version: str) -> str:
    """Return a pip requirement of one version and its post-releases.

    Some versions exist only as post-releases, such as MXNet 1.7.0. A version with a post-release, development or local
    part is taken literally. PEP 440 orders 1.7.0 < 1.7.0.post1 < 1.7.0.1, and ignores the local part of a candidate
    (2.13.0+cpu), so that the range holds that one release.
    """
    parsed = Version(version)
    if parsed.is_postrelease or parsed.is_devrelease or parsed.local:
        return f"{distribution}=={version}"
    return f"{distribution}>={version},<={version}.post9999"


@dataclass(frozen=True, slots=True)
class _Part:
    """The part of an environment that a framework or its backend brings."""

    release: Release
    pin: tuple[str, str]
    requirements: tuple[str, ...]
    cuda_image: str | None
    cuda: CudaNeeds | None
    library_folders: tuple[str, ...]
    package_index: str | None


def _merged(builder: str, python: str, parts: list[_Part], packages: tuple[tuple[str, str], ...]) -> Environment:
    """Return one environment of a framework, its backend, and the packages that the user pins over both."""
    pins = [part.pin for part in parts if part.pin[0]]
    overridden = {canonicalize_name(name) for name, _ in packages}
    pins = [pin for pin in pins if _bare(pin[0]) not in overridden] + list(packages)
    requirements = [line for part in parts for line in part.requirements if _bare(line) not in overridden]
    releases = [part.release for part in parts]
    return Environment(
        builder=builder,
        python=python,
        requirements=(*(requirement(*pin) for pin in pins), *_united(requirements)),
        system_packages=tuple(dict.fromkeys(name for release in releases for name in release.system_packages)),
        cuda_image=next((part.cuda_image for part in parts if part.cuda_image), None),
        cuda=next((part.cuda for part in parts if part.cuda), None),
        package_index=next((part.package_index for part in parts if part.package_index), None),
        variables=tuple(
            sorted({name: text for release in releases for name, text in release.variables.items()}.items())
        ),
        links=tuple(sorted({link: target for release in releases for link, target in release.links.items()}.items())),
        expected_versions=tuple((Requirement(name).name, version) for name, version in pins),
        library_folders=tuple(folder for part in parts for folder in part.library_folders),
    )


def _bare(line: str) -> str:
    """Return the distribution that a requirement names, without extras and versions."""
    return canonicalize_name(Requirement(line).name)


def _united(lines: list[str]) -> Iterator[str]:
    """Yield requirements with one line for each distribution, as pip before 20.3 refuses a second one."""
    groups: dict[str, list[Requirement]] = {}
    for line in lines:
        groups.setdefault(f"{_bare(line)};{Requirement(line).marker}", []).append(Requirement(line))
    for group in groups.values():
        united = group[0]
        for other in group[1:]:
            united.specifier &= other.specifier
            united.extras |= other.extras
        yield str(united)


@cache
def _range(versions: str) -> SpecifierSet:
    """Return a range of the catalog. A plan asks for the few there are thousands of times."""
    return SpecifierSet(versions)
