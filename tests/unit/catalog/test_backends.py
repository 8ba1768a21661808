"""Frameworks that run on others, and releases that are measured under others alone."""

from pathlib import Path

import pytest

from orchestrator import catalog
from orchestrator.catalog import Catalog, UnsupportedError
from orchestrator.domain import Framework
from orchestrator.errors import InputError
from tests.seen_backends import seen_backends

FRONT = """\
title: A front-end
builder: it
packages: {front: front}
backends: [under]
backend_variables: {under: {BACKEND: under, FLAGS: "a=b"}}
known: ["1.0"]
known_backends: {"1.0": [under==2.0]}
releases:
  - {versions: ">=1,<2", python: ["3.11"], backend_versions: {under: "<3"}, variables: {FLAGS: "c", OWN: "1"}}
"""
UNDER = """\
title: A backend
packages: {under: under}
known: ["2.0"]
releases:
  - {versions: ">=2,<4", python: ["3.11"], backend_only: "front runs on it", requirements: [numpy], size_mb: 7}
"""


@pytest.fixture
def loaded(tmp_path: Path) -> Catalog:
    (tmp_path / "front.yaml").write_text(FRONT)
    (tmp_path / "under.yaml").write_text(UNDER)
    return catalog.load(tmp_path)


def on(version: str) -> Framework:
    return Framework("front", "1.0", backend=Framework("under", version))


def test_a_backend_alone_has_no_environment(loaded: Catalog) -> None:
    with pytest.raises(UnsupportedError, match=r"^under 2\.0 cannot be measured: front runs on it$"):
        loaded.pythons(Framework("under", "2.0"))


def test_a_backend_is_installed_under_its_framework(loaded: Catalog) -> None:
    environment = loaded.environment(on("2.0"), 0)

    assert environment.builder == "it"
    assert environment.requirements == ("front>=1.0,<=1.0.post9999", "under>=2.0,<=2.0.post9999", "numpy")
    assert loaded.size_mb(on("2.0")) == 507


def test_a_skip_says_why_no_gpu_build_exists(tmp_path: Path) -> None:
    (tmp_path / "front.yaml").write_text(FRONT)
    (tmp_path / "under.yaml").write_text(UNDER.replace("size_mb", "no_gpu: it needs what nobody publishes, size_mb"))

    with pytest.raises(UnsupportedError, match=r"^the catalog has no GPU build of under 2\.0; it needs what nobody"):
        catalog.load(tmp_path).environment(on("2.0"), 1)


def test_an_environment_says_what_its_backend_needs(loaded: Catalog) -> None:
    """The entry of a backend counts over the range of all."""
    assert loaded.environment(on("2.0"), 0).variables == (("BACKEND", "under"), ("FLAGS", "a=b"), ("OWN", "1"))


def test_a_backend_that_is_too_new_is_refused(loaded: Catalog) -> None:
    with pytest.raises(UnsupportedError, match=r"^front 1\.0 on under 3\.0: front 1\.0 needs under <3$"):
        loaded.environment(on("3.0"), 0)


def test_a_backend_without_builder_takes_no_own_image(loaded: Catalog) -> None:
    with pytest.raises(UnsupportedError, match="under has no builder"):
        loaded.environment(Framework("under", "2.0", image="mine:1"), 0)


def test_a_backends_releases_are_seen_as_a_backend(loaded: Catalog) -> None:
    """A release that was seen under another framework counts as seen as a backend only."""
    assert loaded.seen("under") == ()
    assert loaded.seen("under", as_backend=True) == ("2.0",)
    assert seen_backends(loaded, "front", "1.0") == (Framework("under", "2.0"),)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (
            "{under: {BACKEND",
            "{other: {BACKEND",
            "front.yaml:5:28: backend_variables.other: 'other' is none of the backends",
        ),
        ('{under: "<3"}', '{other: "<3"}', "'other' is none of the backends"),
        ('{"1.0": [under', '{"1.1": [under', "'1.1' is not in known"),
        ("[under==2.0]", "[other==2.0]", "'other==2.0' names none of the backends as BACKEND==VERSION"),
        ('backend_only: "front runs on it", ', "", "without a `builder` a range is `backend_only`, or `unsupported`"),
        ('on it"', 'on it", unsupported: "no"', "what is `unsupported` is no backend either; keep one of them"),
    ],
)
def test_a_mistake_about_backends_names_its_place(tmp_path: Path, old: str, new: str, expected: str) -> None:
    (tmp_path / "front.yaml").write_text(FRONT.replace(old, new))
    (tmp_path / "under.yaml").write_text(UNDER.replace(old, new))

    with pytest.raises(InputError) as caught:
        catalog.load(tmp_path)
    assert any(expected in message for message in caught.value.messages), caught.value.messages


ENGINE = """\
title: An engine
builder: engine
packages: {engine: engine}
backends: [under]
runs_alone: true
backend_variables: {under: {EXPORTER: under}}
known: ["1.0"]
releases:
  - versions: ">=1,<2"
    python: ["3.11"]
    backend_requirements: {under: ["joiner>=3"]}
  - versions: ">=2,<3"
    python: ["3.11"]
    without_backends: {under: "it is too new"}
"""


@pytest.fixture
def with_engine(tmp_path: Path) -> Catalog:
    (tmp_path / "engine.yaml").write_text(ENGINE)
    (tmp_path / "under.yaml").write_text(UNDER)
    return catalog.load(tmp_path)


def test_what_runs_alone_may_have_a_backend_beside(with_engine: Catalog) -> None:
    """Beside it come the backend, what joins the two, and the variable that names it."""
    alone = with_engine.environment(Framework("engine", "1.0"), 0)
    both = with_engine.environment(Framework("engine", "1.0", Framework("under", "2.0")), 0)

    assert not with_engine.entries["engine"].needs_backend
    assert (alone.requirements, alone.variables) == (("engine>=1.0,<=1.0.post9999",), ())
    assert both.requirements == ("engine>=1.0,<=1.0.post9999", "under>=2.0,<=2.0.post9999", "numpy", "joiner>=3")
    assert both.variables == (("EXPORTER", "under"),)


def test_a_release_without_a_backend_says_why(with_engine: Catalog) -> None:
    with pytest.raises(UnsupportedError, match=r"^engine 2\.0 on under 2\.0 cannot be had: it is too new$"):
        with_engine.pythons(Framework("engine", "2.0", Framework("under", "2.0")))


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ('under: ["joiner>=3"]', 'other: ["joiner>=3"]', "backend_requirements.other: 'other' is none of the backends"),
        ('"joiner>=3"', '"joiner>>3"', "'joiner>>3' is no pip requirement"),
        ('under: "it is too new"', "other: no", "without_backends.other: 'other' is none of the backends"),
    ],
)
def test_a_mistake_beside_an_engine_is_told(tmp_path: Path, old: str, new: str, expected: str) -> None:
    assert old in ENGINE
    (tmp_path / "engine.yaml").write_text(ENGINE.replace(old, new))
    (tmp_path / "under.yaml").write_text(UNDER)

    with pytest.raises(InputError) as refused:
        catalog.load(tmp_path)

    assert expected in str(refused.value)
