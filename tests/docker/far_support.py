"""The far side of an air gap on this machine: a second engine in a network namespace with no way out, and a home.

The engine has its own data root, exec root and socket. What is run there sees neither this machine's networks nor its
home, configuration of pip or cache; it has a loopback, so that a test can listen for what should never be asked.
"""

import contextlib
import os
import secrets
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import docker

from orchestrator.engine.client import connect
from orchestrator.errors import HostError
from tests.until import has_ended, until

# Stands where an index, a registry or a proxy would be, and writes down whatever is asked of it.
RECORDER = """
import socketserver, sys

class Asked(socketserver.StreamRequestHandler):
    def handle(self):
        line = self.rfile.readline(1000)
        with open(sys.argv[1], "ab") as file:
            file.write(line.strip() + b"\\n")
        self.wfile.write(b"HTTP/1.0 503 there is no way out\\r\\n\\r\\n")

socketserver.ThreadingTCPServer.allow_reuse_address = True
with socketserver.ThreadingTCPServer(("127.0.0.1", int(sys.argv[2])), Asked) as server:
    open(sys.argv[1], "ab").close()
    server.serve_forever()
"""
RECORDER_PORT = 3128
TOOLS = ("dockerd", "ip", "nsenter")
PREFIX = "bench-far-"
_PLACE = Path("/var/tmp")  # on disk: images are large, and the names of sockets short
_PATIENCE_S = 180.0
"""With an engine on a machine that is busy with other things; by itself it starts within seconds."""
_ANSWER_S = 600.0
"""With its answers: it takes an image of hundreds of megabytes before it says a word."""


