"""The largest batch on fake GPUs, through the whole program: real searches, whose sessions hold a made-up limit."""

import csv
import json
from typing import Any

import pytest

from tests.gpu.fake_host import FakeHost
from tests.limited_device import definition

MODEL = """\
TITLE = "Small"
INPUT_SHAPE = (4,)
CLASSES = 2
BATCH_SIZE = 64
SAMPLES = 100000
OPTIMIZER = {"name": "sgd", "learning_rate": 0.1}
def build(net):
    return net.dense(net.input(*INPUT_SHAPE), CLASSES)
"""
LIMIT = "1500 + __import__('os').getpid() % 8"
"""A device does not always hold the same."""
MATRIX = {
    "version": 1,
    "frameworks": ["noop==1"],
    "systems": {"1_gpu": {"gpus": 1}},
    "models_folder": "mine",
    "models": [{"name": "small", "batch_size": [4096, 512, "max"]}],
    "repeats": 3,
}
SEARCH, FITS, TOO_LARGE = (f"noop-1-1_gpu/small-train-b{size}-definition=own" for size in ("max", "512", "4096"))


@pytest.fixture
def host(fake_host: FakeHost) -> FakeHost:
    """A host whose GPUs hold about 1500 samples."""
    fake_host.set(gpus=2, cpus=4)
    mine = fake_host.folder / "mine"
    (mine / "small").mkdir(parents=True)
    (mine / "small.py").write_text(MODEL)
    (mine / "small" / "noop.py").write_text(definition(LIMIT))
    (fake_host.folder / "matrix.yaml").write_text(json.dumps(MATRIX))
    return fake_host


def of_cell(outcomes: Any, cell_id: str) -> list[dict[str, Any]]:
    return [outcome for outcome in outcomes if outcome["cell_id"] == cell_id]


@pytest.mark.parametrize("at_once", [False, True])
def test_largest_batch_is_found_three_times(host: FakeHost, at_once: bool) -> None:
    """Three repeats agree within 2 %, and larger cells are not launched, in turn and side by side."""
    if at_once:
        host.prove()
    outcomes = host.repeats("--idle-wait", "0")

    assert [each["status"] for each in of_cell(outcomes, SEARCH)] == ["ok"] * 3
    assert [each["status"] for each in of_cell(outcomes, FITS)] == ["ok"] * 3
    for outcome in of_cell(outcomes, TOO_LARGE):
        assert (outcome["status"], outcome["attempts"]) == ("oom_device", 0)
        assert outcome["reason"].startswith(f"a batch of 4,096 is too large: {SEARCH} was refused 1,5")
    results = [json.loads(path.read_text()) for path in host.folder.glob(f"results/*/{SEARCH}/*/result.json")]
    found = [result["largest_batch"]["fits"] for result in results]
    assert len(found) == 3
    assert 1485 <= min(found) <= max(found) <= 1507
    assert max(found) <= 1.02 * min(found)


def test_reports_show_largest_batches(host: FakeHost) -> None:
    """They stand in a table and a column of their own, and no throughput of theirs is shown or ranked."""
    ended = host.run("run", "--runtime", "host", "--idle-wait", "0")
    assert ended.returncode == 1, "a cell that is too large has failed unless the matrix expects it"
    assert "ok, largest batch 1,5" in ended.stderr or "ok, largest batch 1,4" in ended.stderr
    assert "Largest batches" in ended.stdout

    rows = list(csv.DictReader(host.run("report", "--format", "csv").stdout.splitlines()))
    searches = [row for row in rows if row["cell"] == SEARCH]
    assert {row["batch_size"] for row in searches} == {"max"}
    assert {row["samples_per_s"] for row in searches} == {""}
    assert all(1485 <= int(row["largest batch (samples)"]) <= 1507 for row in searches)
    for format_, path in (("md", "run.md"), ("junit", "run.xml"), ("html", "page")):
        ended = host.run("report", "--format", format_, "-o", path)
        assert ended.returncode == 0, ended.stderr
        written = host.folder / path
        page = (written / "index.html" if written.is_dir() else written).read_text()
        assert "small-train-bmax" in page
        assert "argest batch" in page
    report = json.loads(host.run("report", "--format", "json").stdout)["data"]
    assert SEARCH not in json.dumps(report["groups"])


def test_history_follows_the_largest_batch(host: FakeHost) -> None:
    for _ in range(2):
        host.run("run", "--runtime", "host", "--idle-wait", "0", "--select", SEARCH)
    ended = host.run("history", "--metric", "largest_batch")

    assert ended.returncode == 0, ended.stderr
    assert "small-train-bmax" in ended.stdout
    assert "largest_batch" in ended.stdout
