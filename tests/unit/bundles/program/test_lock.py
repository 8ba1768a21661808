"""The lock of the repository is complete for every Python, and names no place that files come from."""

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from orchestrator.bundles.program.lock import LOCK, LockedPackage, read_lock, unsatisfied
from orchestrator.bundles.program.wheels import PYTHONS
from orchestrator.resources import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
RUNTIME: list[str] = PROJECT["project"]["dependencies"]
DEV: list[str] = PROJECT["project"]["optional-dependencies"]["dev"]
BUILD: list[str] = PROJECT["build-system"]["requires"]
MACHINES = ("x86_64", "aarch64")
FILES = [LOCK, LOCK.with_name("dev.txt"), LOCK.with_name("build.txt")]


@pytest.mark.parametrize("python", PYTHONS)
@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize(
    ("name", "wanted"),
    [("runtime", RUNTIME), ("dev", [*RUNTIME, *DEV]), ("build", BUILD)],
    ids=lambda each: str(each)[:7],
)
def test_the_lock_meets_the_ranges_of_the_project(name: str, wanted: list[str], python: str, machine: str) -> None:
    """It fails where a dependency is added or raised without `make lock`."""
    assert unsatisfied(wanted, read_lock(LOCK.with_name(f"{name}.txt")), python, machine) == ()


@pytest.mark.parametrize("added", ["a-new-library", "numpy>=99", "uv<0.5", "cyclonedx_python_lib[json]<9"])
def test_a_dependency_beside_the_lock_is_found(added: str) -> None:
    (lacking,) = unsatisfied([*RUNTIME, added], read_lock(), "3.11", "x86_64")

    assert lacking.partition("[")[0] in added.replace(" ", "")


def test_a_requirement_of_another_python_is_ignored() -> None:
    assert unsatisfied(['tomli; python_version < "3.11"'], read_lock(), "3.11", "x86_64") == ()


def test_a_pin_of_another_python_meets_nothing() -> None:
    pin = LockedPackage(Requirement('thing==1.0; python_version < "3.12"'), ())

    assert unsatisfied(["thing"], [pin], "3.11", "x86_64") == ()
    assert unsatisfied(["thing"], [pin], "3.12", "x86_64") == ("thing",)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_pins_have_hashes_and_one_version_per_python(path: Path) -> None:
    """Every pin has hashes, and a package has one version for each Python."""
    pins = read_lock(path)

    assert all(re.fullmatch(r"--hash=sha256:[0-9a-f]{64}", one) for pin in pins for one in pin.hashes)
    assert all(pin.hashes and str(pin.requirement.specifier).startswith("==") for pin in pins)
    for python in PYTHONS:
        served = [pin.requirement.name for pin in pins if pin.serves(python, "x86_64")]
        assert len(served) == len(set(served))


def test_lock_files_agree_on_a_shared_package() -> None:
    """The lock files have the same version and hashes where they name the same package."""
    runtime = {(pin.requirement.name, str(pin.requirement.marker)): pin for pin in read_lock()}

    for path in FILES[1:]:
        for pin in read_lock(path):
            same = runtime.get((pin.requirement.name, str(pin.requirement.marker)), pin)
            assert (str(pin.requirement), pin.hashes) == (str(same.requirement), same.hashes)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_the_lock_names_no_index(path: Path) -> None:
    text = path.read_text()

    assert "make lock" in text
    assert not re.search(r"https?:|--(extra-)?index|--find-links|--trusted|\.(com|org|net)\b", text)


def test_the_wheel_carries_the_lock() -> None:
    carried = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]

    assert carried[str(LOCK.relative_to(ROOT))].endswith(f"/_data/{LOCK.relative_to(ROOT)}")
