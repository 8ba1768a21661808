"""The server itself: a socket, a loop that looks and renews, and an end that waits for nobody."""

import asyncio
import contextlib
import socket
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import uvicorn

from orchestrator.errors import HostError, InputError
from orchestrator.processes import Stop
from orchestrator.reporting.site.front import index_name
from orchestrator.server.access import Access
from orchestrator.server.app import Pages, application
from orchestrator.server.hub import Hub
from orchestrator.server.hub import Message as HubMessage
from orchestrator.server.lookout import Lookout, RunChange

LOOK_S = 1.0
"""Between two looks at the files of runs, for any number of viewers."""
IDLE_LOOK_S = 15.0
"""The same without a viewer."""
_TICK_S = 0.1
_HEADERS_BYTES = 16 * 1024


class Renewal(Protocol):
    """Whatever brings the site up to date while it is served."""

    def tick(self, changes: int, early: frozenset[str]) -> None:
        """Begin to renew, if something has changed and nothing that is timed would be disturbed, or go on with it."""
        ...


@dataclass(frozen=True, slots=True)
class Service:
    """All that a server needs."""

    site: Path
    results: Path
    access: Access
    renewal: Renewal
    stop: Stop


@contextlib.contextmanager
def listening(address: str, port: int) -> Iterator[socket.socket]:
    """Open a socket. Raises `InputError` for an address that is none, and `HostError` if it cannot be had."""
    try:
        family, kind, protocol, _, place = socket.getaddrinfo(
            address, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except OSError as error:
        raise InputError(f"--bind {address}: is no address of a host: {error.strerror or error}") from error
    with socket.socket(family, kind, protocol) as opened:
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            opened.bind(place)
            opened.listen(128)
        except OSError as error:
            why = error.strerror or error
            raise HostError(f"--bind {address} --port {port}: {why}; choose another --port, or 0 for any") from error
        opened.setblocking(False)
        yield opened


def serve(service: Service, opened: socket.socket) -> None:
    """Answer until the stop. Who still reads then is cut off."""
    asyncio.run(_serve(service, opened))


async def _serve(service: Service, opened: socket.socket) -> None:
    lookout = Lookout(service.results)
    touched = asyncio.Event()
    published = _Published(service.site)
    shown: list[RunChange] = []
    hub = Hub(lambda: {"now": time.time(), "index": published.index, "runs": [_values(each) for each in shown]})
    app = application(Pages(service.site), hub, service.access, touched.set)
    server = _Server(
        uvicorn.Config(
            app, log_config=None, access_log=False, lifespan="off", server_header=False, ws="none",
            h11_max_incomplete_event_size=_HEADERS_BYTES, timeout_keep_alive=30, http="h11", loop="asyncio",
        )
    )  # fmt: skip
    looking = asyncio.create_task(_look(lookout, hub, shown, service, published, touched))
    stopping = asyncio.create_task(_stop(service.stop, server, hub))
    try:
        await server.serve(sockets=[opened])
    finally:
        for task in (looking, stopping):
            task.cancel()
        failed = await asyncio.gather(looking, stopping, return_exceptions=True)
        lookout.close()
    for error in failed:
        if isinstance(error, Exception):
            raise error


class _Server(uvicorn.Server):
    """A server whose signals are those of the program."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


async def _stop(stop: Stop, server: _Server, hub: Hub) -> None:
    while not stop.is_set():
        await asyncio.sleep(_TICK_S)
    hub.close()
    server.should_exit = server.force_exit = True


@dataclass(slots=True)
class _Published:
    """The index of the site that is there."""

    site: Path
    index: str = ""
    _stamp: object = None

    def look(self) -> bool:
        """Return true if there is another one now."""
        page = self.site / "index.html"
        try:
            status = page.stat()
        except OSError:
            return False
        stamp = status.st_mtime_ns, status.st_ino
        if stamp == self._stamp:
            return False
        self._stamp = stamp
        before, self.index = self.index, index_name(page.read_text(encoding="utf-8", errors="replace"))
        return self.index != before


async def _look(  # noqa: PLR0913, PLR0917 - all that it keeps in step
    lookout: Lookout, hub: Hub, shown: list[RunChange], service: Service, published: _Published, touched: asyncio.Event
) -> None:
    """Look again and again. What is shown changes with the messages that say so."""
    while True:
        touched.clear()
        changed, gone = await asyncio.to_thread(lookout.look, time.time())
        messages = [HubMessage("run", _values(each)) for each in changed]
        messages += [HubMessage("gone", {"run": run}) for run in gone]
        service.renewal.tick(lookout.changes, lookout.early)
        if published.look():
            messages.append(HubMessage("published", {"index": published.index}))
        shown[:] = lookout.states
        hub.put(messages)
        if hub.viewers:
            await asyncio.sleep(LOOK_S)
        else:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(touched.wait(), IDLE_LOOK_S)


def _values(change: RunChange) -> dict[str, Any]:
    return {"run": change.run, "now": time.time(), "whole": change.whole, "cells": change.cells, **change.head}
