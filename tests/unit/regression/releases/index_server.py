"""A package index on this host whose answers a test chooses, and that counts who asked for what."""

import contextlib
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

JSON_TYPE = "application/vnd.pypi.simple.v1+json"


@dataclass
class Answer:
    """The answer to one path."""

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


@contextmanager
def dripping(beginning: bytes) -> Iterator[str]:
    """Answer whoever asks with these bytes, and then with another one every 50 ms until the context ends."""
    over = threading.Event()

    def answer(asking: socket.socket) -> None:
        with asking, contextlib.suppress(OSError):
            asking.recv(65536)
            asking.sendall(beginning)
            while not over.wait(0.05):
                asking.sendall(b"x")

    def serve() -> None:
        with contextlib.suppress(OSError):
            while True:
                threading.Thread(target=answer, args=(server.accept()[0],), daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=serve, daemon=True).start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}"
        over.set()
        server.shutdown(socket.SHUT_RDWR)
