"""Images of CUDA: those that NVIDIA has deleted, and copies that a matrix names for them."""

from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from orchestrator import matrix
from orchestrator.build_settings import BuildSettings
from orchestrator.catalog import shipped_catalog, shipped_models
from orchestrator.domain import CudaNeeds, Environment, Framework, ImageSpec
from orchestrator.images import Inputs, render, unresolved, without_source
from orchestrator.images.dockerfiles import cuda_reference
from tests.unit.cli.conftest import Program

PUBLISHED = "nvidia/cuda:10.1-cudnn7-runtime-ubuntu18.04"
COPY = "corp/cuda:10.1"
RELEASES = "8.0, 9.0, 9.2, 10.0, 10.1 and 10.2"
MATRIX = f"""\
version: 1
systems: {{1_gpu: {{gpus: 1}}}}
frameworks: [mxnet==1.5.1, mxnet==1.4.1, mxnet==1.9.1]
models: [lenet]
build:
  cuda_images: {{10.1: "{COPY}"}}
"""
IMAGE = ImageSpec(
    "bench/mxnet", "1.5.1-1_gpu", "1_gpu", Framework("mxnet", "1.5.1"),
    Environment("mxnet", "3.7", cuda_image=PUBLISHED, cuda=CudaNeeds("10.1", "418.39")),
)  # fmt: skip
OWN = BuildSettings(cuda_images=(("10.1", COPY),))


def settings(folder: Path, text: str) -> matrix.Matrix:
    (folder / "m.yaml").write_text(text)
    return matrix.load(folder / "m.yaml", shipped_catalog(), shipped_models())


def test_a_matrix_names_copies_by_release(tmp_path: Path) -> None:
    """The number of a release needs no quotes, and the long form keeps it."""
    loaded = settings(tmp_path, MATRIX)

    assert loaded.build.cuda_images == (("10.1", COPY),)
    assert settings(tmp_path, yaml.safe_dump(matrix.long_form(loaded))).build == loaded.build


def test_a_copy_takes_the_place_of_its_release() -> None:
    """Others keep the image of the catalog, and wheels need none."""
    other = replace(IMAGE, environment=replace(IMAGE.environment, cuda=CudaNeeds("9.2", "396.26")))
    wheels = replace(IMAGE, environment=replace(IMAGE.environment, cuda_image=None))

    assert cuda_reference(IMAGE, OWN) == COPY
    assert cuda_reference(IMAGE, replace(OWN, registry="registry.corp")) == f"registry.corp/{COPY}"
    assert cuda_reference(other, OWN) == PUBLISHED
    assert cuda_reference(wheels, OWN) is None


def test_a_copy_is_part_of_the_identity() -> None:
    plain, own = (render(IMAGE, each, Inputs(())) for each in (BuildSettings(), OWN))

    assert f"FROM {COPY} AS cuda" in own.dockerfile
    assert COPY in own.bases
    assert own.content != plain.content


@pytest.mark.parametrize(
    ("image", "reason"),
    [
        (
            '{"11.2": "corp/cuda:1"}',
            f"6:17: build.cuda_images: no build takes CUDA 11.2 from an image; drop this, or name one of {RELEASES}",
        ),
        ('{ten: "corp/cuda:1"}', "6:17: build.cuda_images: 'ten' should be a release of CUDA such as '10.1'"),
        (
            '{"10.1": "a b"}',
            "6:25: build.cuda_images.10.1: 'a b' should be an image such as registry.example/torch:2.1",
        ),
    ],
)
def test_a_mistake_has_its_place_and_remedy(command: Program, tmp_path: Path, image: str, reason: str) -> None:
    (tmp_path / "matrix.yaml").write_text(MATRIX.replace(f'{{10.1: "{COPY}"}}', image))

    assert command("plan") == (2, "", f"matrix.yaml:{reason}\n")


def test_the_plan_names_deleted_releases(command: Program, tmp_path: Path) -> None:
    """CUDA 10.1 has a copy and CUDA 11.8 comes in wheels; CUDA 9.2 is left."""
    (tmp_path / "matrix.yaml").write_text(MATRIX)

    status, said, _ = command("plan")

    assert status == 0
    assert said.replace("\n", " ").endswith(
        "without copies in build.cuda_images, 1 image cannot be built: NVIDIA has deleted its images of CUDA 9.2 "
    )


def test_a_plan_with_copies_says_nothing(command: Program, tmp_path: Path) -> None:
    (tmp_path / "matrix.yaml").write_text(MATRIX.replace(" mxnet==1.4.1,", ""))

    _, said, _ = command("plan")

    assert "deleted" not in said


@pytest.mark.parametrize(
    ("reference", "deleted"),
    [
        ("nvidia/cuda:8.0-cudnn6-runtime-ubuntu16.04", True),
        ("nvidia/cuda:10.2-cudnn7-runtime-ubuntu18.04", True),
        ("docker.io/nvidia/cuda:9.2-runtime", True),
        ("nvidia/cuda:11.8.0-cudnn8-runtime-ubuntu22.04", False),
        ("registry.corp/mirror/nvidia/cuda:10.1-runtime", False),
        ("corp/cuda:9.0", False),
    ],
)
def test_only_old_published_images_are_deleted(reference: str, deleted: bool) -> None:
    """A registry of the user's own may hold a copy under the same name."""
    image = replace(IMAGE, environment=replace(IMAGE.environment, cuda_image=reference))

    assert bool(without_source([image], BuildSettings())) is deleted
    assert ("NVIDIA has deleted it" in unresolved(reference, "no such manifest")) is deleted


def test_an_unresolved_cuda_image_names_its_setting() -> None:
    assert unresolved(PUBLISHED, "manifest unknown.") == (
        f"base image {PUBLISHED} is not on this engine and cannot be pulled: manifest unknown; "
        "NVIDIA has deleted it: name a copy of yours in build.cuda_images, or load the image"
    )
