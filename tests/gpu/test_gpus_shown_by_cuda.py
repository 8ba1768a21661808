"""The GPUs that CUDA shows a process, asked of a stand-in for the driver's library."""

import os
import shutil
import subprocess
import sys
from ctypes.util import find_library
from pathlib import Path

import pytest

from tests.gpu.fake_host import ROOT, STAND_IN

GIVEN = "GPU-8932f937-d72c-4106-c12f-20bd9faed9f6"
DIGITS, OTHER = "8932f937d72c4106c12f20bd9faed9f6", "00ff" * 8
CHECK = """
import sys
from types import SimpleNamespace
from benchmarks import devices
from benchmarks.errors import NoUsableDevice
sys.modules["pynvml"] = None
try:
    devices.require_given(SimpleNamespace(gpus=1))
except NoUsableDevice as error:
    sys.exit(str(error))
"""


@pytest.fixture(scope="module", params=["-DNEWER", "-DOLDER"])
def libraries(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a `libcuda.so.1`, of a driver from 470 on and of an older one."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("no C compiler here")
    folder = tmp_path_factory.mktemp("cuda")
    command = [compiler, "-shared", "-fPIC", request.param, "-o", folder / "libcuda.so.1", STAND_IN / "cuda.c"]
    subprocess.run(command, check=True)
    return folder


def told(libraries: Path, given: str, **fake: str) -> str:
    """Return what a process says that was given a GPU, empty if all is well."""
    variables = {"LD_LIBRARY_PATH": str(libraries), "PYTHONPATH": str(ROOT), "CUDA_VISIBLE_DEVICES": given, **fake}
    ended = subprocess.run(
        [sys.executable, "-c", CHECK], env=os.environ | variables, capture_output=True, text=True, check=False
    )
    return ended.stderr.strip()


def test_the_given_gpu_is_shown(libraries: Path) -> None:
    assert not told(libraries, GIVEN, FAKE_CUDA_UUIDS=DIGITS)


@pytest.mark.parametrize("shown", ["", OTHER, f"{DIGITS},{OTHER}"])
def test_others_than_given_are_no_device(libraries: Path, shown: str) -> None:
    """None, another one in its place, and one more."""
    count = len(shown.split(",")) if shown else 0
    expected = f"CUDA shows {count} GPUs, and not just the 1 that this process was given"

    assert told(libraries, GIVEN, FAKE_CUDA_UUIDS=shown) == expected


def test_several_come_in_any_order(libraries: Path) -> None:
    other = f"GPU-{OTHER[:8]}-{OTHER[8:12]}-{OTHER[12:16]}-{OTHER[16:20]}-{OTHER[20:]}"

    assert not told(libraries, f"{GIVEN},{other}", FAKE_CUDA_UUIDS=f"{OTHER},{DIGITS}")


def test_cuda_that_does_not_start_is_no_device(libraries: Path) -> None:
    assert told(libraries, GIVEN, FAKE_CUDA_ERROR="802") == "CUDA does not start: its error is number 802"


@pytest.mark.skipif(find_library("cuda") is not None, reason="this host has the library of a driver")
def test_missing_library_leaves_it_to_the_framework(tmp_path: Path) -> None:
    """As on a host where NVML alone is there: no framework computes on a GPU without CUDA."""
    assert not told(tmp_path, GIVEN)
