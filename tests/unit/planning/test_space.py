"""Disk that is missing: a decision from numbers."""

from orchestrator.catalog import load
from orchestrator.domain import Framework, ImageSpec
from orchestrator.planning.cost import space
from orchestrator.resources import IMAGES

CATALOG = load(IMAGES / "catalog")


def image(name: str, version: str, gpus: int = 0) -> ImageSpec:
    framework = Framework(name, version)
    image_class = f"{gpus}_gpu" if gpus else "cpu"
    return ImageSpec(f"bench/{name}", version, image_class, framework, CATALOG.environment(framework, gpus))


TORCH, MXNET = image("torch", "2.13.0"), image("mxnet", "1.9.1")


def test_image_space_counts_the_largest_twice() -> None:
    """Images need room for their own sizes, for their bases and for the largest a second time."""
    assert space.image_bytes([TORCH, MXNET], 1) == (900 + 280 + 900 + 130) * 1_000_000
    assert space.image_bytes([image("torch", "2.13.0", gpus=1)], 0) == 2 * (900 + 3000) * 1_000_000
    assert space.image_bytes([], 0) == 0


def test_environments_need_their_sizes() -> None:
    assert space.environment_bytes([TORCH, MXNET]) == (900 + 280) * 1_000_000


def test_a_bundle_needs_half_the_missing_size() -> None:
    """A bundle needs half the size of its images, less what it holds already."""
    assert space.bundle_bytes([TORCH, MXNET], 0) == (900 + 280 + 130) * 500_000
    assert space.bundle_bytes([TORCH, MXNET], 100_000_000) == (900 + 280 + 130) * 500_000 - 100_000_000
    assert space.bundle_bytes([TORCH, MXNET], 10**12) == 0


def test_a_shortage_says_what_where_and_the_remedy() -> None:
    assert space.shortage("2 images", 2_210_000_000, 999_000_000, "/var/lib/docker", ("make room", "wait")) == (
        "/var/lib/docker: not enough disk for 2 images: about 2.2 GB are needed, 999 MB are free; make room, wait, "
        "or set ORCHESTRATOR_DISK_CHECK=off if the estimate is wrong"
    )


def test_unknown_or_enough_space_is_no_shortage() -> None:
    """A need that fits, or a free space that cannot be known, is no shortage."""
    assert space.shortage("1 image", 100, 100, "/x", ()) == ""
    assert space.shortage("1 image", 10**15, None, "/x", ()) == ""
