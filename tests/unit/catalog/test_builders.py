"""Releases that no builder can run: what the catalog says of them, and what the builder itself says."""

import ast

import pytest
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from orchestrator.catalog import Release, UnsupportedError, load
from orchestrator.catalog.model_files.python_file import literals
from orchestrator.domain import Framework
from orchestrator.resources import BENCHMARKS, IMAGES
from tests.seen_backends import seen_backends

CATALOG = load(IMAGES / "catalog")
RELEASES = [(name, release) for name, entry in CATALOG.entries.items() if entry.builder for release in entry.releases]
UNSUPPORTED = [
    Framework("tensorflow", "1.8.0"),
    Framework("tensorflow", "1.13.1"),
    Framework("theano", "1.0.5"),
    Framework("cntk", "2.7"),
    Framework("mxnet", "1.0.0"),
    Framework("keras-mxnet", "2.2.2", backend=Framework("mxnet", "1.5.1")),
    Framework("keras-mxnet", "2.2.4.3", backend=Framework("mxnet", "1.0.0")),
]


def oldest(builder: str) -> Version:
    """The `OLDEST` that a builder refuses older releases by; 0 for a builder that takes every release."""
    module = ast.parse((BENCHMARKS / "frameworks" / f"{builder}.py").read_text(encoding="utf-8"))
    value, _ = literals(module).get("OLDEST", ((0,), 1))
    return Version(".".join(map(str, value)))


def bound(release: Release, operator: str) -> Version:
    """The lower (`>=`) or upper (`<`) end of a range; far above everything without an upper one."""
    ends = [each.version for each in SpecifierSet(release.versions) if each.operator == operator]
    return Version(ends[0] if ends else "9999")


@pytest.mark.parametrize(("name", "release"), RELEASES, ids=[f"{name}{each.versions}" for name, each in RELEASES])
def test_catalog_and_builder_agree(name: str, release: Release) -> None:
    """A range below what its builder takes says so, naming the release it takes; no range has some of both."""
    builder = CATALOG.entries[name].builder
    first, why = oldest(builder), release.unsupported or release.backend_only

    if bound(release, "<") <= first:
        assert f"benchmarks/frameworks/{builder}.py" in why
        assert f" {first} or newer" in why
    else:
        assert bound(release, ">=") >= first
        assert "benchmarks/frameworks" not in why


@pytest.mark.parametrize("name", [name for name, entry in CATALOG.entries.items() if entry.builder])
def test_every_release_seen_to_train_is_supported(name: str) -> None:
    entry = CATALOG.entries[name]

    assert CATALOG.seen(name)
    for version in CATALOG.seen(name):
        for backend in seen_backends(CATALOG, name, version) or (None,):
            assert CATALOG.environment(Framework(name, version, backend), 0).builder == entry.builder


@pytest.mark.parametrize("name", CATALOG.entries)
def test_every_release_is_seen_alone_or_as_backend(name: str) -> None:
    """Every known release was seen alone or as a backend of another framework."""
    backends = {
        backend for other in CATALOG.entries.values() for pins in other.known_backends.values() for backend in pins
    }

    for version in CATALOG.entries[name].known:
        assert CATALOG.has(name, version) or f"{name}=={version}" in backends


def test_a_framework_names_the_backends_seen() -> None:
    """A framework with backends names those that it was seen on."""
    for entry in CATALOG.entries.values():
        assert set(entry.known_backends) == (set(entry.known) if entry.needs_backend else set(entry.known_backends))


@pytest.mark.parametrize("framework", UNSUPPORTED, ids=lambda each: each.label)
def test_an_unsupported_release_has_no_environment(framework: Framework) -> None:
    with pytest.raises(UnsupportedError, match=r"cannot be measured: it(s| has no) (builder|library|requirement)"):
        CATALOG.environment(framework, 0)


def test_an_image_of_ones_own_is_not_refused() -> None:
    """Nobody knows what it holds before it is asked; its builder refuses a release that is too old."""
    assert CATALOG.environment(Framework("torch", "1.3", image="mine:1"), 0).builder == "torch"
