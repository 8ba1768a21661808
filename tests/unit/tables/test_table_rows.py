"""The rows of tables next to the files that they are made of."""

import json
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from orchestrator.analysis.measurements import repeat_measurement
from orchestrator.domain import Status
from orchestrator.modes.parts.metrics import TIMED
from orchestrator.results.evidence import read_cells
from orchestrator.results.results_folder import runs
from orchestrator.tables.columns import TableSchema
from orchestrator.tables.reading import NAMES, TABLES, read_batches
from orchestrator.tables.stored import stored_runs
from tests.unit.cli.stored_runs import stored_run
from tests.unit.reporting import synthetic as s
from tests.unit.tables.stored_results import KINDS, corpus_runs

Rows = dict[str, list[dict[str, Any]]]
BY_NAME: dict[str, TableSchema] = {table.name: table for table in TABLES}


def read(results: Path, wanted: frozenset[str] = NAMES) -> Rows:
    rows: Rows = {name: [] for name in wanted}
    for name, some in read_batches(stored_runs(results), wanted):
        columns = [column.name for column in BY_NAME[name].columns]
        rows[name] += [dict(zip(columns, row, strict=True)) for row in some]
    return rows


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return corpus_runs(tmp_path_factory.mktemp("corpus"))


@pytest.fixture(scope="module")
def rows(results: Path) -> Rows:
    return read(results)


def test_every_outcome_is_a_row(results: Path, rows: Rows) -> None:
    stored = [
        (run.name, outcome.cell_id, outcome.repeat, outcome.status, outcome.reason, outcome.wall_s)
        for run in runs(results)
        for outcome in run.outcomes(run.plan().cells)
    ]

    keys = ("run", "cell", "repeat", "status", "reason", "wall_s")
    assert [tuple(row[key] for key in keys) for row in rows["outcomes"]] == stored
    assert {row["status"] for row in rows["outcomes"]} > {"ok", "failed", "timeout"}


def test_figures_are_those_of_the_report(results: Path, rows: Rows) -> None:
    by_key = {(row["run"], row["cell"], row["repeat"]): row for row in rows["repeats"]}
    seen = 0
    for run in runs(results):
        cells = {cell.id: cell for cell in run.plan().cells}
        for stored in read_cells(run, run.plan().cells):
            if stored.result is None:
                continue
            outcome = stored.outcome
            row = by_key[run.name, outcome.cell_id, outcome.repeat]
            in_epochs = cells[outcome.cell_id].duration.epochs is not None
            figures = repeat_measurement(stored.result, outcome.create_s, stored.telemetry, in_epochs=in_epochs)
            metrics = {each.name for each in cells[outcome.cell_id].workload.rules.metrics}
            for metric in TIMED:
                if metric.take and metric.name in metrics:
                    assert row[metric.name] == metric.take(figures)
            assert row["import_s"] == stored.result.phases.import_s
            assert row["peak_rss_bytes"] == stored.result.memory.peak_rss_bytes
            assert json.loads(row["facts"]) == stored.result.facts
            seen += 1
    assert seen > 30


def test_blocks_and_latencies_are_the_samples(results: Path, rows: Rows) -> None:
    for run in runs(results):
        for stored in read_cells(run, run.plan().cells):
            if stored.result is None:
                continue
            key = (run.name, stored.outcome.cell_id, stored.outcome.repeat)
            blocks = [row for row in rows["blocks"] if (row["run"], row["cell"], row["repeat"]) == key]
            timed = [row["wall_s"] for row in blocks if row["part"] == "timed"]
            assert timed == [block.wall_s for block in stored.result.blocks]
            latencies = [row for row in rows["latencies"] if (row["run"], row["cell"], row["repeat"]) == key]
            assert tuple(row["latency_s"] for row in latencies) == stored.result.latency_s
            assert [row["step"] for row in latencies] == list(range(len(latencies)))


