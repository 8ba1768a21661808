"""Every target of make that a page shows is there: make itself says so, in a dry run."""

import os
import shlex
import shutil
import subprocess

import pytest

from bench.documentation.documented_commands import ProgramCall, other_programs, pages
from orchestrator.resources import ROOT

SHOWN = [call for page in pages() for call in other_programs(page) if call.program == "make"]
OF_MAKE = {"ARGS", "MAKEFLAGS", "MFLAGS", "MAKELEVEL"}
"""Variables that a test started by make would hand down."""


def dry(*words: str) -> subprocess.CompletedProcess[str]:
    make = shutil.which("make")
    assert make
    outer = {name: value for name, value in os.environ.items() if name not in OF_MAKE}
    command = [make, "--dry-run", "--no-print-directory", *words]
    return subprocess.run(command, cwd=ROOT, env=outer, capture_output=True, text=True, check=False)


def test_pages_show_targets() -> None:
    assert len(SHOWN) > 10
    assert dry("no-such-target").returncode == 2


@pytest.mark.parametrize("call", SHOWN, ids=lambda call: f"{call.page}:{' '.join(call.arguments)}")
def test_target_is_there(call: ProgramCall) -> None:
    ended = dry(*call.arguments)

    assert ended.returncode == 0, shlex.join(call.arguments) + ended.stderr
    assert ended.stdout
