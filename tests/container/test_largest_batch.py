"""The search for the largest batch: the sizes it tries, and the processes that it tries them in."""

import json
import math
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from container_support import start
from hypothesis import example, given, settings
from hypothesis import strategies as st

from benchmarks.models.convolutional import lenet
from benchmarks.timing.largest_batch import FOLDER, search
from orchestrator.modes.parts.largest_batch import GAP
from orchestrator.resources import ROOT
from orchestrator.results.container_answers import read_result
from orchestrator.results.contract import Request
from orchestrator.running.classify import discrepancy
from tests.effort import examples
from tests.limited_device import definition
from tests.until import has_ended, until

Folder = Callable[..., Path]


@pytest.fixture
def limited(io: Folder) -> Folder:
    """Write a request for the largest batch of a fake device."""

    def make(limit: int, step: str = "pass", facts: str = "return {}", **changes: object) -> Path:
        folder = io(definition_file="definition.py", largest_batch=True, **{"gpus": 1, **changes})
        (folder / "definition.py").write_text(definition(limit, step, facts))
        return folder

    return make


@given(limit=st.integers(1, 10**7), start=st.integers(1, 4096), unit=st.integers(1, 8), most=st.integers(1, 10**8))
@settings(max_examples=examples(500))
@example(limit=1, start=1, unit=1, most=1)
@example(limit=99, start=200, unit=1, most=10**6)
def test_search_holds_any_limit(limit: int, start: int, unit: int, most: int) -> None:
    """It ends with a size that fits and one at most 1 % or one unit above it, after few tries."""
    start, most = start * unit, max(start, most) * unit
    tried: list[int] = []

    def fits(size: int) -> bool:
        tried.append(size)
        return size <= limit

    fitting, refused = search(fits, start, unit, lambda: most)

    assert len(tried) == len(set(tried)), "no size is tried twice"
    assert all(size % unit == 0 and 0 < size <= most for size in tried)
    if refused is None:
        assert fitting == most <= limit
    elif not fitting:
        assert (refused, limit < unit) == (unit, True)
    else:
        assert fitting <= limit < refused <= fitting + max(unit, GAP * fitting)
    bracketing = math.ceil(abs(math.log2(max(fitting, unit) / start)))
    assert len(tried) <= bracketing + 9, "both ends of the bracket, and seven halvings of it"


@pytest.mark.parametrize(("limit", "mode"), [(3000, "infer"), (150, "train")])
def test_largest_batch_is_answered(limited: Folder, limit: int, mode: str) -> None:
    """From below and from above: the result is that of the largest try that fitted, and of what the host asked."""
    folder = limited(limit, mode=mode)

    ended = start("--io", str(folder))

    assert ended.returncode == 0, ended.stderr
    result, request = read_result(folder / "result.json"), json.loads((folder / "request.json").read_text())
    assert discrepancy(Request.model_validate(request), result) is None
    found = result.largest_batch
    assert found
    assert found.refused
    assert found.fits <= limit < found.refused
    assert [each.fits for each in found.tries] == [each.batch_size <= limit for each in found.tries]
    assert result.memory.peak_device_bytes == 1000 * found.fits
    assert {each.batch_size: each.peak_device_bytes for each in found.tries}[found.refused] is None
    assert {block.samples // block.steps for block in result.blocks} == {found.fits}
    assert {path.name for path in folder.iterdir()} == {"request.json", "definition.py", "result.json", "phase"}
    assert f"batch size {found.refused}: out of memory" in ended.stdout


def test_a_batch_that_leaves_no_memory_for_facts_is_too_large(limited: Folder) -> None:
    """Frameworks compute some of their facts, as the precision of what a layer yields. The result has all of them."""
    body = ["if self.bytes >= 2950000:", "    raise RuntimeError('CUDA out of memory')", "return {'device': 'a GPU'}"]
    folder = limited(3000, facts="".join(f"\n        {line}" for line in body))

    ended = start("--io", str(folder))

    assert ended.returncode == 0, ended.stderr
    result = read_result(folder / "result.json")
    assert result.largest_batch
    assert result.largest_batch.fits < 2950 <= result.largest_batch.refused
    assert result.facts["device"] == "a GPU"


def test_samples_bound_the_batch(limited: Folder) -> None:
    folder = limited(10**9)

    assert start("--io", str(folder)).returncode == 0
    found = read_result(folder / "result.json").largest_batch
    assert found is not None
    assert (found.fits, found.refused, found.bounded_by) == (lenet.SAMPLES, None, lenet.SAMPLES)


@pytest.mark.parametrize(
    ("limit", "step", "changes", "expected"),
    [
        (0, "pass", {}, (6, "the device ran out of memory at batch size 1")),
        (900, "raise ZeroDivisionError('by zero')", {}, (1, "at batch size 200: ZeroDivisionError: by zero")),
        (900, "pass", {"options": {"fast": True}}, (3, "at batch size 200: noop has no option 'fast'")),
        (900, "__import__('os').kill(__import__('os').getpid(), 9)", {}, (1, "at batch size 200: killed by signal 9")),
        (900, "pass", {"gpus": 0}, (5, "bad request: 'largest_batch' is that of 'gpus', and there are none")),
    ],
)
def test_other_failures_end_the_search(
    limited: Folder, limit: int, step: str, changes: dict[str, object], expected: tuple[int, str]
) -> None:
    """Nothing but the memory of the device makes a batch too large."""
    folder = limited(limit, step, **changes)

    ended = start("--io", str(folder))

    assert (ended.returncode, ended.stderr.rstrip().rpartition("\n")[2]) == expected
    assert not (folder / "result.json").exists()


def test_a_try_ends_with_the_search(limited: Folder, tmp_path: Path) -> None:
    """A search that is killed leaves no process behind."""
    mark = tmp_path / "process"
    mine = f"open({str(mark)!r}, 'w').write(str(__import__('os').getpid()) + '\\n'); __import__('signal').pause()"
    folder = limited(900, mine)
    command = [sys.executable, "-m", "benchmarks.run", "--io", str(folder)]
    searching = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL)
    until(lambda: mark.exists() and mark.read_text().endswith("\n"))
    process = int(mark.read_text())
    assert not has_ended(process)
    assert (folder / FOLDER / "request.json").exists()

    os.kill(searching.pid, signal.SIGKILL)
    searching.wait()

    until(lambda: has_ended(process))


def test_the_search_imports_no_framework() -> None:
    """It would take memory of the device, and each try imports its own."""
    listed = "import sys, benchmarks.run; print([name for name in ('numpy', 'torch', 'jax') if name in sys.modules])"
    said = subprocess.run([sys.executable, "-c", listed], cwd=ROOT, capture_output=True, text=True, check=True)

    assert said.stdout == "[]\n"
