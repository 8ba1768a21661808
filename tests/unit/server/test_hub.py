"""The stream of events: where viewers begin, come back to, and what a slow one costs."""

import asyncio
import json
from collections.abc import AsyncIterator, Coroutine
from typing import Any

import pytest

from orchestrator.server import hub as hubs
from orchestrator.server.hub import Hub, Message


def run(work: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(work, 30))


async def heard(stream: AsyncIterator[str], number: int) -> list[tuple[str, str, Any]]:
    """Return the next events, each with its id, its name and its values."""
    found: list[tuple[str, str, Any]] = []
    while len(found) < number:
        lines = dict(line.split(": ", 1) for line in (await anext(stream)).strip().splitlines())
        if "event" in lines:
            found.append((lines["id"], lines["event"], json.loads(lines["data"])))
    return found


def test_a_viewer_begins_with_the_whole_state() -> None:
    async def work() -> None:
        hub = Hub(lambda: {"runs": 2})
        hub.put([Message("run", 1)])
        stream = hub.stream()
        ((_, name, data),) = await heard(stream, 1)
        assert (name, data) == ("state", {"runs": 2})
        hub.put([Message("run", {"text": "two\nlines\r\u2028"})])
        assert [each[1:] for each in await heard(stream, 1)] == [("run", {"text": "two\nlines\r\u2028"})]

    run(work())


def test_a_viewer_that_comes_back_misses_nothing() -> None:
    async def work() -> None:
        hub = Hub(dict)
        stream = hub.stream()
        await heard(stream, 1)
        hub.put([Message("run", number) for number in range(5)])
        ((last, _, _),) = (await heard(stream, 2))[1:]
        assert [data for _, _, data in await heard(hub.stream(last), 3)] == [2, 3, 4]

    run(work())


@pytest.mark.parametrize(
    "last", ["", "other-3", "x", "-", "9" * 50, "{epoch}-99", "{epoch}--1", "{epoch}-1e3", "{epoch}-"]
)
def test_an_unknown_id_begins_anew(last: str) -> None:
    async def work() -> None:
        hub = Hub(lambda: "whole")
        hub.put([Message("run", 1)])
        ((known, _, _),) = await heard(hub.stream(), 1)
        stream = hub.stream(last.replace("{epoch}", known.split("-")[0]))
        assert [each[1:] for each in await heard(stream, 1)] == [("state", "whole")]

    run(work())


def test_a_slow_viewer_gets_the_state_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """It holds up nobody, and what is held for it has a bound."""
    monkeypatch.setattr(hubs, "MOST_BYTES", 10_000)

    async def work() -> None:
        state = {"at": 0}
        hub = Hub(lambda: dict(state))
        slow, quick = hub.stream(), hub.stream()
        await heard(slow, 1)
        await heard(quick, 1)
        for number in range(2000):
            state["at"] = number
            hub.put([Message("run", {"number": number, "text": "x" * 100})])
            ((_, _, data),) = await heard(quick, 1)
            assert data["number"] == number
        assert sum(map(len, hub._texts)) <= 10_000
        assert (await heard(slow, 1))[0][1:] == ("state", {"at": 1999})

    run(work())


def test_silence_is_broken_by_a_comment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hubs, "HEARTBEAT_S", 0.01)

    async def work() -> None:
        stream = Hub(dict).stream()
        await heard(stream, 1)
        assert (await anext(stream)).startswith(":")

    run(work())


def test_a_closed_stream_ends_and_is_not_counted() -> None:
    async def work() -> None:
        hub = Hub(dict)
        stream = hub.stream()
        await heard(stream, 1)
        assert hub.viewers == 1
        waiting = asyncio.ensure_future(anext(stream))
        await asyncio.sleep(0)
        hub.close()
        with pytest.raises(StopAsyncIteration):
            await waiting
        assert hub.viewers == 0

    run(work())


def test_the_state_is_made_once_for_all() -> None:
    async def work() -> None:
        made: list[int] = []
        hub = Hub(lambda: made.append(1))
        for _ in range(5):
            await heard(hub.stream(), 1)
        assert len(made) == 1

    run(work())
