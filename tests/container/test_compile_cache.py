"""The folder in which Theano keeps what it compiles: cold where a process has compiled something, warm after that."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks import contract
from orchestrator.resources import ROOT
from tests.until import LIMIT_S

ASKING = """\
import json, os, sys
from benchmarks.native import compiled

states = [compiled.state()]
for name in sys.argv[1:]:
    folder = os.path.join(compiled.FOLDER, "compiledir_of_this_host", "%s-%d" % (name, os.getpid()))
    os.makedirs(folder)
    open(os.path.join(folder, name + ".so"), "w").close()
    states.append(compiled.state())
print(json.dumps({"folder": compiled.FOLDER, "flags": os.environ["THEANO_FLAGS"], "states": states}))
"""
"""A process that compiles a module of each name, and says after each whether it is cold or warm."""


def said(home: Path, *compiling: str, **variables: str) -> dict[str, Any]:
    """Return what a process says that compiles modules of these names. It has no Theano, and needs none."""
    environment = {"PATH": os.environ["PATH"], "HOME": str(home), "PYTHONPATH": str(ROOT)} | variables
    ended = subprocess.run(
        [sys.executable, "-c", ASKING, *compiling], env=environment,
        capture_output=True, text=True, timeout=LIMIT_S, check=False,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    answer: dict[str, Any] = json.loads(ended.stdout)
    return answer


def test_only_a_process_that_compiles_is_cold(tmp_path: Path) -> None:
    """One that finds modules is warm, until it needs one more."""
    kept = {contract.COMPILE_CACHE: str(tmp_path)}

    assert said(tmp_path, "one", "two", **kept)["states"] == ["warm", "cold", "cold"]
    assert said(tmp_path, **kept)["states"] == ["warm"]
    assert said(tmp_path, "three", **kept)["states"] == ["warm", "cold"]


def test_a_module_compiled_again_leaves_it_warm(tmp_path: Path) -> None:
    """Theano compiles some modules in every process, into a folder of their own each time."""
    kept = {contract.COMPILE_CACHE: str(tmp_path)}
    said(tmp_path, "one", "copy", **kept)

    assert said(tmp_path, "copy", **kept)["states"] == ["warm", "warm"]


def test_theano_is_told_the_folder(tmp_path: Path) -> None:
    """The flags of the catalog stay before it."""
    kept = {contract.COMPILE_CACHE: str(tmp_path), "THEANO_FLAGS": "device=cpu,floatX=float32"}

    answer = said(tmp_path / "home", **kept)

    assert answer["folder"] == str(tmp_path)
    assert answer["flags"] == f"device=cpu,floatX=float32,base_compiledir={tmp_path}"


@pytest.mark.parametrize("named", [None, "", "absent", "with,comma"])
def test_an_unusable_folder_leaves_the_home(tmp_path: Path, named: str | None) -> None:
    """Theano's flags are separated by commas, so that a folder with one in its name cannot be told."""
    (tmp_path / "with,comma").mkdir()
    kept = {} if named is None else {contract.COMPILE_CACHE: str(tmp_path / named) if named else ""}

    assert said(tmp_path, **kept)["folder"] == str(tmp_path / ".theano")
