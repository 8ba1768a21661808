"""Requests to the application without a socket."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from orchestrator.server.access import Access
from orchestrator.server.app import Pages, application
from orchestrator.server.hub import Hub

OPEN = Access("127.0.0.1", 8765)


@dataclass
class Answer:
    """The answer to a request."""

    status: int = 0
    headers: list[tuple[str, str]] = field(default_factory=list)
    body: bytes = b""

    def header(self, name: str) -> str | None:
        return next((value for key, value in self.headers if key == name), None)


def ask(
    site: Path, path: str, access: Access = OPEN, headers: Mapping[str, str] | None = None, method: str = "GET"
) -> Answer:
    """Ask for a path as it stands in the request, percent signs and all."""
    from urllib.parse import unquote

    target, _, query = path.partition("?")
    sent = {"host": "localhost:8765", **(headers or {})}
    scope: dict[str, Any] = {
        "type": "http", "asgi": {"version": "3.0", "spec_version": "2.3"}, "http_version": "1.1", "method": method,
        "scheme": "http", "path": unquote(target), "raw_path": target.encode(), "query_string": query.encode(),
        "root_path": "", "headers": [(name.encode(), value.encode()) for name, value in sent.items()],
        "client": ("127.0.0.1", 1), "server": ("127.0.0.1", 8765),
    }  # fmt: skip
    answer = Answer()

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:
        if message["type"] == "http.response.start":
            answer.status = message["status"]
            answer.headers = [(name.decode().lower(), value.decode()) for name, value in message["headers"]]
        else:
            answer.body += message.get("body", b"")

    async def run() -> None:
        await application(Pages(site), Hub(dict), access, lambda: None)(scope, receive, send)

    asyncio.run(run())
    return answer
