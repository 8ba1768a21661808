"""An image is asked what it holds, on an engine in memory that refuses, goes away or is too slow."""

from types import SimpleNamespace
from typing import Any

import pytest
import requests
from docker.errors import APIError
from image_specs import image_spec

from orchestrator.engine.images import BuildError
from orchestrator.engine.questions import ask
from orchestrator.images.making import verified


def engine(error: Exception) -> Any:
    """An engine that answers every question about an image with an error."""

    def inspect_image(image: str) -> None:
        raise error

    return SimpleNamespace(
        info=lambda: {"SecurityOptions": ["name=seccomp"]}, api=SimpleNamespace(inspect_image=inspect_image)
    )


def test_engine_that_is_lost_is_no_fault_of_the_image() -> None:
    with pytest.raises(requests.ConnectionError, match="connection refused"):
        ask(engine(requests.ConnectionError("connection refused")), "image", ["--versions"])


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (APIError("500", explanation="no room for it"), "no room for it"),
        (requests.ReadTimeout("Read timed out."), "Read timed out"),
    ],
)
def test_refusal_of_the_engine_is_the_reason(error: Exception, reason: str) -> None:
    with pytest.raises(BuildError, match=reason):
        ask(engine(error), "image", ["--versions"])


def test_deeply_nested_answer_is_refused() -> None:
    with pytest.raises(BuildError, match="asked for its versions, the image answered"):
        verified(image_spec(), "[" * 100_000)
