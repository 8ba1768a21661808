"""A package whose releases decide how long a step or a token of `noop` takes, on an index of its own."""

import base64
import hashlib
import io
import json
import secrets
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def fresh_name(kind: str) -> str:
    """A name for a package of one test module.

    An image is known by what it asks for: another test's release of the same name would be taken for this one's.
    """
    return f"bench-{kind}-{secrets.token_hex(4)}"


HOOK = """
import importlib.util, sys, time

class Finder:
    def find_spec(self, name, path=None, target=None):
        if name != "benchmarks.frameworks.noop":
            return None
        sys.meta_path.remove(self)
        try:
            spec = importlib.util.find_spec(name)
        finally:
            sys.meta_path.insert(0, self)  # it is asked more than once
        run = spec.loader.exec_module

        def exec_module(module):
            run(module)
            for name in ("step", "prefill", "decode"):
                setattr(module._Session, name, staticmethod(step))
            module._Session.short_blocks = False

        spec.loader.exec_module = exec_module
        return spec

def step(_batch):
    time.sleep(STEP_S)

sys.meta_path.insert(0, Finder())
"""


def wheel(package: str, version: str, step_s: float | None, requires: str = "") -> bytes:
    """A wheel that makes every step take so long; one that requires what nobody offers does not install."""
    module = package.replace("-", "_")
    info = f"{module}-{version}.dist-info"
    metadata = f"Metadata-Version: 2.1\nName: {package}\nVersion: {version}\n"
    files = {
        f"{module}.py": "" if step_s is None else HOOK.replace("STEP_S", repr(step_s)),
        f"{module}.pth": f"import {module}\n",
        f"{info}/METADATA": metadata + (f"Requires-Dist: {requires}\n" if requires else "") + "\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "".join(
        f"{name},sha256={base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b'=').decode()},{len(text)}\n"
        for name, text in files.items()
    )
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
        archive.writestr(f"{info}/RECORD", record + f"{info}/RECORD,,\n")
    return buffer.getvalue()


@dataclass
class TinyIndex:
    """The releases that the index offers, and the requests that were posted to it."""

    port: int = 0
    wheels: dict[str, bytes] = field(default_factory=dict)
    """By the name of the file."""
    silent: bool = False
    posted: list[dict[str, object]] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def publish(self, package: str, version: str, step_s: float | None, requires: str = "") -> None:
        name = f"{package.replace('-', '_')}-{version}-py3-none-any.whl"
        self.wheels[name] = wheel(package, version, step_s, requires)

    def listed(self, package: str) -> list[dict[str, object]]:
        names = [name for name in self.wheels if name.startswith(package.replace("-", "_") + "-")]
        return [{"filename": name, "url": f"/{name}", "hashes": {}} for name in names]


@contextmanager
def tiny_index() -> Iterator[TinyIndex]:
    """Serve it on this host's loopback, which builds reach over the host's network."""
    served = TinyIndex()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if served.silent:
                self._answer(503, b"", "text/plain")
            elif self.path.startswith("/simple/") and served.listed(self.path.split("/")[2]):
                package = self.path.split("/")[2]
                page = {"meta": {"api-version": "1.0"}, "name": package, "files": served.listed(package)}
                self._answer(200, json.dumps(page).encode(), "application/vnd.pypi.simple.v1+json")
            else:
                found = [content for name, content in served.wheels.items() if self.path == f"/{name}"]
                self._answer(200 if found else 404, b"".join(found), "application/zip")

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            served.posted.append(json.loads(body))
            self._answer(204, b"", "text/plain")

        do_HEAD = do_GET  # noqa: N815 - by which uv asks how long a wheel is

        def _answer(self, status: int, content: bytes, kind: str) -> None:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(content)

        def log_message(self, *arguments: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    served.port = server.server_port
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield served
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
