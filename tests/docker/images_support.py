"""A package index of its own, and image specifications that build in seconds."""

import base64
import io
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

from orchestrator.domain import Environment, Framework, ImageSpec

PACKAGE = "tiny-package"
WHEEL = "tiny_package-1.0.post1-py3-none-any.whl"


def wheel() -> bytes:
    """A wheel that holds one empty module, as a post-release."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        info = "tiny_package-1.0.post1.dist-info"
        archive.writestr("tiny_package.py", "")
        archive.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: tiny-package\nVersion: 1.0.post1\n\n")
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")
    return buffer.getvalue()


def tiny_spec(name: str, image_class: str = "cpu", **environment: object) -> ImageSpec:
    """An image without a framework, whose environment is one tiny package."""
    fields: dict[str, object] = {
        "builder": "noop",
        "python": "3.11",
        "requirements": (f"{PACKAGE}==1.0.post1",),
        "expected_versions": ((PACKAGE, "1.0"),),
    }
    return ImageSpec(
        repository="bench-test-images/noop",
        alias=f"{name}-{image_class}",
        image_class=image_class,
        framework=Framework("noop", "1", python="3.11"),
        environment=Environment(**(fields | environment)),  # type: ignore[arg-type]
    )


@contextmanager
def index(credentials: str | None = None, proxy_credentials: str | None = None) -> Iterator[tuple[int, list[str]]]:
    """Serve one wheel as a PEP 503 index on this host, and as a proxy to it; give the port and the paths it served.

    With `credentials` (`user:password`) other visitors are turned away, likewise those of the proxy.
    """
    served: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            through_proxy = self.path.startswith("http://")
            if through_proxy and not _admits(proxy_credentials, self.headers.get("Proxy-Authorization")):
                self._answer(407, "", [("Proxy-Authenticate", "Basic")])
                return
            if not _admits(credentials, self.headers.get("Authorization")):
                self._answer(401, "", [("WWW-Authenticate", 'Basic realm="index"')])
                return
            path = urlsplit(self.path).path
            served.append(("proxied " if through_proxy else "") + path)
            if path == f"/simple/{PACKAGE}/":
                self._answer(200, f'<a href="/{WHEEL}">{WHEEL}</a>', [("Content-Type", "text/html")])
            elif path == f"/{WHEEL}":
                self._answer(200, wheel(), [("Content-Type", "application/zip")])
            else:
                self._answer(404, "", [])

        def _answer(self, status: int, body: str | bytes, headers: list[tuple[str, str]]) -> None:
            content = body.encode() if isinstance(body, str) else body
            self.send_response(status)
            for name, value in [*headers, ("Content-Length", str(len(content)))]:
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *arguments: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server.server_port, served
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _admits(credentials: str | None, header: str | None) -> bool:
    return credentials is None or header == "Basic " + base64.b64encode(credentials.encode()).decode()
