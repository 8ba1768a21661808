"""The images that may go, decided from what an engine has."""

from dataclasses import replace

import pytest

from orchestrator.engine.images import ImageFacts
from orchestrator.images import labels
from orchestrator.images.surplus import given_up, surplus


def image(name: str, content: str, *, size: int, layers: str, alias: bool = False) -> ImageFacts:
    environment = name == "bench/environment"
    kind = labels.ENVIRONMENT if environment else labels.IMAGE
    tags = (f"{name}:{content}",) if environment else (f"{name}-{content}", *([name] if alias else []))
    return ImageFacts(
        f"sha256:{content}", f"sha256:{content}", {labels.KIND: kind, labels.CONTENT: content}, tags,
        "2026-01-02T03:04:05Z", size, tuple(layers),
    )  # fmt: skip


ENVIRONMENT = image("bench/environment", "e1", size=500, layers="ab")
OLD_ENVIRONMENT = image("bench/environment", "e0", size=400, layers="ax")
NEWEST = image("bench/mxnet:1.9.1-cpu", "c3", size=510, layers="abc", alias=True)
OLDER = image("bench/mxnet:1.9.1-cpu", "c2", size=512, layers="abd")
OLDEST = image("bench/mxnet:1.9.1-cpu", "c1", size=415, layers="axy")
OTHER = image("bench/torch:2.13.0-cpu", "t1", size=900, layers="akl", alias=True)
ALL = [NEWEST, OTHER, OLDER, ENVIRONMENT, OLDEST, OLD_ENVIRONMENT]


def gone(keep_last: int, *in_use: str) -> dict[str, int]:
    return {one.names[0]: one.frees_bytes for one in surplus(ALL, keep_last, in_use)}


def test_the_newest_of_each_alias_stays() -> None:
    """The newest image of each alias stays, with the environment that it stands on."""
    assert gone(1) == {
        "bench/mxnet:1.9.1-cpu-c2": 12,
        "bench/mxnet:1.9.1-cpu-c1": 15,
        "bench/environment:e0": 400,
    }


def test_more_are_kept_where_more_are_asked_for() -> None:
    assert gone(2) == {"bench/mxnet:1.9.1-cpu-c1": 15, "bench/environment:e0": 400}
    assert gone(3) == {}


def test_to_keep_none_frees_every_layer_once() -> None:
    found = gone(0)

    assert len(found) == len(ALL)
    assert sum(found.values()) == 10 + 12 + 500 + 15 + 400 + 900
    assert next(one.names for one in surplus(ALL, 0)) == ("bench/mxnet:1.9.1-cpu-c3", "bench/mxnet:1.9.1-cpu")


def test_images_that_a_run_needs_stay() -> None:
    """An image that a run needs stays, with the environment that it stands on."""
    assert gone(1, "bench/mxnet:1.9.1-cpu-c1") == {"bench/mxnet:1.9.1-cpu-c2": 12}
    assert "bench/mxnet:1.9.1-cpu-c2" not in gone(0, "sha256:c2")


@pytest.mark.parametrize(
    "tags",
    [
        ("mine:1",),
        ("registry.corp/team/mine:2.0-c1",),
        ("bench/mine:latest",),
        ("bench/mxnet:1.9.1-cpu-c9", "mine:1"),
        ("bench/mxnet:1.9.1-cpu-c9", "bench/mxnet:mine"),
    ],
)
@pytest.mark.parametrize("base", [OLDEST, OLD_ENVIRONMENT])
def test_images_that_a_user_built_or_named_stay(tags: tuple[str, ...], base: ImageFacts) -> None:
    """An image that a user has built on ours or has named stays, with what it stands on."""
    named = {**base.labels, labels.CONTENT: "c9"} if "c9" in tags[0] else base.labels
    mine = replace(base, image_id="sha256:mine", labels=named, tags=tags, layers=(*base.layers, "m"))
    found = {name for one in surplus([mine, *ALL], 0) for name in one.names}

    assert not found & {*tags, *base.tags}
    assert "bench/mxnet:1.9.1-cpu-c2" in found


def test_ours_below_a_registry_goes_like_ours() -> None:
    elsewhere = replace(OLDEST, image_id="sha256:e", tags=("registry.corp:5000/x/bench/mxnet:1.9.1-cpu-c1",))

    assert [one.image_id for one in surplus([elsewhere], 0)] == ["sha256:e"]


def given_up_names(*references: str, in_use: tuple[str, ...] = (), more: tuple[ImageFacts, ...] = ()) -> set[str]:
    return {one.names[0] for one in given_up([*more, *ALL], references, in_use)}


def test_given_up_images_go_with_their_environment() -> None:
    """An image that is given up goes with its environment if nothing else stands on that."""
    assert given_up_names("bench/mxnet:1.9.1-cpu-c1") == {"bench/mxnet:1.9.1-cpu-c1", "bench/environment:e0"}
    assert given_up_names("bench/mxnet:1.9.1-cpu-c2") == {"bench/mxnet:1.9.1-cpu-c2"}
    assert given_up_names("bench/mxnet:1.9.1-cpu-c2", "bench/mxnet:1.9.1-cpu-c3") == {
        "bench/mxnet:1.9.1-cpu-c2", "bench/mxnet:1.9.1-cpu-c3", "bench/environment:e1",
    }  # fmt: skip
    assert given_up_names("bench/none:1", "somebody/elses:2") == set()


def test_given_up_images_in_use_stay() -> None:
    """An image that is given up stays while it is in use, or carries an image or a tag of a user."""
    mine = replace(OLDEST, image_id="sha256:mine", tags=("mine:1",), layers=(*OLDEST.layers, "m"))
    renamed = replace(OLDEST, tags=(*OLDEST.tags, "mine:2"))

    assert given_up_names("bench/mxnet:1.9.1-cpu-c1", in_use=("sha256:c1",)) == set()
    assert given_up_names("bench/mxnet:1.9.1-cpu-c1", more=(mine,)) == set()
    assert [one.names for one in given_up([renamed], renamed.tags)] == []
