"""`doctor` from outside: its findings, its exit status, and that it needs no engine."""

from dataclasses import replace
from pathlib import Path

import pytest

from orchestrator.cli import main
from orchestrator.devices import vitals
from orchestrator.devices.readings import Activity
from orchestrator.devices.vitals import Vitals
from tests.envelopes import data_of

SEEN = Vitals(
    cpus=2, activity=Activity(1.0, 0.0, 0.0, {"cpu": 0.0}, 0), load=0.1, swap_bytes=0, governors=("powersave",),
    turbo=None, smt=False, throttled=None, cgroups=None, clock_source="tsc",
)  # fmt: skip


@pytest.fixture(autouse=True)
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A quiet host without an engine."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/nobody.sock")
    monkeypatch.setattr(vitals, "examine", lambda: SEEN)
    monkeypatch.setattr(vitals, "gpus", lambda: ((), ""))
    monkeypatch.setattr(vitals, "disks", lambda _: (vitals.Disk("results", "/r", 10**12),))


def doctor(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    with pytest.raises(SystemExit) as ended:
        main(["doctor", *arguments])
    return int(ended.value.code or 0), capsys.readouterr().out


def test_a_quiet_host_without_engine_is_fit(capsys: pytest.CaptureFixture[str]) -> None:
    """A quiet host without an engine is fit, with warnings."""
    code, out = doctor(capsys)

    assert code == 0
    assert "This host is fit to measure, with warnings: governor, cpusets, engine." in out
    assert "cpupower frequency-set -g performance" in out


def test_a_busy_host_is_not_fit(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy host is not fit, and the exit status says so."""
    monkeypatch.setattr(vitals, "examine", lambda: replace(SEEN, activity=replace(SEEN.activity, other_cpus=1.9)))
    code, out = doctor(capsys)

    assert code == 3
    assert "This host is not fit to measure now: load." in out


def test_for_programs_the_findings_are_typed(capsys: pytest.CaptureFixture[str]) -> None:
    code, out = doctor(capsys, "--json")
    document = data_of(out)

    assert (code, document["fit"]) == (0, True)
    found = {finding["check"]: finding for finding in document["findings"]}
    assert found["engine"]["level"] == "warning"
    assert found["engine"]["found"].startswith("no container engine answers at unix://")
    assert found["base image"] == {"check": "base image", "level": "unknown", "found": "no engine to ask", "remedy": ""}
    assert {finding["level"] for finding in found.values()} <= {"ok", "unknown", "warning", "unfit"}
