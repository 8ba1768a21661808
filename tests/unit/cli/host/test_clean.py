"""`clean` from outside: dry by default, and never a result."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from orchestrator.bundles.read.registry import register
from orchestrator.cli import main
from orchestrator.engine.images import ImageFacts
from orchestrator.errors import HostError
from orchestrator.images import labels, surplus
from orchestrator.running.active_runs import announced
from orchestrator.runtimes import BundledImage
from orchestrator.workflows.host import clean as workflow
from tests.envelopes import data_of
from tests.unit.bundles.read.carried_bundle import a_record, opened


class Engine:
    """An engine with two contents of one image."""

    def __init__(self) -> None:
        self.removed: list[str] = []
        self.held: set[str] = set()

    def labelled(self, client: object, label: str) -> list[ImageFacts]:
        return [self._image("c2", "bench/a:1"), self._image("c1")]

    def remove(self, client: object, name: str) -> bool:
        self.removed += [] if name in self.held else [name]
        return name not in self.held

    def remove_steps(self, client: object, label: str, **_: object) -> None:
        self.removed.append("steps")

    @staticmethod
    def _image(content: str, *alias: str) -> ImageFacts:
        marks = {labels.KIND: labels.IMAGE, labels.CONTENT: content}
        return ImageFacts(content, content, marks, (f"bench/a:1-{content}", *alias), "2026-01-02T03:04:05Z", 10**9)


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Engine]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    found = Engine()
    monkeypatch.setattr(surplus, "engine", found)
    monkeypatch.setattr(workflow, "connect", lambda _: SimpleNamespace(close=lambda: None))
    index = tmp_path / "cache" / "framework-bench" / "results-1.sqlite"
    index.parent.mkdir(parents=True)
    index.write_text("index")
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "run.json").write_text("{}")
    yield found
    assert (tmp_path / "results" / "run.json").exists(), "results are never touched"


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    with pytest.raises(SystemExit) as ended:
        main(["clean", *arguments])
    return int(ended.value.code or 0), capsys.readouterr().out


def test_without_yes_nothing_is_removed(engine: Engine, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    code, out = run(capsys)

    assert (code, engine.removed) == (0, [])
    assert "bench/a:1-c1" in out
    assert "bench/a:1-c2" not in out
    assert "would free about 1.0 GB; --yes does it" in out
    assert (tmp_path / "cache/framework-bench/results-1.sqlite").exists()


def test_with_yes_it_goes(engine: Engine, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    code, out = run(capsys, "--yes")

    assert (code, engine.removed) == (0, ["bench/a:1-c1", "steps"])
    assert "freed about 1.0 GB" in out
    assert not (tmp_path / "cache/framework-bench/results-1.sqlite").exists()


def test_to_keep_none_removes_every_name(engine: Engine, capsys: pytest.CaptureFixture[str]) -> None:
    run(capsys, "--yes", "--keep-last", "0")

    assert engine.removed == ["bench/a:1-c2", "bench/a:1", "bench/a:1-c1", "steps"]


def test_what_a_container_uses_is_left_and_said(engine: Engine, capsys: pytest.CaptureFixture[str]) -> None:
    engine.held = {"bench/a:1-c1"}
    document: dict[str, Any] = data_of(run(capsys, "--yes", "--json")[1])

    entries = {entry["name"]: entry["removed"] for entry in document["surplus"]}
    assert entries == {"bench/a:1-c1": False, "results-1.sqlite": True}


def test_while_an_orchestrator_builds_nothing_is_cleaned(
    engine: Engine, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    with announced(tmp_path / "cache" / "framework-bench"):
        code, _ = run(capsys, "--yes")

    assert (code, engine.removed) == (3, [])


def test_the_cache_is_cleaned_without_an_engine(
    engine: Engine, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def nobody(_: object) -> None:
        raise HostError("no container engine answers")

    monkeypatch.setattr(workflow, "connect", nobody)
    code, out = run(capsys, "--yes", "--json")
    document = data_of(out)

    assert (code, document["engine"], engine.removed) == (0, "no container engine answers", [])
    assert [entry["removed"] for entry in document["surplus"]] == [True]


def test_jobs_on_this_node_have_left_a_cache(
    engine: Engine, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The cache of another node may be in use there, and stays."""
    monkeypatch.setenv("SLURMD_NODENAME", "node7")
    caches = {node: tmp_path / "cache/framework-bench/nodes" / node / "framework-bench" for node in ("node7", "node8")}
    for cache in caches.values():
        cache.mkdir(parents=True)
        (cache / "results-1.sqlite").write_text("index")

    assert run(capsys, "--yes")[0] == 0
    assert [(cache / "results-1.sqlite").exists() for cache in caches.values()] == [False, True]


def test_the_images_of_a_loaded_bundle_stay(engine: Engine, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bundles = tmp_path / "data" / "framework-bench" / "bundles"
    record = a_record(images=(BundledImage("bench/a:1", "bench/a:1-c1", "c1"),))
    register(bundles, record, opened())

    run(capsys, "--yes")
    assert "bench/a:1-c1" not in engine.removed

    shutil.rmtree(bundles / "carried")
    run(capsys, "--yes")
    assert "bench/a:1-c1" in engine.removed


def test_the_programs_own_image_stays(
    engine: Engine, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The image that the program itself runs from stays."""
    monkeypatch.setenv("ORCHESTRATOR_OWN_IMAGE", "bench/a:1-c1")

    run(capsys, "--yes", "--keep-last", "0")

    assert engine.removed == ["bench/a:1-c2", "bench/a:1", "steps"]
