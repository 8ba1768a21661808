"""The modules that a completion, a help text and the version load.

Their times depend on the host. The modules that they load do not, and take nearly all of the time.
"""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from orchestrator.cli.program import COMMANDS
from tests.unit.cli.stored_runs import stored_run

LIBRARIES = {"docker", "filelock", "numpy", "packaging", "pydantic", "requests", "rich", "scipy", "yaml"}
PARTS = {
    "orchestrator", "orchestrator.bundles", "orchestrator.bundles.read", "orchestrator.bundles.read.names",
    "orchestrator.documents", "orchestrator.errors", "orchestrator.files", "orchestrator.limits",
    "orchestrator.reporting", "orchestrator.reporting.formats", "orchestrator.results", "orchestrator.results.names",
    "orchestrator.wording", "orchestrator.workflows", "orchestrator.workflows.host",
    "orchestrator.workflows.host.places", "orchestrator.workflows.option_values",
}  # fmt: skip
"""All that may be loaded next to the command line."""
PROGRAM = """
import json, os, sys
from orchestrator.cli import main
loaded = set()
for line in json.load(sys.stdin):
    completes, words = line.startswith("complete"), line.split(" ")
    os.environ.pop("_ORCHESTRATOR_COMPLETE", None)
    if completes:
        shell, words = words[0], words[1:]
        asked = {"_ORCHESTRATOR_COMPLETE": shell, "COMP_WORDS": " ".join(words), "COMP_CWORD": str(len(words) - 1)}
        os.environ |= asked | {"_TYPER_COMPLETE_ARGS": " ".join(words), "_TYPER_COMPLETE_FISH_ACTION": "get-args"}
    sys.argv = words
    try:
        main()
    except SystemExit as end:
        assert not end.code, line
    modules = {name for name, module in sys.modules.items() if module is not None}
    print(json.dumps([line, sorted(modules - loaded)]), file=sys.stderr)
    loaded |= modules
"""
BELOW = ("data export", "nightly accept", "nightly ack", "nightly status")
COMPLETED = (
    "", "do", *(f"{command} --" for command in (*COMMANDS, *BELOW)), "nightly ac", "schema ",
    "run --runtime ", "run --plan ", "run --resume ", "-q report --color ", "report --format ", "history --format ",
    "regress --format ", "report ", "show latest ", "compare latest:torch --select t", "run --repeats x --re",
)  # fmt: skip
HELP = ("--version", "--help", *(f"{command} --help" for command in (*COMMANDS, *BELOW)))


def _loaded(lines: Sequence[str], folder: Path) -> dict[str, set[str]]:
    """Return the libraries and parts of the program that should not be loaded, by the line that loads them."""
    stored_run(folder / "results")
    # A value from the environment is validated.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("ORCHESTRATOR_")}
    ended = subprocess.run(
        [sys.executable, "-c", PROGRAM], cwd=folder, input=json.dumps(lines), capture_output=True, text=True,
        env=environment, check=True,
    )  # fmt: skip
    new = dict(map(json.loads, ended.stderr.splitlines()))
    assert list(new) == list(lines)
    assert "orchestrator.cli.program" in new[lines[0]]
    return {line: wrong for line, modules in new.items() if (wrong := set(filter(_is_slow, modules)))}


def _is_slow(module: str) -> bool:
    top, *parts = module.split(".")
    return top in LIBRARIES or (top == "orchestrator" and parts[:1] != ["cli"] and module not in PARTS)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_completion_loads_nothing_slow(shell: str, tmp_path: Path) -> None:
    lines = [f"complete_{shell} orchestrator {line}" for line in COMPLETED]

    assert _loaded(lines, tmp_path) == {}


def test_help_loads_nothing_slow(tmp_path: Path) -> None:
    assert _loaded([f"orchestrator {line}" for line in HELP], tmp_path) == {}


def test_a_command_that_runs_would_be_noticed(tmp_path: Path) -> None:
    (slow,) = _loaded(["orchestrator runs"], tmp_path).values()

    assert {"pydantic", "orchestrator.results.store"} <= slow