@dataclass(frozen=True)
class FarSide:
    """A host without a network."""

    namespace: str
    folder: Path
    """Everything of it, on this machine."""

    @property
    def socket(self) -> Path:
        return self.folder / "docker.sock"

    @property
    def home(self) -> Path:
        return self.folder / "home"

    @property
    def data_root(self) -> Path:
        return self.folder / "data"

    @property
    def docker_host(self) -> str:
        return f"unix://{self.socket}"

    @property
    def recorder(self) -> str:
        """A URL on its loopback that answers nothing and writes everything down; its engine's proxy."""
        return f"http://127.0.0.1:{RECORDER_PORT}"

    def asked(self) -> list[str]:
        """The first line of every request that its engine, or what was told of `recorder`, has sent out so far."""
        return (self.folder / "asked").read_text().splitlines()

    def environment(self, **more: str) -> dict[str, str]:
        """The environment of a login shell there."""
        path = os.environ.get("PATH", os.defpath)
        # As another host, it does not wait for its turn among the runs of this one.
        own = {"DOCKER_HOST": self.docker_host, "ORCHESTRATOR_LOCK_FOLDER": str(self.folder / "locks")}
        return {"PATH": path, "HOME": str(self.home), "LANG": "C.UTF-8", **own, **more}

    def inside(self, *command: str | Path) -> list[str]:
        """The command line that runs a command there: `ip netns exec` would hide the control groups."""
        return ["nsenter", f"--net=/run/netns/{self.namespace}", *map(str, command)]

    def run(
        self, *command: str | Path, folder: Path | None = None, environment: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run a command there to its end, in its home by default, and give what it said."""
        return subprocess.run(
            self.inside(*command), cwd=folder or self.home, env=dict(environment or self.environment()),
            capture_output=True, text=True, check=False,
        )  # fmt: skip

    def client(self) -> docker.DockerClient:
        """A client of its engine; the caller closes it."""
        return connect(self.environment(), timeout_s=_ANSWER_S)


def missing() -> str | None:
    """Return the reason that this machine cannot have a far side, or None."""
    absent = [tool for tool in TOOLS if shutil.which(tool) is None]
    if absent:
        return f"no {', '.join(absent)} on PATH"
    return None if os.geteuid() == 0 else "a second engine needs root"


@contextlib.contextmanager
def far_side() -> Iterator[FarSide]:
    """Start a far side with an empty engine, and leave nothing of it."""
    _sweep()
    # Its name is that of a namespace of containerd too, which takes no two marks in a row: mkdtemp may give `-_`.
    folder = _PLACE / f"{PREFIX}{os.getpid()}-{secrets.token_hex(4)}"
    folder.mkdir(mode=0o700)
    side = FarSide(folder.name, folder)
    started: list[subprocess.Popen[bytes]] = []
    try:
        side.home.mkdir()
        (folder / "locks").mkdir()
        (folder / "daemon.json").write_text("{}")
        subprocess.run(["ip", "netns", "add", side.namespace], check=True)
        subprocess.run(side.inside("ip", "link", "set", "lo", "up"), check=True)
        with (folder / "dockerd.log").open("wb") as log:
            listening = side.inside(sys.executable, "-c", RECORDER, folder / "asked", str(RECORDER_PORT))
            started.append(subprocess.Popen(listening, stdout=log, stderr=log))
            proxies = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY"), side.recorder)
            command = side.inside(*_daemon(side))
            started.append(
                subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True, env=os.environ | proxies)
            )
        _wait(side, started[-1])
        yield side
    finally:
        for process in reversed(started):
            _stop(process)
        _remove(folder)


def _daemon(side: FarSide) -> Sequence[str | Path]:
    name = side.namespace
    return (
        "dockerd", "--data-root", side.data_root, "--exec-root", side.folder / "exec", "-H", side.docker_host,
        "-p", side.folder / "dockerd.pid", "--bridge=none", "--iptables=false", "--ip-forward=false",
        "--config-file", side.folder / "daemon.json",
        # Where the machine has a containerd of its own, the two engines share it.
        f"--containerd-namespace={name}", f"--containerd-plugins-namespace={name}-plugins",
    )  # fmt: skip


def _wait(side: FarSide, daemon: subprocess.Popen[bytes]) -> None:
    until(lambda: daemon.poll() is not None or (_answers(side) and (side.folder / "asked").exists()))
    if daemon.poll() is not None:
        tail = (side.folder / "dockerd.log").read_text(errors="replace")[-2000:]
        raise RuntimeError(f"the second engine does not answer:\n{tail}")


def _answers(side: FarSide) -> bool:
    try:
        side.client().close()
    except HostError:
        return False
    return True


def _stop(daemon: subprocess.Popen[bytes]) -> None:
    daemon.terminate()
    try:
        daemon.wait(_PATIENCE_S)
    except subprocess.TimeoutExpired:
        daemon.kill()
        daemon.wait()


def _remove(folder: Path) -> None:
    """Remove what an engine that has ended leaves: its containerd, mounts, name of the namespace, and folder."""
    _kill(folder, folder / "exec/containerd/containerd.pid")
    until(lambda: _removed(folder))  # a shim that is just ending writes its last into a folder that is being removed


def _removed(folder: Path) -> bool:
    for line in reversed(Path("/proc/self/mounts").read_text().splitlines()):
        if line.split()[1].startswith(f"{folder}/"):
            subprocess.run(["umount", "--lazy", line.split()[1]], check=False, capture_output=True)
    subprocess.run(["ip", "netns", "delete", folder.name], check=False, capture_output=True)
    shutil.rmtree(folder, ignore_errors=True)
    return not folder.exists()


def _kill(folder: Path, pid_file: Path) -> None:
    """Kill what a file names, if it is still the one that works in this folder, and wait until it has ended."""
    with contextlib.suppress(OSError, ValueError):
        pid = int(pid_file.read_text())
        if str(folder) in Path(f"/proc/{pid}/cmdline").read_text():
            os.kill(pid, signal.SIGKILL)
            until(lambda: has_ended(pid))


def _sweep() -> None:
    """Remove what tests have left that were killed."""
    for folder in _PLACE.glob(f"{PREFIX}*"):
        owner = folder.name.removeprefix(PREFIX).split("-")[0]
        if not Path("/proc", owner).exists():
            _kill(folder, folder / "dockerd.pid")
            _remove(folder)
