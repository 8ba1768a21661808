"""The first signal asks for an end, the second ends at once."""

import os
import signal
import threading
from pathlib import Path

import pytest

from orchestrator.bundles.format.streams import Meter
from orchestrator.cli.output.hosts import stop_on_signals
from orchestrator.workflows.ship import load
from tests.unit.bundles.small_bundles import an_engine, exported
from tests.unit.cli.conftest import Program


class Killed(BaseException):
    """Takes the place of an end without return."""


@pytest.fixture
def end_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    def end(code: int) -> None:
        raise Killed(code)

    monkeypatch.setattr(os, "_exit", end)


@pytest.mark.usefixtures("end_at_once")
@pytest.mark.parametrize("is_set", [False, True], ids=["working", "budget spent"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_only_the_second_signal_ends_at_once(number: signal.Signals, is_set: bool) -> None:
    """The time budget of a night sets the same event, and what is under way then may end."""
    stop = threading.Event()
    if is_set:
        stop.set()
    with stop_on_signals(stop):
        signal.raise_signal(number)
        assert stop.is_set()
        with pytest.raises(Killed, match="130"):
            signal.raise_signal(number)


@pytest.mark.parametrize("name", ["verify", "load"])
def test_a_bundle_is_left_on_a_signal(
    command: Program, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class SignalledMeter(Meter):
        def __init__(self, *arguments: object) -> None:
            super().__init__(*arguments)  # type: ignore[arg-type]
            signal.raise_signal(signal.SIGTERM)

    engine = an_engine("1")
    exported(engine, tmp_path / "usb", ["1"])
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setattr(load, "connect", lambda _: engine)
    monkeypatch.setattr(load, "Meter", SignalledMeter)

    code, out, said = command(name, "usb")

    assert (code, out) == (130, ""), said
    assert said.splitlines()[-1].startswith("stopped")
    assert not (tmp_path / "data").exists()
