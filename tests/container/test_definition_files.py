"""A framework's own definition where it is run: in place of the builder, under its interface and its options."""

import shutil
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from container_support import request_of, start

from benchmarks import definitions, devices
from benchmarks.errors import BadRequest, DeviceOutOfMemory, NoUsableDevice, Unsupported
from orchestrator.resources import BENCHMARKS

BUILDER = SimpleNamespace(OPTIONS={"hybridize": True, "layout": "auto"})
TOLD = "batches=(), step=len, synchronise=len, parameters=1, loss=len, fetch=len"
MADE = f"from types import SimpleNamespace\n\n\ndef start(workload):\n    return SimpleNamespace({TOLD})\n"


def maker(folder: Path, text: str, gpus: int = 0) -> Any:
    (folder / "definition.py").write_text(text)
    file = str(folder / "definition.py")
    request = request_of(builder="mxnet", model="wide", gpus=gpus)._replace(definition_file=file)
    return definitions.maker(request, BUILDER)


def workload(**options: Any) -> Any:
    return SimpleNamespace(options=BUILDER.OPTIONS | options, definition_sha256=None)


def test_without_a_file_the_builder_makes_the_session() -> None:
    assert definitions.maker(request_of(), BUILDER) is BUILDER


def test_unnamed_option_is_unsupported_off_its_default(tmp_path: Path) -> None:
    """An option that the file does not name is unsupported off its default."""
    made = maker(tmp_path, f'OPTIONS = ["hybridize"]\n{MADE}')

    assert made.OPTIONS == BUILDER.OPTIONS
    made.start(workload(hybridize=False))
    with pytest.raises(Unsupported, match=r"^the own definition wide/mxnet\.py has no option 'layout'$"):
        made.start(workload(layout="channels_last"))


def test_session_says_what_it_leaves_out(tmp_path: Path) -> None:
    """A session may leave out what no measurement needs, and says what it lacks."""
    work = workload()

    session = maker(tmp_path, MADE).start(work)

    assert (session.short_blocks, session.peak_device_bytes(), session.facts()) == (False, None, {})
    assert definitions.lacking(session) == ["native_layers", "weights", "predict"]
    assert len(work.definition_sha256) == 64
    with pytest.raises(BadRequest, match=r"^wide/mxnet\.py: its session has no loss, fetch$"):
        maker(tmp_path, MADE.replace(", loss=len, fetch=len", "")).start(work)


def test_session_on_a_gpu_names_its_device(tmp_path: Path) -> None:
    """Nothing else would show that it computes there, and not on the CPU."""
    on_gpu = maker(tmp_path, MADE, gpus=1)

    with pytest.raises(Unsupported, match=r"^wide/mxnet\.py: on a GPU its session needs device_in_use\(\), the device"):
        on_gpu.start(workload())
    told = maker(tmp_path, MADE.replace(TOLD, f"{TOLD}, device_in_use=lambda: 'cpu'"), gpus=1)
    with pytest.raises(NoUsableDevice, match="computes on cpu"):
        devices.require_computing(request_of(gpus=1), told.start(workload()))


def test_full_gpu_memory_is_not_a_mistake(tmp_path: Path) -> None:
    """A lack of GPU memory is reported as such, and not as a mistake of the file."""
    text = "def start(workload):\n    raise RuntimeError('no room\\nCUDA out of memory')\n"

    with pytest.raises(DeviceOutOfMemory), devices.errors_of(request_of(gpus=1)):
        maker(tmp_path, text).start(workload())
    with pytest.raises(BadRequest, match=r"^wide/mxnet\.py:2: RuntimeError: no room"):
        maker(tmp_path, text).start(workload())


def test_class_of_the_file_finds_its_module(tmp_path: Path) -> None:
    looked = "import sys\n\n\nclass Thing:\n    pass\n\n\nFOUND = sys.modules[Thing.__module__].Thing is Thing\n"

    maker(tmp_path, looked + MADE)

    assert sys.modules["benchmarks.models.wide.mxnet"].FOUND


def test_model_of_the_program_finds_its_definition(tmp_path: Path) -> None:
    """A model of the program finds its definition in the image."""
    shutil.copytree(BENCHMARKS, tmp_path / "benchmarks", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "benchmarks" / "models" / "convolutional" / "lenet").mkdir()
    (tmp_path / "benchmarks" / "models" / "convolutional" / "lenet" / "noop.py").write_text(
        "from benchmarks.frameworks import noop\n\n\ndef start(workload):\n    session = noop.start(workload)\n"
        "    session.parameters = 60170\n    return session\n"
    )

    ended = start("lenet", "--framework", "noop", "--steps", "5", path=tmp_path)

    assert ended.returncode == 0, ended.stderr
    assert "definition  of its own for this framework: lenet/noop.py\n" in ended.stdout
