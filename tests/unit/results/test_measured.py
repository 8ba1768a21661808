"""The times that estimates take from the runs of a results folder."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from orchestrator.cli import main
from orchestrator.results.listing import measured as listed
from orchestrator.results.listing.measured import earlier
from orchestrator.results.results_folder import runs

MATRIX = (
    "version: 1\nsystems: {cpu: {cpus: 1}}\nframeworks: [noop==1]\nmodels: [mlp]\nmodes: [train, infer]\n"
    "repeats: 2\nparity: false\n"
)


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder, code = measured(tmp_path_factory.mktemp("measured"), MATRIX)
    assert not code
    return folder


SCRIPT = (
    "version: 1\nframeworks: [noop==1]\nrepeats: 1\nscripts:\n  - {name: failing, file: fail.py, "
    "metrics: {rate: {pattern: 'rate (.*)', unit: samples/s, better: higher}}}\n"
)


def measured(folder: Path, matrix: str) -> tuple[Path, object]:
    """Run a matrix on this host: its results, and the exit code."""
    (folder / "matrix.yaml").write_text(matrix)
    options = ["--runtime", "host", "--idle-wait", "0", "--extra-repeats", "0", "--results", str(folder / "results")]
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("XDG_CACHE_HOME", str(folder / "cache"))
        with pytest.raises(SystemExit) as ended:
            main(["run", "-f", str(folder / "matrix.yaml"), *options])
    return folder / "results", ended.value.code


def here(host: Mapping[str, Any]) -> bool:
    return bool(host["hostname"])


def test_every_measured_repeat_is_one(results: Path) -> None:
    found = earlier(runs(results), here)

    assert sorted((each.cell.workload.mode, each.multiply_adds) for each in found) == [
        *[("infer", 1_175_552)] * 2,
        *[("train", 1_175_552)] * 2,
    ]
    (run,) = runs(results)
    for each in found:
        walls = [json.loads(path.read_text())["wall_s"] for path in run.folder.glob(f"{each.cell.id}/*/outcome.json")]
        assert 0 < each.outside_s < max(walls)
        assert each.sample_s is not None
        assert 0 < each.sample_s < 1e-3


def test_pace_under_load_is_that_of_the_server(tmp_path: Path) -> None:
    """Requests that arrive every 20 ms say nothing of a server that is done in a microsecond."""
    folder, code = measured(
        tmp_path,
        "version: 1\nsystems: {cpu: {cpus: 1}}\nframeworks: [noop==1]\nmodes: requests\nrepeats: 1\nparity: false\n"
        "models: [{name: mlp, batch_size: 1, scenario: server, rate: 50, requests: 20}]\n",
    )
    (found,) = earlier(runs(folder), here)

    assert not code
    assert found.sample_s is not None
    assert found.sample_s < 0.01


def test_runs_of_other_hosts_say_nothing(results: Path) -> None:
    assert earlier(runs(results), lambda host: not here(host)) == ()


def test_what_cannot_be_read_is_passed_over(results: Path, tmp_path: Path) -> None:
    (tmp_path / "20260101T000000Z-0000").mkdir()
    (tmp_path / "20260101T000000Z-0000" / "run.json").write_text("{}")
    (tmp_path / runs(results)[0].name).symlink_to(runs(results)[0].folder)

    assert len(earlier(runs(tmp_path), here)) == 4


def test_what_failed_is_not_measured(tmp_path: Path) -> None:
    """A script that ends after a second may take an hour once it works."""
    (tmp_path / "fail.py").write_text("print('rate 1')\nraise SystemExit(1)\n")
    folder, code = measured(tmp_path, SCRIPT)

    assert (code, len(runs(folder))) == (1, 1)
    assert earlier(runs(folder), here) == ()


def test_the_newest_runs_count_up_to_a_bound(results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for day in range(10, 20):
        (tmp_path / f"202601{day}T000000Z-0000").symlink_to(runs(results)[0].folder)
    for day in (20, 21):
        (tmp_path / f"202601{day}T000000Z-0000").mkdir()
        (tmp_path / f"202601{day}T000000Z-0000" / "run.json").write_text("{}")

    assert len(earlier(runs(tmp_path), here)) == 8 * 4
    monkeypatch.setattr(listed, "MAX_CONTAINERS", 7)
    assert len(earlier(runs(tmp_path), here)) == 7
