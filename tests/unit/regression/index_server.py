"""A package index on this host whose answers a test chooses, and that counts who asked for what."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

JSON_TYPE = "application/vnd.pypi.simple.v1+json"


@dataclass
class Answer:
    """What one path is answered with."""

    body: bytes = b""
    content_type: str = JSON_TYPE
    status: int = 200
    pieces: Callable[[], Iterator[bytes]] | None = None
    """In place of the body, sent as they come."""


@dataclass
class IndexServer:
    """Paths with their answers; every other path is 404."""

    url: str
    answers: dict[str, Answer] = field(default_factory=dict)
    asked: list[tuple[str, dict[str, str]]] = field(default_factory=list)


@contextmanager
def index_server(address: str = "127.0.0.1") -> Iterator[IndexServer]:
    """Serve until the context ends."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            served.asked.append((self.path, dict(self.headers)))
            answer = served.answers.get(self.path, Answer(status=404))
            self.send_response(answer.status)
            self.send_header("Content-Type", answer.content_type)
            self.send_header("Cache-Control", "max-age=600")  # as PyPI does
            if answer.pieces is None:
                self.send_header("Content-Length", str(len(answer.body)))
            self.end_headers()
            try:
                for piece in answer.pieces() if answer.pieces else (answer.body,):
                    self.wfile.write(piece)
            except OSError:
                pass  # who asked has heard enough

        def log_message(self, *arguments: object) -> None:
            pass

    server = ThreadingHTTPServer((address, 0), Handler)
    served = IndexServer(f"http://{address}:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield served
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
