"""The needs of a GPU build, held against drivers and GPUs of all ages."""

import pytest

from orchestrator.catalog import load
from orchestrator.catalog.model import Cuda
from orchestrator.devices import Gpu
from orchestrator.devices.needs import unmet
from orchestrator.domain import CudaNeeds, Framework
from orchestrator.resources import IMAGES

OLD = CudaNeeds("10.1", "418.39", ("3.0", "7.5"))
NEW = CudaNeeds("12", "525.60.13", ("5.0",))


def gpu(capability: str | None) -> Gpu:
    return Gpu(0, "GPU-0", "Example GPU", None, compute_capability=capability)


@pytest.mark.parametrize(
    ("needs", "capability", "driver", "said"),
    [
        (OLD, "7.5", "418.39", ""),
        (OLD, "7.0", "570.124.06", ""),
        (OLD, "7.5", "418.9", "CUDA 10.1 needs driver 418.39 or newer; this host has 418.9"),
        (NEW, "9.0", "525.60", "CUDA 12 needs driver 525.60.13 or newer; this host has 525.60"),
        (OLD, "7.9", "570.1", ""),
        (OLD, "9.0", "570.1", "code for compute capabilities from 3.0 to 7.5; Example GPU has 9.0"),
        (OLD, "2.1", "570.1", "code for compute capabilities from 3.0 to 7.5; Example GPU has 2.1"),
        (NEW, "3.5", "570.1", "code for compute capabilities from 5.0 on; Example GPU has 3.5"),
        (NEW, "12.0", "570.1", ""),
        (OLD, None, None, ""),
        (None, "9.0", "1.0", ""),
    ],
)
def test_old_drivers_and_new_gpus_are_refused(
    needs: CudaNeeds | None, capability: str | None, driver: str | None, said: str
) -> None:
    """Versions are compared number by number, and what a host does not tell is no hindrance."""
    found = unmet(needs, [gpu(capability)], driver)

    assert found == said or (said and found.endswith(said))
    assert unmet(needs, [], driver) == ""


def test_every_cuda_image_of_the_catalog_has_its_needs() -> None:
    """The release of CUDA in the name of an image is the one whose needs are given."""
    variants = [
        release.gpu for entry in load(IMAGES / "catalog").entries.values() for release in entry.releases if release.gpu
    ]
    images = [(variant.cuda_image, variant.cuda) for variant in variants if variant.cuda_image]

    assert len(images) >= 9
    for image, needs in images:
        assert isinstance(needs, Cuda), image
        assert image.partition(":")[2].startswith(f"{needs.version}"), image


def test_every_cuda_of_the_catalog_has_its_capabilities() -> None:
    """Without them, a GPU that is too old is found out when the cell runs."""
    for name, entry in load(IMAGES / "catalog").entries.items():
        for release in entry.releases:
            needs = release.gpu.cuda if release.gpu else None
            for each in needs.values() if isinstance(needs, dict) else filter(None, [needs]):
                assert each.capabilities, (name, release.versions)


@pytest.mark.parametrize(
    ("pin", "cuda"),
    [("2.13.0", "13.0"), ("2.9.1", "12.8"), ("2.8.0", "12.8"), ("2.6.0", "12.4"), ("2.0.1", "11.7"), ("1.3.0", "10.1")],
)
def test_each_release_has_the_cuda_of_its_wheels(pin: str, cuda: str) -> None:
    """By the requirements of the published wheels."""
    needs = load(IMAGES / "catalog").environment(Framework("torch", pin), 1).cuda

    assert needs is not None
    assert needs.version == cuda
    assert load(IMAGES / "catalog").environment(Framework("torch", pin), 0).cuda is None


@pytest.mark.parametrize(
    ("pin", "code"),
    [
        ("torch==2.13.0", ("7.5",)),
        ("torch==2.9.1", ("7.0", "12.0")),
        ("torch==2.8.0", ("7.0", "12.0")),
        ("torch==2.7.1", ("5.0", "9.0")),
        ("tensorflow==2.18.0", ("6.0",)),
        ("tensorflow==2.17.0", ("6.0",)),
        ("tensorflow==2.16.1", ("5.0",)),
        ("tensorflow==2.15.0", ("5.0",)),
        ("tensorflow==2.14.0", ("3.5",)),
        ("jax==0.12.0.1", ("5.2",)),
    ],
)
def test_each_release_has_the_code_of_its_wheels(pin: str, code: tuple[str, ...]) -> None:
    """By the sources that docs/gpu.md names; without PTX there is a newest capability."""
    name, _, version = pin.partition("==")
    needs = load(IMAGES / "catalog").environment(Framework(name, version), 1).cuda

    assert needs is not None
    assert tuple(needs.capabilities) == code
