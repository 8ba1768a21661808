import hashlib
import os
import threading
from dataclasses import dataclass
from pathlib import Path

import pytest

from orchestrator.build_settings import BuildSettings
from orchestrator.bundles.program import proof, wheels
from orchestrator.bundles.program.own_wheel import DISTRIBUTION
from orchestrator.runtimes.environments import Workshop
from tests.unit.bundles.program import wheel_files

UNKNOWN = "3.15"
"""A Python that no test machine has as the interpreter of its own."""


@pytest.fixture
def workshop(tmp_path: Path) -> Workshop:
    return Workshop(tmp_path / "cache", BuildSettings(no_index=True), os.environ)


def test_wheel_needs_its_requirements_without_extras(tmp_path: Path) -> None:
    requires = ("docker>=7", 'tomli; python_version < "3.11"', 'pytest; extra == "dev"')
    path = wheel_files.wheel(tmp_path, "thing", requires=requires)

    assert wheels.needs(path) == requires[:2]


def test_platforms_go_from_oldest_to_newest_c_library() -> None:
    """The platforms begin with the oldest C library and end with the newest one promised."""
    platforms = wheels.TargetPlatform("3.11", "aarch64").platforms

    assert platforms[0] == "linux_aarch64"
    assert platforms.index("manylinux2014_aarch64") < platforms.index("manylinux_2_17_aarch64")
    assert platforms[-1] == "manylinux_2_28_aarch64"


def test_wheels_may_serve_a_python_that_is_absent(tmp_path: Path, workshop: Workshop) -> None:
    """Wheels that satisfy each other are enough for a Python that is not on this host."""
    wheel_files.wheel(tmp_path, DISTRIBUTION, requires=("thing>=1",))
    wheel_files.wheel(tmp_path, "thing")

    shown = proof.prove(tmp_path, wheels.TargetPlatform(UNKNOWN), workshop)

    assert shown.interpreter == ""
    assert "not tried" in shown.sentence


def test_a_missing_wheel_is_named(tmp_path: Path, workshop: Workshop) -> None:
    wheel_files.wheel(tmp_path, DISTRIBUTION, requires=("thing>=1",))

    with pytest.raises(wheels.WheelsError, match=r"wheels for Python 3\.15 are not enough: .*thing was not found"):
        proof.prove(tmp_path, wheels.TargetPlatform(UNKNOWN), workshop)


def test_a_wheel_of_another_python_is_not_enough(tmp_path: Path, workshop: Workshop) -> None:
    wheel_files.wheel(tmp_path, DISTRIBUTION, requires=("thing>=1",))
    wheel_files.wheel(tmp_path, "thing", tag="cp311-cp311-linux_x86_64")

    with pytest.raises(wheels.WheelsError, match="matching Python ABI tag"):
        proof.prove(tmp_path, wheels.TargetPlatform(UNKNOWN), workshop)


def test_wheels_for_another_machine_are_not_installed_here(tmp_path: Path, workshop: Workshop) -> None:
    wheel_files.wheel(tmp_path, DISTRIBUTION)

    assert proof.prove(tmp_path, wheels.TargetPlatform("3.11", "s390x"), workshop).interpreter == ""


def test_wheels_without_pip_are_refused(tmp_path: Path) -> None:
    """Wheels without pip cannot be installed where there is none."""
    with pytest.raises(wheels.WheelsError, match="holds no pip"):
        proof.pip(tmp_path)


@dataclass(frozen=True)
class Far:
    """A far side for which wheels are fetched from one folder, by a lock."""

    place: Path

    def lock(self, *lines: str) -> None:
        (self.place / "lock.txt").write_text("# made by hand\n" + "".join(f"{line}\n    # via us\n" for line in lines))

    def offer(self, name: str, marker: str = "", version: str = "1.0") -> str:
        """Offer a wheel of 1.0, and give a pin with its hash."""
        (self.place / "offer").mkdir(exist_ok=True)
        path = wheel_files.wheel(self.place / "offer", name)
        return f"{name}=={version}{marker} \\\n    --hash=sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}"

    def fetch(self, python: str, *requires: str) -> tuple[str, ...]:
        own = wheel_files.wheel(self.place, DISTRIBUTION, requires=requires)
        settings = BuildSettings(no_index=True, find_links=(str(self.place / "offer"),))
        workshop = Workshop(self.place / "cache", settings, os.environ)
        errand = wheels.FetchSettings(workshop, self.place / "log.txt", threading.Event())
        return wheels.fetch(own, wheels.TargetPlatform(python), self.place / "wheels", errand, self.place / "lock.txt")


@pytest.fixture
def far(tmp_path: Path) -> Far:
    return Far(tmp_path)


def test_wheels_follow_the_lock_and_pythons_share_them(far: Far) -> None:
    """The lock decides which wheels come, and those that fit every Python are stored once for all."""
    far.lock(far.offer("thing"), far.offer("extra-thing", " ; python_version < '3.12'"))

    fetched = {
        python: far.fetch(python, "thing>=1", 'extra-thing; python_version < "3.12"') for python in ("3.11", "3.12")
    }

    shared = "thing-1.0-py3-none-any.whl"
    assert fetched == {"3.11": ("extra_thing-1.0-py3-none-any.whl", shared), "3.12": (shared,)}
    assert sorted(path.name for path in (far.place / "wheels").iterdir()) == list(fetched["3.11"])


def test_a_newer_version_on_the_index_is_ignored(far: Far) -> None:
    """Two exports of one release carry the same, whatever was published in between."""
    far.lock(far.offer("thing"))
    wheel_files.wheel(far.place / "offer", "thing", "2.0")

    assert far.fetch("3.12", "thing>=1") == ("thing-1.0-py3-none-any.whl",)


def test_a_requirement_that_the_lock_lacks_is_named(far: Far) -> None:
    far.lock(far.offer("thing"))

    with pytest.raises(wheels.WheelsError, match=r"lock\.txt has no other>=2, thing>=3; renew it: make lock"):
        far.fetch("3.12", "other>=2", "thing>=3")


def test_a_version_that_the_index_lacks_is_named(far: Far) -> None:
    far.lock(far.offer("thing", version="1.5"))

    with pytest.raises(wheels.WheelsError, match=r"Python 3\.12 cannot be fetched: .*thing==1\.5.*; the lock of"):
        far.fetch("3.12", "thing>=1")
    assert list((far.place / "wheels").iterdir()) == []
    assert [path.name for path in far.place.iterdir() if path.name.startswith(".fetching")] == []


def test_a_wheel_of_another_content_is_refused(far: Far) -> None:
    far.offer("thing")
    far.lock(f"thing==1.0 --hash=sha256:{'0' * 64}")

    with pytest.raises(wheels.WheelsError, match=r"have it hold the original wheel"):
        far.fetch("3.12", "thing>=1")
