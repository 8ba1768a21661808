"""Requests from the matrix to the verdict, on a fake engine that sleeps."""

import csv
import io
import shutil
from collections.abc import Iterator

import pytest
from planted_program import PLANTS, Program, running

from tests.envelopes import data_of

MATRIX = """
version: 1
name: load
frameworks: [{name: fake_server, version: "1", options: {stall_ms: [0, 300]}}]
models_folder: models
models:
  - name: tiny
    batch_size: 1
    scenario: [closed, server]
    concurrency: 1
    rate: 120
    requests: 150
    latency_limit: 60ms
modes: requests
systems: {cpu: {cpus: 1}}
repeats: 2
parity: false
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Program]:
    folder = tmp_path_factory.mktemp("loaded")
    with running(folder) as program:
        shutil.copy(PLANTS / "fake_server.py", folder / "benchmarks/frameworks/fake_server.py")
        shutil.copy(PLANTS / "fake_server.yaml", folder / "images/catalog/fake_server.yaml")
        (folder / "load.yaml").write_text(MATRIX)
        yield program


@pytest.fixture(scope="module")
def run(program: Program) -> str:
    asked = ("-f", "load.yaml", "--runtime", "host", "--idle-wait", "0", "--extra-repeats", "0")
    ended = program("run", *asked, "--json")
    assert ended.returncode == 0, ended.stderr
    return str(data_of(ended.stdout)["run"])


@pytest.fixture(scope="module")
def rows(program: Program, run: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(program("report", run, "--format", "csv").stdout)))


def p99_s(rows: list[dict[str, str]], scenario: str, stall_ms: int) -> float:
    """Return the lowest 99th percentile of the repeats of a cell, as anything else on this host only adds to it."""
    return min(
        float(row["latency_p99_s"])
        for row in rows
        if f"scenario={scenario}" in row["cell"] and ("stall_ms=300" in row["cell"]) is (stall_ms > 0)
    )


def test_stall_shows_in_the_open_loop_alone(rows: list[dict[str, str]]) -> None:
    """One request of 150 stalls: a client that waits sees one, and a schedule a queue of forty behind it."""
    assert p99_s(rows, "closed", 300) < 0.1
    assert p99_s(rows, "server", 300) > 0.2


def test_records_hold_goodput(rows: list[dict[str, str]]) -> None:
    goodput = {row["cell"]: float(row["goodput (requests/s)"]) for row in rows}

    server = {"stall_ms" in cell: rate for cell, rate in goodput.items() if "scenario=server" in cell}
    assert len(goodput) == 4
    assert server[True] < server[False]


def test_report_says_which_percentiles_are_bound(program: Program, run: str) -> None:
    text = program("report", run, "--format", "md").stdout

    assert "p90, at most" in text
    assert "not enough requests for p99: 662 needed" in text
    assert "Within 60.0 ms" in text


def test_goodput_decides_where_it_is_asked_for(program: Program, run: str) -> None:
    """Two sides of one run compare their goodput, and a metric of no request decides nothing."""
    sides = [f"{run}:fake_server==1", f"{run}:fake_server==1"]
    ended = program("compare", *sides, "--metric", "goodput=20%", "--json")

    assert ended.returncode == 0, ended.stderr
    judged = {
        metric["metric"]: metric["gates"] for pair in data_of(ended.stdout)["pairs"] for metric in pair["metrics"]
    }
    assert judged["goodput"] is True
    assert judged["throughput"] is False
    assert {"latency_p50", "latency_p99"} <= set(judged)
