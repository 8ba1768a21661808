"""Viewers of `orchestrator serve` without a browser, each of whom asks for what an open page asks for."""

import contextlib
import http.client
import json
import re
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

METRIC = "throughput"
"""The metric of the first view of a site."""
_ASSET = re.compile(r'<(?:script defer src|link rel="stylesheet" href)="([^"]+)"')
_COLUMN = re.compile(rf'"{METRIC}":"(m-[0-9a-f]{{16}})"')
_AGAIN_S = 0.2


class Viewer:
    """A page that shows the overview: opened with all its files, then brought up to date as the server tells it.

    `fetch` returns the text of a path of the site, or None where there is none.
    """

    def __init__(self, fetch: Callable[[str], str | None]) -> None:
        self._fetch = fetch
        self._kept: set[str] = set()
        self._index = ""

    def open(self) -> None:
        """Load the page, its style and scripts, and the figures of its first view. Wait for a site that is written."""
        while (page := self._fetch("/")) is None:
            time.sleep(_AGAIN_S)
        for path in _ASSET.findall(page):
            content = self._load(f"/{path}")
            if path.startswith("data/i-"):
                self._index = path.removeprefix("data/").removesuffix(".js")
                self._load_figures(content)

    def hear(self, event: str, data: dict[str, Any]) -> bool:
        """Take an event. Load what it says is new, and return true if that was so."""
        index = data.get("index") if event in {"state", "published"} else None
        if not index or index == self._index:
            return False
        self._index = index
        self._load_figures(self._load(f"/data/{index}.js"))
        return True

    def _load_figures(self, index: str | None) -> None:
        for column in _COLUMN.findall(index or "")[:1]:
            self._load(f"/data/{column}.js")

    def _load(self, path: str) -> str | None:
        """Fetch a file that a browser does not have yet: names of files change with their content."""
        if path in self._kept:
            return None
        content = self._fetch(path)
        if content is not None:  # an index may have been replaced meanwhile; the next event names the one that counts
            self._kept.add(path)
        return content


def events(lines: Iterable[bytes]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the name and the data of each event of a stream."""
    name, data = "", ""
    for line in lines:
        text = line.decode().rstrip("\n")
        field, _, value = text.partition(": ")
        if field == "event":
            name = value
        elif field == "data":
            data = value
        elif not text and name:
            yield name, json.loads(data)
            name, data = "", ""


def watch(address: str, heard: Path, viewers: int) -> None:
    """View a server with several clients until it ends, and write down what each hears of.

    A line has the number of a viewer and one word: `run` for an event of a run, `figures` for new figures that were
    loaded. A line on stdout says when all have opened the page.
    """
    lock = threading.Lock()
    opened = threading.Barrier(viewers + 1)
    with heard.open("a") as file:

        def note(number: int, word: str) -> None:
            with lock:
                file.write(f"{number} {word}\n")
                file.flush()

        def view(number: int) -> None:
            with contextlib.closing(_connection(address)) as asking, contextlib.closing(_connection(address)) as told:
                viewer = Viewer(lambda path: _text(asking, path))
                try:
                    viewer.open()
                    told.request("GET", "/events")
                    stream = told.getresponse()
                except Exception:
                    opened.abort()  # nobody waits for a page that could not be opened
                    raise
                opened.wait()
                for name, data in events(stream):
                    if name == "run":
                        note(number, "run")
                    if viewer.hear(name, data):
                        note(number, "figures")

        threads = [threading.Thread(target=view, args=(number,), daemon=True) for number in range(viewers)]
        for thread in threads:
            thread.start()
        opened.wait()
        print("reading", flush=True)
        for thread in threads:
            thread.join()


def _connection(address: str) -> http.client.HTTPConnection:
    place = urlsplit(address)
    return http.client.HTTPConnection(place.hostname or "localhost", place.port)


def _text(connection: http.client.HTTPConnection, path: str) -> str | None:
    """Return what is at a path, or None. A connection that the server closed after a silence is opened again."""
    for attempt in range(2):
        try:
            connection.request("GET", path)
            with connection.getresponse() as response:
                content = response.read().decode()
                return content if response.status == http.HTTPStatus.OK else None
        except (http.client.RemoteDisconnected, ConnectionError):
            connection.close()
            if attempt:
                raise
    return None
