"""A layout that is recorded before it is set, so that the record and the run differ."""

from typing import Any

import pytest
from counted_sessions import request_of

from benchmarks.frameworks import noop
from benchmarks.timing import timed


class Backend:
    """A framework with a layout for its whole process, channels last until somebody sets it."""

    layout = "channels_last"


class LateSession(type(noop.start(None))):  # type: ignore[misc]
    """A session that sets the layout when it is made, and again at its first step."""

    def __init__(self, backend: Backend, built: str, stepped: str) -> None:
        self._backend, self._stepped = backend, stepped
        backend.layout = built

    def step(self, _batch: Any) -> None:
        self._backend.layout = self._stepped

    def facts(self) -> dict[str, Any]:
        return {"layout": self._backend.layout}


@pytest.mark.parametrize("built", ["channels_first", "channels_last"])
def test_the_layout_is_read_after_it_ran(monkeypatch: pytest.MonkeyPatch, built: str) -> None:
    backend = Backend()
    recorded_before = backend.layout
    monkeypatch.setattr(noop, "start", lambda _workload: LateSession(backend, built, "channels_first"))

    result = timed.execute(request_of(steps=10, epochs=None), lambda _phase: None)

    assert recorded_before == "channels_last", "wrong: what ran was channels first"
    assert result["facts"]["layout"] == "channels_first"
