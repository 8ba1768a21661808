"""Versions of cuDNN that differ without a word, because what is installed is the same."""

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from counted_sessions import request_of

from benchmarks.frameworks import noop
from benchmarks.sampling import gpu_settings, telemetry
from benchmarks.timing import timed

MAP = """\
55d0c0a00000-55d0c0a01000 r--p 00000000 08:01 131 /usr/bin/python3.11
7f00a0000000-7f00a0001000 r--p 00000000 08:01 132 /usr/lib/libc.so.6
7f00a0002000-7f00a0003000 rw-p 00000000 00:00 0
7f00b0000000-7f00b0001000 r--p 00000000 08:01 133 /opt/environment/lib/libframework.so
7f00b0002000-7f00b0003000 r-xp 00001000 08:01 133 /opt/environment/lib/libframework.so
7f00c0000000-7f00c0001000 r--p 00000000 08:01 134 /usr/lib/x86_64-linux-gnu/libcudnn.so.8.1.1
"""
ROOT = Path(__file__).parents[3]
ASK = """
import ctypes, sys
ctypes.CDLL(sys.argv[1])
from benchmarks.sampling import telemetry
print(telemetry.cudnn())
"""
FRAMEWORK, OF_THE_IMAGE = "/opt/environment/lib/libframework.so", "/usr/lib/x86_64-linux-gnu/libcudnn.so.8.1.1"


class LoadingSession(type(noop.start(None))):  # type: ignore[misc]
    """A session whose first step loads a cuDNN."""

    def __init__(self, version: int, exported: dict[str, int]) -> None:
        self._version, self._exported = version, exported

    def step(self, _batch: Any) -> None:
        self._exported[OF_THE_IMAGE] = self._version


def exporting(versions: dict[str, int]) -> Callable[[str, str], Callable[[], int] | None]:
    """Return what finds the function of a library, for libraries with these versions."""
    return lambda path, _name: versions[path].__int__ if path in versions else None


def facts_of(monkeypatch: pytest.MonkeyPatch, maps: Path, version: int, gpus: int = 1) -> dict[str, Any]:
    """Return the facts of a session whose first step loads a version of cuDNN."""
    exported: dict[str, int] = {}
    asked = telemetry.cudnn
    with monkeypatch.context() as patch:
        patch.setattr(telemetry, "cudnn", lambda: asked(str(maps), exporting(exported)))
        patch.setattr(noop, "start", lambda _workload: LoadingSession(version, exported))
        facts: dict[str, Any] = timed.execute(request_of(steps=10, epochs=None, gpus=gpus), lambda _phase: None)[
            "facts"
        ]
    return facts


@pytest.fixture
def maps(tmp_path: Path) -> Path:
    file = tmp_path / "maps"
    file.write_text(MAP)
    return file


def test_loaded_versions_differ_where_the_installed_agree(monkeypatch: pytest.MonkeyPatch, maps: Path) -> None:
    one, other = (facts_of(monkeypatch, maps, version) for version in (7605, 8101))

    assert one["versions"] == other["versions"], "wrong: read as one cuDNN"
    assert (one["cudnn"], other["cudnn"]) == (7605, 8101)


def test_cpu_session_has_no_such_fact(monkeypatch: pytest.MonkeyPatch, maps: Path) -> None:
    assert "cudnn" not in facts_of(monkeypatch, maps, 8101, gpus=0)


def test_library_of_its_name_is_asked_first(maps: Path) -> None:
    both = {FRAMEWORK: 7605, OF_THE_IMAGE: 8101}

    assert telemetry.cudnn(str(maps), exporting(both)) == 8101
    assert telemetry.cudnn(str(maps), exporting({FRAMEWORK: 7605})) == 7605


def test_version_that_cannot_be_read_is_none(tmp_path: Path, maps: Path) -> None:
    assert telemetry.cudnn(str(maps)) is None, "no such libraries are loaded"
    assert telemetry.cudnn(str(tmp_path / "missing"), exporting({OF_THE_IMAGE: 8101})) is None


@pytest.mark.parametrize(("function", "said"), [("cudnnGetVersion", "8101"), ("no_such_function", "None")])
def test_loaded_library_answers_by_its_own_function(function: str, said: str, tmp_path: Path) -> None:
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("no C compiler here")
    source, library = tmp_path / "cudnn.c", tmp_path / "libcudnn.so.8"
    source.write_text(f"unsigned long {function}(void) {{ return 8101; }}\n")
    subprocess.run([compiler, "-shared", "-fPIC", "-o", library, source], check=True)
    ended = subprocess.run([sys.executable, "-c", ASK, library], cwd=ROOT, capture_output=True, text=True, check=True)

    assert ended.stdout.strip() == said


def test_settings_of_gpus_are_facts(monkeypatch: pytest.MonkeyPatch, maps: Path) -> None:
    """The cache of kernels is that of the driver, and a variable is read as the process has it at the end."""
    monkeypatch.setenv("CUDA_CACHE_DISABLE", "1")
    monkeypatch.setenv("XLA_PYTHON_CLIENT_PREALLOCATE", "true")
    monkeypatch.setenv("MXNET_CUDNN_AUTOTUNE_DEFAULT", "0")

    settings = facts_of(monkeypatch, maps, 8101)["gpu_settings"]

    assert settings["kernel_cache"] == "off"
    assert settings["variables"]["XLA_PYTHON_CLIENT_PREALLOCATE"] == "true"
    assert settings["variables"]["MXNET_CUDNN_AUTOTUNE_DEFAULT"] == "0"
    assert "gpu_settings" not in facts_of(monkeypatch, maps, 8101, gpus=0)


@pytest.mark.parametrize(
    ("variables", "place"), [({}, "~/.nv/ComputeCache"), ({"CUDA_CACHE_PATH": "/cache"}, "/cache")]
)
def test_cache_of_kernels_has_a_place(variables: dict[str, str], place: str) -> None:
    assert gpu_settings.facts(variables, ())["kernel_cache"] == place


def test_settings_of_loaded_libraries_are_told_by_default() -> None:
    """Without a variable, the default that the library documents is named as one."""
    variables = {"XLA_FLAGS": "--a=1 --xla_gpu_autotune_level=0 --b", "JAX_COMPILATION_CACHE_DIR": "/cache"}
    settings = gpu_settings.facts(variables, ["jax", "mxnet", "numpy"])

    assert settings["jax"] == {"allocator": "bfc (default)", "autotuning": "0", "jit_cache": "/cache"}
    assert settings["mxnet"] == {"allocator": "Naive (default)", "autotuning": "1 (default)"}
    assert "tensorflow" not in settings
    assert settings["variables"] == variables
