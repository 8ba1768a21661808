"""The first signal asks for an end, the second ends at once."""

import os
import signal
import threading

import pytest

from orchestrator.cli.output.signals import stop_on_signals


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
