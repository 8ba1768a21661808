"""A mode is one file on each side, and a framework a catalog file and a builder: nothing else names either."""

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from planted_program import PLACES, Program, planted, running

from orchestrator.modes import OF_MODELS, RULES
from tests.envelopes import data_of

CELLS = [f"dense-1-cpu/tiny-{mode}-b8{suffix}" for mode in ("infer", "peek") for suffix in ("", "-chunks=2")]


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Program]:
    with running(tmp_path_factory.mktemp("planted")) as program:
        yield program


@pytest.fixture(scope="module")
def run(program: Program) -> str:
    """The name of a run of the planted matrix."""
    asked = ("-f", "planted.yaml", "--runtime", "host", "--idle-wait", "0", "--extra-repeats", "0")
    ended = program("run", *asked, "--json")
    assert ended.returncode == 0, ended.stderr
    return str(data_of(ended.stdout)["run"])


@pytest.fixture(scope="module")
def report(program: Program, run: str) -> dict[str, Any]:
    """The JSON report of that run."""
    return dict(data_of(program("report", run, "--format", "json").stdout))


def test_planted_mode_is_listed(program: Program) -> None:
    schema = json.loads(program("schema", "matrix").stdout)

    described = schema["properties"]["modes"]["description"].removesuffix(", or several.").split(", ")
    assert set(schema["$defs"]["Mode"]["enum"]) == {*RULES, "peek"}
    assert set(described) == {*OF_MODELS, "peek"}


def test_planted_mode_is_planned(program: Program) -> None:
    plan = data_of(program("plan", "-f", "planted.yaml", "--json").stdout)

    assert sorted(cell["id"] for cell in plan["cells"]) == sorted(CELLS)
    assert len(plan["parity"]) == 2


def test_planted_cells_do_the_same_work(report: dict[str, Any]) -> None:
    assert {cell["cell"]["id"]: cell["statuses"] for cell in report["cells"]} == {cell: [["ok", 2]] for cell in CELLS}
    works = {
        group["workload"]["mode"]: [place["parity"]["work"] for place in group["places"] if place["parity"]]
        for group in report["groups"]
    }
    assert works == {"infer": ["same work"], "peek": ["same work"]}


def test_planted_mode_is_compared_by_its_own_evidence(report: dict[str, Any]) -> None:
    evidence = {
        group["workload"]["mode"]: {difference["evidence"] for difference in place["parity"]["differences"]}
        for group in report["groups"]
        for place in group["places"]
        if place["parity"]
    }
    assert evidence == {"infer": {"weights", "first_loss", "logits"}, "peek": {"weights"}}


def test_report_shows_metrics_of_the_mode(program: Program, run: str) -> None:
    tables = program("report", run, "--format", "md").stdout
    rows = list(csv.DictReader(io.StringIO(program("report", run, "--format", "csv").stdout)))

    assert tables.count("| Framework | peeks (1/s) |") == 1
    peeks = {row["mode"]: row["peeks (1/s)"] for row in rows}
    assert peeks["infer"] == ""
    assert float(peeks["peek"]) > 0


def test_compare_judges_metrics_of_the_mode(program: Program, run: str) -> None:
    sides = [f"{run}:dense==1", f"{run}:dense==1"]
    ended = program("compare", *sides, "--metric", "peeks=90%", "--json")

    assert ended.returncode == 0, ended.stderr
    judged = {
        pair["candidate_cell"]: {metric["metric"] for metric in pair["metrics"]}
        for pair in data_of(ended.stdout)["pairs"]
    }
    assert {cell for cell, metrics in judged.items() if "peeks" in metrics} == {
        cell for cell in CELLS if "peek" in cell
    }


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('Metric("throughput", "peeks", "1/s", Better.HIGHER, 0.9, lambda repeat: 1.0)', "a different metric"),
        ('Metric("peeks", "peeks", "1/s", Better.HIGHER, 0.9, None)', "needs one source"),
        ('Metric("peeks", "peeks", "1/s", Better.HIGHER, 0.9, None, exact=lambda run: 1.0)', "it is exact"),
    ],
)
def test_faulty_metric_of_a_mode_is_refused(tmp_path: Path, line: str, message: str) -> None:
    program = planted(tmp_path)
    mode = tmp_path / PLACES["mode_on_the_host.py"]
    text = mode.read_text()
    (before,) = [each for each in text.splitlines() if each.startswith("PEEKS = ")]
    mode.write_text(text.replace(before, f"PEEKS = {line}"))

    ended = program("schema", "matrix")

    assert ended.returncode != 0
    assert message in ended.stderr
