"""Texts that an index stores for cells, until a file of theirs changes."""

import json
import os
from collections.abc import Collection
from pathlib import Path

import pytest

from orchestrator.regression.history.read import measured_cells
from orchestrator.results.listing import index
from orchestrator.results.listing.derived import Derivation
from orchestrator.results.parity.checks import FOLDER as CHECKS
from orchestrator.results.store import Run
from tests.unit.cli.stored_runs import stored_run
from tests.unit.reporting import synthetic as s

CELLS = tuple(s.cell(framework, repeats=2) for framework in (s.TORCH, s.MXNET))


class Texts:
    """Texts with a count, and the cells each call was made for."""

    def __init__(self) -> None:
        self.calls: list[list[str]] = []

    def __call__(self, run: Run, cell_ids: Collection[str]) -> dict[str, str]:
        self.calls.append(sorted(cell_ids))
        return {cell_id: f"{run.name} {cell_id} {len(self.calls)}" for cell_id in cell_ids if cell_id == CELLS[0].id}


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return stored_run(tmp_path / "results", cells=CELLS)


def derived(run: Run, texts: Texts, version: str = "1") -> tuple[str, ...]:
    results = run.folder.parent
    return index.derived(results, results.parent / "cache", Derivation("test", version, texts))


def later(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    os.utime(path, ns=(2**61, 2**61))


def test_unchanged_cells_are_not_read_again(run: Run) -> None:
    """A cell without a text is remembered too."""
    texts = Texts()

    assert derived(run, texts) == derived(run, texts) == (f"{run.name} {CELLS[0].id} 1",)
    assert texts.calls == [sorted(cell.id for cell in CELLS)]


def test_a_changed_repeat_has_its_cell_read(run: Run) -> None:
    texts = Texts()
    derived(run, texts)
    later(run.repeat_folder(CELLS[0].id, 1) / "outcome.json")

    assert derived(run, texts) == (f"{run.name} {CELLS[0].id} 2",)
    assert texts.calls[1:] == [[CELLS[0].id]]


def test_a_rotten_result_has_its_cell_read(run: Run) -> None:
    texts = Texts()
    derived(run, texts)
    (run.repeat_folder(CELLS[0].id, 1) / "result.json").write_text("{")
    derived(run, texts)

    assert texts.calls[1:] == [[CELLS[0].id]]


def test_thousands_of_repeats_have_one_stamp(run: Run) -> None:
    """The modification times of 6000 files have a sum that takes more than 64 bits."""
    outcome = json.loads((run.repeat_folder(CELLS[0].id, 0) / "outcome.json").read_text())
    for repeat in range(2, 6000):
        folder = run.repeat_folder(CELLS[0].id, repeat)
        folder.mkdir()
        (folder / "outcome.json").write_text(json.dumps(outcome | {"repeat": repeat}))
    texts = Texts()

    assert derived(run, texts) == derived(run, texts) == (f"{run.name} {CELLS[0].id} 1",)


def test_any_check_has_all_cells_read(run: Run) -> None:
    """The stamp of every check counts, and not the last one alone."""
    texts = Texts()
    later(run.folder / CHECKS / "a/b/outcome.json")
    later(run.folder / CHECKS / "a/c/outcome.json")
    derived(run, texts)
    os.utime(run.folder / CHECKS / "a/b/outcome.json", ns=(2**60, 2**60))
    derived(run, texts)

    assert texts.calls == [sorted(cell.id for cell in CELLS)] * 2


SHARED = ["run.json", f"{CHECKS}/a/b/outcome.json", f"{CHECKS}/a/b/result.json", "environments.json"]


@pytest.mark.parametrize("name", SHARED)
def test_a_file_of_all_cells_has_all_read(run: Run, name: str) -> None:
    later(run.folder / CHECKS / "a/b/outcome.json")
    os.utime(run.folder / CHECKS / "a/b/outcome.json", ns=(2**60, 2**60))
    texts = Texts()
    derived(run, texts)
    later(run.folder / name)
    derived(run, texts)

    assert texts.calls == [sorted(cell.id for cell in CELLS)] * 2


def test_another_version_has_all_cells_read(run: Run) -> None:
    texts = Texts()
    derived(run, texts)
    derived(run, texts, version="2")

    assert len(texts.calls) == 2


def test_texts_of_removed_repeats_go(run: Run) -> None:
    texts = Texts()
    derived(run, texts)
    for repeat in range(2):
        (run.repeat_folder(CELLS[0].id, repeat) / "outcome.json").unlink()

    assert derived(run, texts) == ()


def test_history_and_listings_share_one_cache(run: Run, tmp_path: Path) -> None:
    measured = measured_cells(tmp_path / "results", tmp_path / "cache")
    listed = index.summaries(tmp_path / "results", tmp_path / "cache")

    assert len(list((tmp_path / "cache").glob("*.sqlite"))) == 1
    assert ({cell.run for cell in measured}, len(listed)) == ({run.name}, 1)
    assert measured_cells(tmp_path / "results", tmp_path / "cache") == measured
