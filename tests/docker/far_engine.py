"""An engine of a test's own, which it may stop and start again without harm to any other."""

import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import docker

from orchestrator.engine.client import connect
from orchestrator.errors import HostError
from tests.required import missing
from tests.until import until

TOOLS = ("dockerd", "unshare")
_PATIENCE_S = 60.0


class Engine:
    """A container engine with folders, a socket and a network namespace of its own, and no bridge unless asked for."""

    def __init__(self, folder: Path, *, bridge: bool = False, programs: Path | None = None) -> None:
        self._folder = folder
        self._path = os.pathsep.join(filter(None, [str(programs or ""), os.environ.get("PATH", os.defpath)]))
        self._network = () if bridge else ("--bridge=none",)
        self.address = f"unix://{folder}/socket"
        self.data_root = folder / "data"
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> docker.DockerClient:
        """Start it, and wait until it answers; raises `RuntimeError` where it does not."""
        folder = self._folder
        with (folder / "engine.log").open("ab") as log:
            self.process = subprocess.Popen(
                [
                    # In a network of its own: an engine without a bridge removes the one of the other.
                    "unshare", "--net", "--", "dockerd",
                    "--data-root", self.data_root, "--exec-root", folder / "exec", "-H", self.address,
                    "-p", folder / "pid", *self._network, "--iptables=false", "--shutdown-timeout", "1",
                ],
                stdout=log, stderr=log, env=os.environ | {"PATH": self._path},
            )  # fmt: skip
        until(lambda: self.process.poll() is not None or self._answers())
        if self.process.poll() is not None:
            said = (folder / "engine.log").read_text(errors="replace")[-500:]
            raise RuntimeError(f"the second engine does not answer: {said}")
        return self.client()

    def _answers(self) -> bool:
        try:
            self.client().close()
        except HostError:
            return False
        return True

    def client(self) -> docker.DockerClient:
        """A client of it, which the caller closes; raises `HostError` where it does not answer."""
        return connect({"DOCKER_HOST": self.address})

    def inside(self, *command: str) -> None:
        """Run a command in its network namespace."""
        assert self.process is not None
        subprocess.run(["nsenter", f"--net=/proc/{self.process.pid}/ns/net", *command], check=True)

    def stop(self) -> None:
        """Stop it as an upgrade of its package would."""
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(_PATIENCE_S)


@contextmanager
def second_engine(*, bridge: bool = False, programs: Path | None = None) -> Iterator[Engine]:
    """One that answers, with a bridge of its own if asked for, and first on its PATH a folder of programs.

    A host that cannot have one is found out at the first start; where it starts no second time, the test fails.
    """
    absent = [tool for tool in TOOLS if shutil.which(tool) is None]
    if os.getuid() != 0 or absent:
        missing(f"a second engine needs root and {' and '.join(TOOLS)}", "BENCH_REQUIRE_ENGINE")
    # A socket's path may not be long.
    with tempfile.TemporaryDirectory(prefix="bench-engine-", ignore_cleanup_errors=True) as name:
        engine = Engine(Path(name), bridge=bridge, programs=programs)
        try:
            try:
                engine.start().close()
            except RuntimeError as error:
                missing(str(error), "BENCH_REQUIRE_ENGINE")
            yield engine
        finally:
            engine.stop()
