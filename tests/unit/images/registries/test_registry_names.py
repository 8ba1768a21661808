"""Names of registries, and of images in them."""

import pytest

from orchestrator.errors import InputError
from orchestrator.images.registries.names import checked_registry, name_in


@pytest.mark.parametrize(
    ("given", "registry"),
    [
        ("localhost", "localhost"),
        ("registry:5000", "registry:5000"),
        ("registry.example.org/team/gpu/", "registry.example.org/team/gpu"),
        ("[::1]:5000/a_b", "[::1]:5000/a_b"),
        ("docker.io/team", "docker.io/team"),
    ],
)
def test_a_registry_with_a_prefix(given: str, registry: str) -> None:
    assert checked_registry(given) == registry


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("https://registry:5000", "leave out https://"),
        ("team", "engines would go to docker.io; write team:443, or docker.io/team"),
        ("team/bench", "engines would go to docker.io"),
        ("registry:5000/Team", "write it as HOST"),
        ("registry:5000//x", "write it as HOST"),
        ("", "write it as HOST"),
        ("registry:5000/x:tag", "write it as HOST"),
    ],
)
def test_what_is_no_registry_is_refused(given: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        checked_registry(given)


def test_a_password_is_refused_and_not_repeated() -> None:
    """A registry with a user is refused, and the message has nothing of it."""
    with pytest.raises(InputError, match="docker login") as raised:
        checked_registry("https://me:hunter2@registry:5000")

    assert "hunter2" not in str(raised.value)


@pytest.mark.parametrize("here", ["bench/mxnet:1.9.1-cpu-0123", "mirror:5000/bench/mxnet:1.9.1-cpu-0123"])
def test_an_image_keeps_repository_and_tag(here: str) -> None:
    """An image has the same repository and content tag in every registry."""
    assert name_in("registry:5000/team", "bench/mxnet", here) == "registry:5000/team/bench/mxnet:1.9.1-cpu-0123"
