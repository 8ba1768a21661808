"""Nights that a mistake of their files ends, after nights with a result: programs outside are told."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from orchestrator.cli.program import run as main
from orchestrator.regression.nightly.files import NightFiles
from orchestrator.regression.nightly.state import Ending
from tests.unit.regression.nightly.night_records import a_night
from tests.unit.regression.nightly.test_notify import receiver

MATRIX = "version: 1\nframeworks: [mxnet==1.9.1]\nmodels: [mlp]\n"
NIGHTLY = "version: 1\nwatch: mxnet\nfirst: 1.5.1\n"
BROKEN_MATRIX = MATRIX.replace("mlp", "mpl")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_FIND_LINKS", "http_proxy", "HTTP_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "matrix.yaml").write_text(BROKEN_MATRIX)
    return tmp_path


def had_night(folder: Path, days: float) -> None:
    """Record a night with a result, so many days ago."""
    ended = (datetime.now(UTC) - timedelta(days=days)).isoformat(timespec="seconds")
    night = a_night(began_at=ended, ended_at=ended, ending=Ending.NOTHING_NEW, tried=(), waiting=(), problems=())
    files = NightFiles(folder / "nightly")
    files.night_folder(night.night).mkdir(parents=True)
    files.write_night(night)


def metric(folder: Path, name: str) -> float:
    lines = (folder / "nightly" / "metrics.prom").read_text().splitlines()
    (value,) = [line.rpartition(" ")[2] for line in lines if line.startswith(f"orchestrator_nightly_{name}{{")]
    return float(value)


@pytest.mark.parametrize(("days", "alarms"), [(1.0, 0), (4.0, 1)])
def test_a_mistake_is_told_outside(folder: Path, days: float, alarms: int) -> None:
    """The metrics are of tonight. The alarm is sent once there was no result for three times 24 hours."""
    had_night(folder, days)
    with receiver(204) as (url, requests):
        (folder / "nightly.yaml").write_text(f"{NIGHTLY}webhook: {{url: '{url}'}}\n")
        assert main(["nightly"]) == 2

    assert [metric(folder, name) for name in ("exit_status", "silent", "alarms")] == [2, alarms, 0]
    assert metric(folder, "last_success_timestamp_seconds") < metric(folder, "last_night_timestamp_seconds")
    sent = [json.loads(body) for _, body in requests]
    assert [(each["exit_code"], each["heartbeat"]["is_silent"], each["releases"]) for each in sent] == [
        (2, True, [])
    ] * alarms
    assert all("matrix.yaml" in problem for each in sent for problem in each["problems"])
    assert len(NightFiles(folder / "nightly").nights()) == 1


def test_a_mistake_within_the_night_is_told_outside(folder: Path) -> None:
    """As one that is found before it."""
    (folder / "matrix.yaml").write_text(MATRIX)
    had_night(folder, 4.0)
    (folder / "nightly.yaml").write_text(NIGHTLY.replace("1.5.1", "9.9"))

    assert main(["nightly"]) == 2
    assert [metric(folder, name) for name in ("exit_status", "silent")] == [2, 1]


def test_an_alarm_that_does_not_arrive_hides_no_mistake(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    had_night(folder, 4.0)
    (folder / "nightly.yaml").write_text(f"{NIGHTLY}webhook: {{url: 'http://127.0.0.1:9/', attempts: 1}}\n")

    assert main(["nightly"]) == 2
    said = capsys.readouterr().err
    assert "the alarm was not delivered" in said
    assert "unknown model 'mpl'" in said


def test_a_mistake_of_the_first_night_leaves_nothing(folder: Path) -> None:
    (folder / "nightly.yaml").write_text(NIGHTLY)

    assert main(["nightly"]) == 2
    assert not (folder / "nightly").exists()
