"""What estimates take from the runs of a results folder."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from orchestrator.cli import main
from orchestrator.results.listing.measured import earlier
from orchestrator.results.store import runs

MATRIX = (
    "version: 1\nsystems: {cpu: {cpus: 1}}\nframeworks: [noop==1]\nmodels: [mlp]\nmodes: [train, infer]\n"
    "repeats: 2\nparity: false\n"
)


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("measured")
    (folder / "matrix.yaml").write_text(MATRIX)
    options = ["--runtime", "host", "--idle-wait", "0", "--extra-repeats", "0", "--results", str(folder / "results")]
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("XDG_CACHE_HOME", str(folder / "cache"))
        with pytest.raises(SystemExit) as ended:
            main(["run", "-f", str(folder / "matrix.yaml"), *options])
    assert not ended.value.code
    return folder / "results"


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


def test_runs_of_other_hosts_say_nothing(results: Path) -> None:
    assert earlier(runs(results), lambda host: not here(host)) == ()


def test_what_cannot_be_read_is_passed_over(results: Path, tmp_path: Path) -> None:
    (tmp_path / "20260101T000000Z-0000").mkdir()
    (tmp_path / "20260101T000000Z-0000" / "run.json").write_text("{}")
    (tmp_path / runs(results)[0].name).symlink_to(runs(results)[0].folder)

    assert len(earlier(runs(tmp_path), here)) == 4
