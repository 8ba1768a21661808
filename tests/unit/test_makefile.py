"""The set-up takes what the lock names, and says how to call what it has installed."""

import shutil
import subprocess
from pathlib import Path

import pytest

from orchestrator.resources import ROOT


def dry(target: str, place: Path) -> str:
    """Give what `make` would run with its virtual environment in `place`."""
    make = shutil.which("make")
    assert make
    command = [make, "--dry-run", "--no-print-directory", f"VENV={place}", target]
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout


@pytest.mark.parametrize("target", ["setup", "matrix", "test"])
def test_every_set_up_checks_hashes(target: str, tmp_path: Path) -> None:
    installs = [line for line in dry(target, tmp_path).splitlines() if " pip install " in line]

    assert any("-r locks/runtime.txt" in line for line in installs)
    for line in installs:
        locked = "--require-hashes" in line and "-r locks/" in line and " ." not in line
        assert locked or "--no-deps --no-build-isolation --editable ." in line


@pytest.mark.parametrize("target", ["setup", "matrix"])
def test_the_set_up_says_how_to_call_the_command(target: str, tmp_path: Path) -> None:
    last = dry(target, tmp_path).splitlines()[-1]

    assert f"{tmp_path}/bin/orchestrator" in last
    assert f"source {tmp_path}/bin/activate" in last
