"""Names of images without the registries that Podman adds."""

import pytest

from orchestrator.engine.images import plain


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (("docker.io/bench/noop:1", "docker.io/bench/noop:1-ab"), ("bench/noop:1", "bench/noop:1-ab")),
        (("localhost/bench/noop:1",), ("bench/noop:1",)),
        (("docker.io/library/python:3.11-slim",), ("python:3.11-slim",)),
        (("docker.io/bench/noop:1", "registry:5000/x/noop:1"), ("bench/noop:1", "registry:5000/x/noop:1")),
        (("bench/noop:1", "localhost/bench/noop:1"), ("bench/noop:1", "localhost/bench/noop:1")),
        (("bench/noop:1", "registry.example.org/bench/noop:1"), ("bench/noop:1", "registry.example.org/bench/noop:1")),
        ((), ()),
    ],
    ids=["built", "loaded", "official", "podman-pushed", "docker-beside", "docker-pushed", "none"],
)
def test_registries_that_podman_adds_are_left_out(names: tuple[str, ...], expected: tuple[str, ...]) -> None:
    """With Docker, which adds none, every name stays."""
    assert plain(names) == expected