def test_epochs_have_their_scores(rows: Rows) -> None:
    timed = [row for row in rows["blocks"] if row["run"] == KINDS["regressions"] and row["part"] == "timed"]

    assert {row["counts"] for row in timed if row["number"] == 0} == {False}
    assert {row["counts"] for row in timed if row["number"] > 0} == {True}
    assert all(0 <= row["test_accuracy"] <= 1 for row in timed)


def test_scripts_have_printed_figures_alone(rows: Rows) -> None:
    printed = [row for row in rows["printed"] if row["run"] == KINDS["scripts"]]
    repeats = [row for row in rows["repeats"] if row["run"] == KINDS["scripts"]]

    assert {row["unit"] for row in printed} - {None}
    assert {row["better"] for row in printed} <= {"higher", "lower"}
    scripts = [row for row in repeats if row["script_wall_s"] is not None]
    assert scripts
    assert all(row["throughput"] is None and row["peak_rss_bytes"] for row in scripts)


def test_parity_checks_are_named_by_cells(rows: Rows) -> None:
    checks = {row["parity_check"]: row for row in rows["parity"] if row["run"] == KINDS["parity"]}
    cells = [row for row in rows["cells"] if row["run"] == KINDS["parity"]]

    answered = [row for row in cells if row["parity_check"] in checks]
    assert answered
    for row in answered:
        losses = json.loads(checks[row["parity_check"]]["losses"] or "{}")
        assert row["loss"] == (losses.get(max(losses, key=int)) if losses else None)
    assert any(row["loss"] is not None for row in answered)


def test_a_skipped_cell_is_a_row(rows: Rows) -> None:
    skipped = [row for row in rows["cells"] if row["skip_reason"]]

    assert skipped
    assert all(row["framework"] is None for row in skipped)


def test_a_rotten_result_is_a_row(tmp_path: Path) -> None:
    run = stored_run(tmp_path, cells=(s.cell(s.TORCH, repeats=2),))
    cell = run.plan().cells[0]
    (run.repeat_folder(cell.id, 1) / "result.json").write_text("{")

    sound, rotten = read(tmp_path)["repeats"]

    assert (sound["problem"], sound["throughput"]) == (None, pytest.approx(50_000))
    assert rotten["problem"].startswith("result.json is not JSON")
    assert rotten["throughput"] is None


def test_a_run_with_a_broken_record_counts(tmp_path: Path) -> None:
    run = stored_run(tmp_path)
    (run.folder / "run.json").write_text("[]")

    rows = read(tmp_path)

    assert "run.json" in rows["runs"][0]["problem"]
    assert len(rows["outcomes"]) == 1
    assert rows["repeats"][0]["throughput"] == pytest.approx(50_000)
    assert rows["cells"] == []


def test_moments_are_in_utc(tmp_path: Path) -> None:
    run = stored_run(tmp_path)
    cell = run.plan().cells[0]
    place = run.repeat_folder(cell.id, 0) / "outcome.json"
    for written, expected in (
        ("2026-01-02T03:04:05.5+02:00", datetime(2026, 1, 2, 1, 4, 5, 500_000, UTC)),
        ("yesterday", None),
    ):
        place.write_text(json.dumps({**json.loads(place.read_text()), "started_at": written}))
        assert read(tmp_path)["outcomes"][0]["started_at"] == expected


def test_only_the_wanted_files_are_opened(tmp_path: Path) -> None:
    """A file that cannot be opened is noticed: a pipe in the place of a result is not waited for."""
    run = stored_run(tmp_path)
    place = run.repeat_folder(run.plan().cells[0].id, 0)
    (place / "result.json").unlink()
    os.mkfifo(place / "result.json")

    wanted = frozenset({"runs", "cells", "outcomes"})

    assert [row["status"] for row in read(tmp_path, wanted)["outcomes"]] == [Status.OK]
    assert read(tmp_path)["repeats"][0]["problem"] == "result.json is no plain file"
