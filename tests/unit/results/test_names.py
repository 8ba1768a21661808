"""Names of runs and cells, as a record that is validated has them."""

import json
from pathlib import Path

import pytest

from orchestrator.results.names import JOURNAL, cell_ids, matching, run_names
from orchestrator.results.results_folder import Journal
from orchestrator.results.store import Run
from tests.unit.cli.stored_runs import stored_run
from tests.unit.reporting import synthetic as s

NAMES = ["20260101T000000Z-aaaa", "20260101T000000Z-aaaab", "20260102T000000Z-bbbb"]


def _with_ids(folder: Path, ids: list[object]) -> Path:
    record = folder / "run.json"
    record.write_text(json.dumps({"plan": {"cells": [{"id": each} for each in ids]}}))
    return record


def test_cells_are_those_of_the_validated_plan(tmp_path: Path) -> None:
    run = stored_run(tmp_path, cells=[s.cell(framework) for framework in (s.TORCH, s.MXNET)])

    assert cell_ids(run.folder / "run.json") == [cell.id for cell in Run(run.folder).plan().cells]


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"plan": {"cells": [7]}}', "[" * 100_000, '{"plan": null}'])
def test_a_broken_record_has_no_cells(tmp_path: Path, text: str) -> None:
    (tmp_path / "run.json").write_text(text)

    assert cell_ids(tmp_path / "run.json") == []
    assert cell_ids(tmp_path / "none.json") == []


def test_dangerous_cell_ids_are_left_out(tmp_path: Path) -> None:
    """An id that a shell would run is left out."""
    ids: list[object] = ["noop-1-cpu/mlp-train-b32", "$(reboot)/x", "a b/c", "a/b\n", "\x1b[2J", 7]

    assert cell_ids(_with_ids(tmp_path, ids)) == ids[:1]


def test_runs_of_an_interrupted_merge_are_hidden(tmp_path: Path) -> None:
    for name in NAMES:
        stored_run(tmp_path, name)
    assert run_names(tmp_path) == NAMES

    (tmp_path / JOURNAL).write_text(Journal(staging=".merging-1", runs=(NAMES[1],)).model_dump_json())
    assert run_names(tmp_path) == [NAMES[0], NAMES[2]]


def test_missing_folder_has_no_runs(tmp_path: Path) -> None:
    assert run_names(tmp_path / "nowhere") == []


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("", NAMES[2:]),
        ("latest", NAMES[2:]),
        (NAMES[0], NAMES[:1]),
        ("20260101", NAMES[:2]),
        ("2026", NAMES),
        ("2027", []),
    ],
)
def test_a_name_or_its_beginning_matches(text: str, names: list[str]) -> None:
    assert matching(NAMES, text) == names
