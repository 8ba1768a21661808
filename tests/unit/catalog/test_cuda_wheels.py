"""CUDA from wheels of the package index: what an environment installs, and where its libraries are found."""

from pathlib import Path

import pytest

from orchestrator.build_settings import BuildSettings
from orchestrator.catalog import load
from orchestrator.domain import Environment, Framework, ImageSpec
from orchestrator.images import Inputs, render
from orchestrator.resources import IMAGES
from orchestrator.runtimes.variables import library_path

CATALOG = load(IMAGES / "catalog")
NEEDED_BY_MXNET = {"cublas", "cuda_nvrtc", "cuda_runtime", "cudnn", "cufft", "curand", "cusolver", "nccl", "nvtx"}
"""The wheels with libraries that `libmxnet.so` of mxnet-cu112 1.8.0.post0 to 1.9.1 names as needed."""


def gpu_environment(name: str, version: str) -> Environment:
    return CATALOG.environment(Framework(name, version), 1)


def wheels(environment: Environment) -> set[str]:
    """Return the parts of CUDA that an environment installs, by the names of their folders."""
    names = [line.partition("-cu11==")[0] for line in environment.requirements if "-cu11==" in line]
    return {name.removeprefix("nvidia-").replace("-", "_") for name in names}


@pytest.mark.parametrize("version", ["1.8.0", "1.9.0", "1.9.1"])
def test_mxnet_takes_cuda_from_wheels(version: str) -> None:
    """No image of CUDA is needed, and each wheel is where the loader looks."""
    environment = gpu_environment("mxnet", version)

    assert environment.cuda_image is None
    assert wheels(environment) == NEEDED_BY_MXNET
    assert set(environment.library_folders) == {f"nvidia/{name}/lib" for name in NEEDED_BY_MXNET}


@pytest.mark.parametrize(("version", "has_folders"), [("2.16.1", True), ("2.16.2", False), ("2.17.0", False)])
def test_only_tensorflow_2_16_1_needs_a_path(version: str, has_folders: bool) -> None:
    assert bool(gpu_environment("tensorflow", version).library_folders) is has_folders


@pytest.mark.parametrize("version", ["2.14.0", "2.14.1"])
def test_tensorflow_2_14_leaves_tensorrt_out(version: str) -> None:
    """Its extra asks for a TensorRT that the index has for Python 3.10 at most."""
    environment = gpu_environment("tensorflow", version)

    assert environment.requirements[0] == f"tensorflow>={version},<={version}.post9999"
    assert "nvidia-cudnn-cu11==8.7.0.84" in environment.requirements
    assert environment.python == "3.11"


def test_other_releases_keep_their_extra() -> None:
    assert gpu_environment("tensorflow", "2.15.1").requirements[0].startswith("tensorflow[and-cuda]>=2.15.1,")


@pytest.mark.parametrize(
    ("version", "cuda"),
    [("1.3.0", "8.0"), ("1.4.1", "8.0"), ("1.5.0", "9.0"), ("1.12.3", "9.0"), ("1.13.1", "10.0"), ("1.15.5", "10.0")],
)
def test_tensorflow_1_names_its_cuda(version: str, cuda: str) -> None:
    """By the libraries that its published wheels name."""
    backend = Framework("tensorflow", version)
    needs = CATALOG.environment(Framework("keras", "2.2.4", backend=backend), 1).cuda

    assert needs is not None
    assert needs.version == cuda


def test_a_front_end_finds_its_backends_libraries() -> None:
    keras = Framework("keras3", "3.15.1", backend=Framework("tensorflow", "2.16.1"))

    assert "nvidia/cudnn/lib" in CATALOG.environment(keras, 1).library_folders
    assert CATALOG.environment(keras, 0).library_folders == ()


def test_an_image_has_the_folders_in_its_path() -> None:
    environment = Environment("mxnet", "3.8", library_folders=("nvidia/cublas/lib", "nvidia/cudnn/lib"))
    spec = ImageSpec("bench/mxnet", "1.9.1-1_gpu", "1_gpu", Framework("mxnet", "1.9.1"), environment)

    text = render(spec, BuildSettings(), Inputs(())).dockerfile

    below = "/opt/environment/lib/python3.8/site-packages/nvidia"
    assert f"LD_LIBRARY_PATH={below}/cublas/lib:{below}/cudnn/lib\n" in text


@pytest.mark.parametrize(("host", "rest"), [("/usr/lib/wsl/lib", ":/usr/lib/wsl/lib"), (None, "")])
def test_a_virtual_environment_has_them_too(host: str | None, rest: str) -> None:
    """The path of the host stays behind them, as its driver may lie there."""
    environment = Environment("mxnet", "3.8", library_folders=("nvidia/cublas/lib",))

    said = library_path(environment, Path("/cache/one/bin/python"), host)

    assert said == {"LD_LIBRARY_PATH": f"/cache/one/lib/python3.8/site-packages/nvidia/cublas/lib{rest}"}
    assert library_path(Environment("mxnet", "3.8"), Path("/cache/one/bin/python"), host) == {}
