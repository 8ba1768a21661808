"""`run` and an idle host: the wait and the extra repeats are options, and recorded."""

import json
import signal
from pathlib import Path

import pytest

from orchestrator.cli import main
from orchestrator.devices import idle
from orchestrator.devices.idle import IdleWait
from orchestrator.errors import HostError
from orchestrator.workflows import outputs
from tests.envelopes import data_of

MATRIX = "version: 1\nsystems: {cpu: {cpus: 1}}\nframeworks: [noop==1]\nmodels: [mlp]\nrepeats: 1\nparity: false\n"


@pytest.fixture
def limits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The limits that the gate was asked to keep to."""
    (tmp_path / "matrix.yaml").write_text(MATRIX)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    asked: list[float] = []

    def wait(cpus: tuple[int, ...], limit_s: float, stop: object) -> IdleWait:
        asked.append(limit_s)
        return IdleWait(limit_s, "others used 0.9 of 1 CPUs")

    monkeypatch.setattr(idle, "wait", wait)
    return asked


def run(*arguments: str) -> int:
    with pytest.raises(SystemExit) as ended:
        main(["run", "--runtime", "host", *arguments])
    return int(ended.value.code or 0)


@pytest.mark.parametrize(
    ("variable", "arguments", "asked"),
    [(None, (), [10.0]), (None, ("--idle-wait", "3"), [3.0]), ("0", (), []), ("0", ("--idle-wait", "2"), [2.0])],
)
def test_the_wait_for_idleness_lasts_as_asked(
    limits: list[float], variable: str | None, arguments: tuple[str, ...], asked: list[float],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """An idle host is waited for as long as asked."""
    monkeypatch.delenv("ORCHESTRATOR_IDLE_WAIT", raising=False)
    if variable is not None:
        monkeypatch.setenv("ORCHESTRATOR_IDLE_WAIT", variable)

    assert run(*arguments) == 0
    assert limits == asked
    (path,) = Path.cwd().glob("results/*/noop-1-cpu/*/0/outcome.json")
    assert json.loads(path.read_text())["busy"] == ("others used 0.9 of 1 CPUs" if asked else "")


def test_every_line_of_progress_is_an_event(limits: list[float], capsys: pytest.CaptureFixture[str]) -> None:
    """For programs, every line of progress is an event."""
    assert run("--json", "--idle-wait", "1") == 0
    said = capsys.readouterr()
    events = [json.loads(line) for line in said.err.splitlines()]

    names = [event["event"] for event in events]
    assert [name for name in names if name not in {"phase_changed", "notice"}] == [
        "run_started", "repeat_started", "repeat_finished",
    ]  # fmt: skip
    assert any("not idle" in event.get("message", "") for event in events)
    assert data_of(said.out)["cells"]


@pytest.mark.parametrize(("is_stopped", "status"), [(False, 0), (True, 130)])
def test_a_report_is_printed_without_its_page(
    limits: list[float],
    is_stopped: bool,
    status: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def wait(*_: object) -> IdleWait:
        if is_stopped:
            signal.raise_signal(signal.SIGINT)
        return IdleWait(0, "")

    def refused(*_: object) -> Path:
        raise HostError("the disk is full")

    monkeypatch.setattr(idle, "wait", wait)
    monkeypatch.setattr(outputs, "write_html", refused)
    code = run("--json", "--idle-wait", "1")
    said = capsys.readouterr()

    assert code == status
    assert data_of(said.out)["cells"]
    events = [json.loads(line) for line in said.err.splitlines()]
    errors = [event["message"] for event in events if event["event"] == "error"]
    assert errors[0] == "no page: the disk is full"
    assert (
        any(message.startswith("stopped; go on with: orchestrator run --resume ") for message in errors) == is_stopped
    )
