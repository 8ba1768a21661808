"""Disk for images on a real engine: what is missing counts, what is there does not."""

import os
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path

import docker
import images_support as support
import pytest
from whole_command import orchestrator

from orchestrator import images
from orchestrator.build_settings import BuildSettings
from orchestrator.cli import main
from orchestrator.domain import ImageSpec
from orchestrator.errors import HostError
from orchestrator.events import ignore
from orchestrator.workflows.host.disk import DiskCheck
from orchestrator.workflows.host.host import Host

pytestmark = pytest.mark.docker


@pytest.fixture
def settings(base_image: str, tmp_path: Path) -> BuildSettings:
    folder = tmp_path / "wheels"
    folder.mkdir()
    (folder / support.WHEEL).write_bytes(support.wheel())
    return BuildSettings(base_image=base_image, find_links=(str(folder),), no_index=True)


@pytest.fixture
def spec(engine: docker.DockerClient, settings: BuildSettings) -> Iterator[ImageSpec]:
    wanted = support.tiny_spec("disk", variables=(("BENCH_TEST", "disk"),))  # an environment that no other test makes
    yield wanted
    (recipe,) = images.recipes([wanted], settings)
    for name in (recipe.alias, recipe.reference, *([recipe.environment.reference] if recipe.environment else [])):
        if engine.images.list(name):
            engine.images.remove(name)


def test_only_missing_images_need_room(
    engine: docker.DockerClient, settings: BuildSettings, spec: ImageSpec, tmp_path: Path
) -> None:
    with pytest.raises(HostError, match=r"not enough disk for 1 image: about \d+ MB are needed, 0 MB are free"):
        DiskCheck(Host(os.environ), free=lambda place: 1).images(engine, [spec], settings)
    images.build(
        [spec], settings, engine, jobs=1, logs=tmp_path / "logs", listener=ignore, stop=threading.Event()
    )  # fmt: skip

    assert images.absent(engine, [spec], settings) == ((), ())
    DiskCheck(Host(os.environ), free=lambda place: 1).images(engine, [spec], settings)


def test_a_base_that_is_not_here_counts(engine: docker.DockerClient, settings: BuildSettings, tmp_path: Path) -> None:
    elsewhere = BuildSettings(base_image="bench-test-nowhere/python:{python}", find_links=settings.find_links)

    assert images.absent(engine, [support.tiny_spec("nowhere")], elsewhere)[1] == ("bench-test-nowhere/python:3.11",)


def test_bundle_needs_room_for_existing_images(
    engine: docker.DockerClient,
    base_image: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Nothing is built, and nothing is written."""
    assert engine.ping()
    (tmp_path / "matrix.yaml").write_text("version: 1\nframeworks: [noop==1]\nmodels: [mlp]\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("ORCHESTRATOR_BASE_IMAGE", base_image)
    assert orchestrator(tmp_path, base_image, "build").returncode == 0
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda place: usage._replace(free=1000))

    with pytest.raises(SystemExit) as ended:
        main(["export", "--offline"])

    said = capsys.readouterr().err
    assert (ended.value.code, "not enough disk for a bundle of 1 image" in said) == (3, True), said
    assert not list((tmp_path / "offline_bundle").rglob("*"))
