"""The files of a find-links folder that travel into a build."""

import zipfile
from pathlib import Path

import pytest

from orchestrator.images.wheels import offered, offers, relevant


def wheel(folder: Path, name: str, *needs: str) -> None:
    with zipfile.ZipFile(folder / name, "w") as archive:
        lines = ["Metadata-Version: 2.1", "Name: x", "Version: 1", *(f"Requires-Dist: {need}" for need in needs)]
        archive.writestr("x-1.dist-info/METADATA", "\n".join(lines) + "\n\nbody\n")


def names(folder: Path, requirements: list[str], python: str = "3.11") -> list[str]:
    return [one.path.name for one in relevant(offered([str(folder)], python), requirements)]


@pytest.mark.parametrize(
    ("name", "pythons"),
    [
        ("a-1-py3-none-any.whl", {"3.6", "3.11"}),
        ("a-1-py2.py3-none-manylinux1_x86_64.whl", {"3.6", "3.11"}),
        ("a-1-cp36-cp36m-manylinux2010_x86_64.whl", {"3.6"}),
        ("a-1-cp311-cp311-manylinux_2_17_x86_64.manylinux2014_x86_64.whl", {"3.11"}),
        ("a-1-cp37-abi3-manylinux2014_x86_64.whl", {"3.11"}),
        ("a-1-cp311-cp311-linux_x86_64.whl", {"3.11"}),
        ("a-1-cp311-cp311-musllinux_1_1_x86_64.whl", set()),
        ("a-1-cp311-cp311-macosx_11_0_arm64.whl", set()),
        ("a-1-cp311-cp311-manylinux2014_aarch64.whl", set()),
        ("a-1.tar.gz", {"3.6", "3.11"}),
        ("notes.txt", set()),
        ("broken.whl", set()),
    ],
)
def test_a_file_is_offered_to_pythons_that_fit(tmp_path: Path, name: str, pythons: set[str]) -> None:
    """A file is offered only to the Pythons that could install it."""
    (tmp_path / name).write_bytes(b"")

    assert {python for python in ("3.6", "3.11") if offered([str(tmp_path)], python)} == pythons


def test_an_arm_engine_is_offered_arm_wheels(tmp_path: Path) -> None:
    (tmp_path / "a-1-cp311-cp311-manylinux2014_aarch64.whl").write_bytes(b"")

    assert len(offered([str(tmp_path)], "3.11", "arm64")) == 1


def test_only_what_the_requirements_can_reach_travels(tmp_path: Path) -> None:
    wheel(tmp_path, "Frame_Work-1.0-py3-none-any.whl", "needed>=1", "optional ; extra == 'x'")
    wheel(tmp_path, "frame_work-2.0-py3-none-any.whl", "only-of-two")
    wheel(tmp_path, "needed-1.0-py3-none-any.whl", "deeper")
    wheel(tmp_path, "deeper-1.0-py3-none-any.whl", "frame-work")
    wheel(tmp_path, "optional-1.0-py3-none-any.whl")
    wheel(tmp_path, "only_of_two-1.0-py3-none-any.whl")
    wheel(tmp_path, "unrelated-1.0-py3-none-any.whl")

    assert names(tmp_path, ["frame-work==1.0"]) == [
        "Frame_Work-1.0-py3-none-any.whl",
        "deeper-1.0-py3-none-any.whl",
        "needed-1.0-py3-none-any.whl",
        "optional-1.0-py3-none-any.whl",
    ]


def test_installers_travel_with_the_wheels(tmp_path: Path) -> None:
    """Wheels of pip and setuptools travel too, because an old base needs newer ones."""
    wheel(tmp_path, "pip-25.0-py3-none-any.whl")
    wheel(tmp_path, "setuptools-80.0-py3-none-any.whl")

    assert names(tmp_path, ["numpy"]) == ["pip-25.0-py3-none-any.whl", "setuptools-80.0-py3-none-any.whl"]


def test_a_broken_wheel_travels_without_dependencies(tmp_path: Path) -> None:
    """A wheel that cannot be opened travels with the others and is taken to need nothing."""
    (tmp_path / "numpy-1.0-py3-none-any.whl").write_bytes(b"no archive")

    assert names(tmp_path, ["numpy"]) == ["numpy-1.0-py3-none-any.whl"]


@pytest.mark.parametrize(
    ("requirement", "expected"),
    [("torch==2.13.0", True), ("torch>=2.13.0,<=2.13.0.post9999", True), ("torch==2.12.0", False), ("numpy", False)],
)
def test_a_local_build_counts_as_its_release(tmp_path: Path, requirement: str, expected: bool) -> None:
    (tmp_path / "torch-2.13.0+cpu-cp311-cp311-manylinux_2_28_x86_64.whl").write_bytes(b"")

    assert offers(offered([f"file://{tmp_path}"], "3.11"), requirement) is expected


def test_a_missing_folder_and_a_url_offer_nothing() -> None:
    assert offered(["/no/such/folder", "https://host/wheels/"], "3.11") == ()
