import os
import threading
from pathlib import Path

import pytest
import wheel_files

from orchestrator.bundles import proof, wheels
from orchestrator.bundles.own_wheel import DISTRIBUTION
from orchestrator.domain import BuildSettings
from orchestrator.runtimes.environments import Workshop

UNKNOWN = "3.15"
"""A Python that no test machine has as the interpreter of its own."""


@pytest.fixture
def workshop(tmp_path: Path) -> Workshop:
    return Workshop(tmp_path / "cache", BuildSettings(no_index=True), os.environ)


def test_a_wheel_needs_what_it_requires_without_its_extras(tmp_path: Path) -> None:
    requires = ("docker>=7", 'tomli; python_version < "3.11"', 'pytest; extra == "dev"')
    path = wheel_files.wheel(tmp_path, "thing", requires=requires)

    assert wheels.needs(path) == requires[:2]


def test_the_platforms_begin_with_the_oldest_c_library_and_end_with_the_newest_promised() -> None:
    platforms = wheels.Far("3.11", "aarch64").platforms

    assert platforms[0] == "linux_aarch64"
    assert platforms.index("manylinux2014_aarch64") < platforms.index("manylinux_2_17_aarch64")
    assert platforms[-1] == "manylinux_2_28_aarch64"


def test_wheels_that_satisfy_each_other_are_enough_for_a_python_that_is_not_here(
    tmp_path: Path, workshop: Workshop
) -> None:
    wheel_files.wheel(tmp_path, DISTRIBUTION, requires=("thing>=1",))
    wheel_files.wheel(tmp_path, "thing")

    shown = proof.prove(tmp_path, wheels.Far(UNKNOWN), workshop)

    assert shown.interpreter == ""
    assert "not tried" in shown.sentence


def test_a_missing_wheel_is_named(tmp_path: Path, workshop: Workshop) -> None:
    wheel_files.wheel(tmp_path, DISTRIBUTION, requires=("thing>=1",))

    with pytest.raises(wheels.WheelsError, match=r"wheels for Python 3\.15 are not enough: .*thing was not found"):
        proof.prove(tmp_path, wheels.Far(UNKNOWN), workshop)


def test_a_wheel_of_another_python_is_not_enough(tmp_path: Path, workshop: Workshop) -> None:
    wheel_files.wheel(tmp_path, DISTRIBUTION, requires=("thing>=1",))
    wheel_files.wheel(tmp_path, "thing", tag="cp311-cp311-linux_x86_64")

    with pytest.raises(wheels.WheelsError, match="matching Python ABI tag"):
        proof.prove(tmp_path, wheels.Far(UNKNOWN), workshop)


def test_wheels_for_another_machine_are_not_installed_here(tmp_path: Path, workshop: Workshop) -> None:
    wheel_files.wheel(tmp_path, DISTRIBUTION)

    assert proof.prove(tmp_path, wheels.Far("3.11", "s390x"), workshop).interpreter == ""


def test_wheels_without_pip_cannot_be_installed_where_there_is_none(tmp_path: Path) -> None:
    with pytest.raises(wheels.WheelsError, match="holds no pip"):
        proof.pip(tmp_path)


def test_what_no_index_has_is_said_for_its_python(tmp_path: Path, workshop: Workshop) -> None:
    own = wheel_files.wheel(tmp_path, DISTRIBUTION, requires=("thing-that-is-nowhere",))
    errand = wheels.Errand(workshop, tmp_path / "log.txt", threading.Event())

    with pytest.raises(wheels.WheelsError, match=r"Python 3\.12 cannot be fetched: .*thing-that-is-nowhere"):
        wheels.fetch(own, wheels.Far("3.12"), tmp_path / "wheels", errand)
    assert list((tmp_path / "wheels").iterdir()) == []
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".fetching")] == []


def test_wheels_come_from_a_folder_once_and_those_for_all_pythons_are_shared(tmp_path: Path) -> None:
    (tmp_path / "offer").mkdir()
    own = wheel_files.wheel(tmp_path, DISTRIBUTION, requires=("thing>=1", 'extra-thing; python_version < "3.12"'))
    wheel_files.wheel(tmp_path / "offer", "thing")
    wheel_files.wheel(tmp_path / "offer", "extra-thing")
    settings = BuildSettings(no_index=True, find_links=(str(tmp_path / "offer"),))
    workshop = Workshop(tmp_path / "cache", settings, os.environ)
    errand = wheels.Errand(workshop, tmp_path / "log.txt", threading.Event())

    fetched = {
        python: wheels.fetch(own, wheels.Far(python), tmp_path / "wheels", errand) for python in ("3.11", "3.12")
    }

    shared = "thing-1.0-py3-none-any.whl"
    assert fetched == {"3.11": ("extra_thing-1.0-py3-none-any.whl", shared), "3.12": (shared,)}
    assert sorted(path.name for path in (tmp_path / "wheels").iterdir()) == list(fetched["3.11"])
