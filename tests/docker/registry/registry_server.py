"""A registry of Debian's package `docker-registry` on this machine."""

import json
import re
import shutil
import socket
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.until import until

PROGRAM = "docker-registry"
USER, PASSWORD = "nobody", "of-nobody-7"
PASSWORD_FILE = f"{USER}:$2b$04$JeuWi78ltT2h29qp4/hlI.LJ.B1bEWu4zmJD2MOTHpTh74vRDwx6S\n"
_SENDS = re.compile(r'"(?:POST|PATCH|PUT) /v2/\S+/blobs/')
_MOUNTS = re.compile(r'"POST /v2/\S+/blobs/uploads/\?from=\S+ HTTP/1.1" 201')


@dataclass(frozen=True)
class Registry:
    """A registry that runs."""

    address: str
    folder: Path
    log: Path

    def blob_uploads(self) -> int:
        """Return the number of requests that have sent blobs so far, without those that named a blob it had."""
        text = self.log.read_text()
        return len(_SENDS.findall(text)) - len(_MOUNTS.findall(text))


def missing() -> str | None:
    """Return the reason that this machine has no registry, or None."""
    return None if shutil.which(PROGRAM) else f"no {PROGRAM} on PATH"


def free_port(address: str = "127.0.0.1") -> int:
    """Return a port on which nothing listens."""
    with socket.create_server((address, 0)) as server:
        return int(server.getsockname()[1])


@contextmanager
def registry(
    folder: Path, address: str, *, http: Mapping[str, Any] | None = None, auth: bool = False,
    inside: Sequence[str] = (),
) -> Iterator[Registry]:  # fmt: skip
    """Serve a folder at `HOST:PORT`, by a command line that `inside` may put into another network namespace."""
    folder.mkdir(exist_ok=True)
    name = f"{address.replace(':', '-')}-{len(list(folder.glob('*.log')))}"
    config: dict[str, Any] = {
        "version": "0.1",
        "log": {"level": "warn"},
        "storage": {"filesystem": {"rootdirectory": str(folder / "storage")}},
        "http": {"addr": address, **(http or {})},
    }
    if auth:
        (folder / "htpasswd").write_text(PASSWORD_FILE)
        config["auth"] = {"htpasswd": {"realm": "test", "path": str(folder / "htpasswd")}}
    path, log = folder / f"{name}.json", folder / f"{name}.log"
    path.write_text(json.dumps(config))  # JSON is YAML
    with log.open("wb") as file:
        process = subprocess.Popen([*inside, PROGRAM, "serve", str(path)], stdout=file, stderr=file)
    try:
        until(lambda: process.poll() is not None or _listens(address, inside))
        assert process.poll() is None, log.read_text()[-2000:]
        yield Registry(address, folder, log)
    finally:
        process.terminate()
        process.wait()


def _listens(address: str, inside: Sequence[str]) -> bool:
    host, port = address.split(":")
    probe = f"exec 3<>/dev/tcp/{host}/{port}"
    return subprocess.run([*inside, "bash", "-c", probe], capture_output=True, check=False).returncode == 0
