"""The set-up takes what the lock names, and says how to call what it has installed."""

import os
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
def test_setup_says_how_to_call_the_command(target: str, tmp_path: Path) -> None:
    last = dry(target, tmp_path).splitlines()[-1]

    assert f"{tmp_path}/bin/orchestrator" in last
    assert f"source {tmp_path}/bin/activate" in last


def test_a_bundle_holds_the_documentation(tmp_path: Path) -> None:
    """The site is built before it is carried along."""
    lines = dry("bundle", tmp_path).splitlines()
    (built,) = (number for number, line in enumerate(lines) if "mkdocs build --strict" in line)
    (exported,) = (number for number, line in enumerate(lines) if " export --offline " in line)

    assert built < exported
    assert "--docs build/site" in lines[exported]


STAND_IN = """\
#!/bin/sh
echo "$@" >> calls
case "$*" in *anu-2019*) exit 1;; esac
while [ "$1" != --results ]; do shift; done
mkdir -p "$2/a-run" && touch "$2/a-run/run.json"
"""


def _studies(place: Path) -> tuple[int, list[str], str]:
    """Make the smoke runs with a program that only records its calls; the first of two studies fails."""
    make = shutil.which("make")
    assert make
    venv = place / "venv"
    variables = [f"VENV={venv}", f"RESULTS={place / 'results'}", "STUDIES=anu-2019 smartia-2019", "DATA=sets"]
    variables += [f"ORCHESTRATOR=env -C {place} {venv}/bin/orchestrator"]
    command = [make, "--no-print-directory", "-o", f"{venv}/installed", *variables, "studies-quick"]
    # A test started by make would hand down the variables of that call, ARGS among them.
    makes = {"ARGS", "MAKEFLAGS", "MFLAGS", "MAKELEVEL"}
    outer = {name: value for name, value in os.environ.items() if name not in makes}
    ended = subprocess.run(command, cwd=ROOT, env=outer, check=False, capture_output=True, text=True)
    return ended.returncode, (place / "calls").read_text().splitlines(), ended.stderr


def test_studies_go_on_where_they_were_interrupted(tmp_path: Path) -> None:
    program = tmp_path / "venv" / "bin" / "orchestrator"
    program.parent.mkdir(parents=True)
    program.write_text(STAND_IN)
    program.chmod(0o755)
    (tmp_path / "venv" / "installed").touch()

    status, calls, errors = _studies(tmp_path)

    at = [f"--runtime auto --results {tmp_path}/results/studies/{name}" for name in ("anu-2019", "smartia-2019")]
    first = [f"run -f studies/{name}.yaml --quick --data sets" for name in ("anu-2019", "smartia-2019")]
    assert calls == [f"{first[0]} {at[0]}", f"{first[1]} {at[1]}"]
    assert (status, errors.splitlines()[0]) == (2, "make: not all is ok in: anu-2019")
    _, calls, _ = _studies(tmp_path)
    assert calls[2:] == [f"{first[0]} {at[0]}", f"run --resume latest {at[1]}"]
    (record,) = tmp_path.glob("results/studies/smartia-2019/*/run.json")
    os.utime(record, (0, 0))  # the file of the study is newer
    _, calls, _ = _studies(tmp_path)
    assert calls[4:] == [f"{first[0]} {at[0]}", f"{first[1]} {at[1]}"]
