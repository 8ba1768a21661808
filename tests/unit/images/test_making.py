"""Missing images, and the check that a finished image holds what was asked for."""

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from image_specs import image_spec
from requests.exceptions import ReadTimeout

from orchestrator.build_settings import BuildSettings
from orchestrator.engine.images import BuildError, follow
from orchestrator.images import Inputs, making, missing, render, unresolved
from orchestrator.images.context import ContextFile
from orchestrator.images.making import Batch, Built, make_group, verified

INPUTS = Inputs(benchmarks=(ContextFile("benchmarks/run.py", b""),))


def answer(python: str = "3.11.7", **versions: str) -> str:
    return json.dumps({"python": python, "versions": versions})


def test_an_image_needs_its_content_tag() -> None:
    """An image is missing unless it is there under its content tag."""
    recipe = render(image_spec(), BuildSettings(), INPUTS)

    assert missing([recipe], {recipe.reference: "sha256:1"}) == ()
    assert missing([recipe], {recipe.alias: "sha256:1"}) == (recipe,)


def test_post_releases_and_local_builds_satisfy_a_release() -> None:
    """Post-releases and local builds count as the release."""
    assert verified(image_spec(), answer(mxnet="1.9.1.post2")) == (("mxnet", "1.9.1.post2"),)
    assert verified(image_spec(), answer(mxnet="1.9.1+cpu")) == (("mxnet", "1.9.1+cpu"),)


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        (answer(mxnet="1.9.0"), r"mxnet 1\.9\.1 was asked for, 1\.9\.0 is there"),
        (answer(numpy="1.23.5"), r"mxnet 1\.9\.1 was asked for and is not there"),
        (answer("3.12.1", mxnet="1.9.1"), r"Python 3\.11 was asked for, 3\.12\.1 is there .*build\.base_image"),
        (answer("3.1", mxnet="1.9.1"), r"Python 3\.11 was asked for, 3\.1 is there"),
        ("Segmentation fault", r"asked for its versions, the image answered 'Segmentation fault'"),
        ("[]", r"asked for its versions, the image answered"),
    ],
)
def test_an_image_of_other_content_is_an_error(said: str, reason: str) -> None:
    """An image that holds something else than was asked for is an error."""
    with pytest.raises(BuildError, match=reason):
        verified(image_spec(), said)


def test_the_users_own_image_may_hold_any_python() -> None:
    assert verified(image_spec(python="", expected_versions=()), answer("3.9.2", torch="2.1")) == (("torch", "2.1"),)


def test_an_unresolved_base_names_the_ways_out() -> None:
    assert unresolved("python:3.11-slim", "no such host.") == (
        "base image python:3.11-slim is not on this engine and cannot be pulled: no such host; "
        "set build.base_image or build.registry, or load the image"
    )


@dataclass
class RemovedLayers:
    """Builds of an engine whose layers somebody removes for the first few times."""

    times: int
    said: str = ""
    contexts: list[bytes] = field(default_factory=list)
    stopped: bool = False

    def build(self, context: Iterable[bytes], **options: object) -> str:
        self.contexts.append(b"".join(context))
        error = [{"error": self.said}] if len(self.contexts) <= self.times else []
        return follow([*error, {"stream": "Successfully built 1"}, {"aux": {"ID": "sha256:1"}}], lambda line: None)


class Engine:
    """An engine that has every image it is asked for, and takes every name."""

    api: Any

    def __init__(self) -> None:
        self.api = self
        self.base_url = "http+docker://localhost"

    def inspect_image(self, reference: str) -> dict[str, str]:
        return {"Id": "sha256:0"}

    def tag(self, *names: str, force: bool) -> None:
        """Take a name."""

    def images(self, **options: object) -> list[object]:
        return []


_GONE = "65" * 32


@pytest.mark.parametrize(
    "said",
    [
        f'unable to find image "sha256:{_GONE}": no such image',
        f"failed to get digest sha256:{_GONE}: open /imagedb/content/sha256/{_GONE}: no such file or directory",
    ],
)
@pytest.mark.parametrize(("times", "built"), [(0, True), (2, True), (3, False)])
def test_removed_layers_are_built_again_twice(
    times: int, built: bool, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Layers that somebody removes meanwhile are built again, at most twice."""
    builds, bases = RemovedLayers(times, said), SimpleNamespace(digest=lambda reference: "base@sha256:2")
    batch: Any = Batch(Engine(), BuildSettings(), tmp_path, lambda event: None, builds, bases)  # type: ignore[arg-type]
    monkeypatch.setattr(making, "ask", lambda *question: answer(mxnet="1.9.1"))
    monkeypatch.setattr(making, "takes_connections", lambda client: True)
    monkeypatch.setattr(making, "engine_fault", lambda *failure: None)

    (result,) = make_group([render(image_spec(), BuildSettings(), INPUTS)], batch)

    assert isinstance(result, Built) is built
    assert len(builds.contexts) == min(times + 1, 3)
    assert len(set(builds.contexts)) == 1
    (log,) = tmp_path.iterdir()
    assert log.read_text().count("it was removed meanwhile") == min(times, 2)


class SlowEngine(Engine):
    """An engine that is too busy to list what a build left behind."""

    def images(self, **options: object) -> list[object]:
        raise ReadTimeout("Read timed out. (read timeout=60)")


def test_a_slow_engine_costs_no_built_image(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An image counts as built, though its engine does not answer when the steps of the build are removed."""
    builds, bases = RemovedLayers(0), SimpleNamespace(digest=lambda reference: "base@sha256:2")
    batch: Any = Batch(SlowEngine(), BuildSettings(), tmp_path, lambda event: None, builds, bases)  # type: ignore[arg-type]
    monkeypatch.setattr(making, "ask", lambda *question: answer(mxnet="1.9.1"))

    (result,) = make_group([render(image_spec(), BuildSettings(), INPUTS)], batch)

    assert isinstance(result, Built)
