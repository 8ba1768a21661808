"""Folders for what frameworks compile."""

from dataclasses import replace
from pathlib import Path

import pytest

from orchestrator.domain import COMPILE_CACHE, Environment, Framework, ImageSpec, OutputLimit
from orchestrator.engine.containers import ContainerSpec, container
from orchestrator.running.output import OutputWatches
from orchestrator.runtimes import Ready, cache_contents, compile_caches
from tests.unit.runtimes.test_containers import FakeApi, client

COMPILING = ImageSpec(
    "bench/keras", "1-cpu", "cpu", Framework("keras", "1"),
    Environment("keras", "3.6", variables=((COMPILE_CACHE, "/compiled"),)),
)  # fmt: skip


def folder_of(cache: Path, image_id: str = "sha256:1") -> Path:
    kept = compile_caches.of(COMPILING, Ready(COMPILING.name, "x", image_id=image_id), cache)
    assert kept is not None
    assert kept[1] == "/compiled"
    return kept[0]


def test_an_image_finds_its_own_folder_again(tmp_path: Path) -> None:
    (folder_of(tmp_path) / "module.so").touch()

    assert (folder_of(tmp_path) / "module.so").exists()
    assert folder_of(tmp_path, "sha256:2") != folder_of(tmp_path)


def test_an_image_that_keeps_nothing_has_no_folder(tmp_path: Path) -> None:
    plain = replace(COMPILING, environment=Environment("noop", "3.6"))

    assert compile_caches.of(plain, Ready(plain.name, "x"), tmp_path) is None
    assert not any(tmp_path.iterdir())


def test_a_folder_over_its_bound_is_emptied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compile_caches, "LIMIT", OutputLimit(1 << 20, 2))
    for name in ("a.so", "b.so", "c.so"):
        (folder_of(tmp_path) / name).touch()

    assert not any(folder_of(tmp_path).iterdir())


def test_too_much_compiling_ends_the_launch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Compiled files beyond the bound end the launch."""
    monkeypatch.setattr(compile_caches, "LIMIT", OutputLimit(1 << 20, 2))
    (tmp_path / "io").mkdir()
    kept = (folder_of(tmp_path), "/compiled")
    watch = OutputWatches(tmp_path / "io", OutputLimit(), Ready("x", "x", compile_cache=kept))
    assert watch.look() is None
    for name in ("a.so", "b.so", "c.so"):
        (kept[0] / name).touch()

    assert watch.look() == "made 3 files or more in its folder; the limit is 2"
    assert OutputWatches(tmp_path / "io", OutputLimit(), Ready("x", "x")).look() is None


def test_container_writes_only_to_compile_cache(tmp_path: Path) -> None:
    """Besides its io folder, a container may write to its compile cache alone."""
    api = FakeApi()
    (tmp_path / "io").mkdir()
    wanted = ContainerSpec("x", tmp_path / "io", "1:1", kept=(folder_of(tmp_path), "/compiled"))
    with container(client(api), wanted, tmp_path / "log.txt"):
        pass

    mounts = {mount["Target"]: mount["ReadOnly"] for mount in api.made["host_config"]["Mounts"]}
    assert mounts == {"/io": False, "/compiled": False}
    assert api.made["host_config"]["ReadonlyRootfs"] is True


def test_cache_lists_unused_compiled_files(tmp_path: Path) -> None:
    """The cache lists what was compiled unless it is in use."""
    (folder_of(tmp_path) / "module.so").write_bytes(b"x" * 10)

    (one,) = cache_contents.surplus(tmp_path, 1)
    assert (one.kind, one.size_bytes) == ("compiled", 10)
    assert cache_contents.surplus(tmp_path, 1, {"bench/keras:1-cpu"}) == ()
    assert cache_contents.remove(one)
    assert not (tmp_path / "compiled").exists()
