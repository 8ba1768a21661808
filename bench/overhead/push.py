"""`orchestrator push` of four images against `docker push` of each, to a registry of Debian's on this machine.

The images share a base. A first push goes to a registry that has nothing, one for each side and pair. Of a second push,
the registry has everything, and both sides only ask it for what it has. `docker push` is called once for each image,
with its name in the registry given off the clock. Ours is all that the command does: it plans the matrix, looks for the
images, names them, pushes, and takes the names away. The start of Python, which takes longer than four pushes with
nothing missing, is in the whole command alone: the bar of a second push against that of `docker push` holds without it,
inside one process. The benchmark needs the program `docker-registry`.
"""

import argparse
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from itertools import count
from pathlib import Path

from bench.pairs import UNBOUNDED, Ratio, compare, emit, interleave
from bench.records import ROOT
from orchestrator.api import PushOptions, push, this_host

FRAMEWORKS = ("noop==1", "mxnet==1.5.1", "mxnet==1.9.1", "keras-mxnet==2.2.4.3 on mxnet==1.5.1")
COMMAND = [sys.executable, "-m", "orchestrator"]
_START_S = 30.0


def timed(*commands: Sequence[str]) -> float:
    """Return the seconds of commands, one after another."""
    variables = dict(os.environ)
    variables.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed program has its bytecode
    began = time.perf_counter()
    for command in commands:
        subprocess.run(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=ROOT, env=variables, check=True
        )
    return time.perf_counter() - began


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


@contextmanager
def registry(folder: Path) -> Iterator[str]:
    """Serve an empty folder as a registry, give its address, and remove the folder."""
    folder.mkdir()
    address = f"127.0.0.1:{free_port()}"
    storage = {"filesystem": {"rootdirectory": str(folder / "storage")}}
    config = {"version": "0.1", "log": {"level": "error"}, "storage": storage, "http": {"addr": address}}
    (folder / "config.json").write_text(json.dumps(config))
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(["docker-registry", "serve", str(folder / "config.json")], stdout=log, stderr=log)
        try:
            _wait(address)
            yield address
        finally:
            process.terminate()
            process.wait()
            shutil.rmtree(folder)


def _wait(address: str) -> None:
    host, port = address.split(":")
    deadline = time.monotonic() + _START_S
    while True:
        try:
            socket.create_connection((host, int(port))).close()
        except OSError:
            assert time.monotonic() < deadline, "the registry does not answer"
            time.sleep(0.05)
        else:
            return


class Bench:
    """Both sides, with the images, a registry that has them, and a folder for empty ones."""

    def __init__(self, scratch: Path, filled: str) -> None:
        self.scratch = scratch
        self.filled = filled
        self.matrix = scratch / "four.json"
        self.matrix.write_text(
            json.dumps({"version": 1, "name": "four", "frameworks": FRAMEWORKS, "models": ["lenet"]})
        )
        self._numbers = count()
        self.whole_commands: list[float] = []
        """Seconds of our command with nothing missing, after each first push of theirs."""
        timed([*COMMAND, "build", "-f", str(self.matrix)])
        command = [*COMMAND, "push", filled, "-f", str(self.matrix), "--json"]
        document = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True, cwd=ROOT).stdout)
        self.references = [image["reference"] for image in document["data"]["images"]]

    def empty_registry(self) -> AbstractContextManager[str]:
        return registry(self.scratch / f"registry-{next(self._numbers)}")

    def ours(self, address: str) -> float:
        return timed([*COMMAND, "push", address, "-f", str(self.matrix)])

    def theirs(self, address: str) -> float:
        remote = [f"{address}/{reference}" for reference in self.references]
        for here, there in zip(self.references, remote, strict=True):
            timed(["docker", "tag", here, there])
        elapsed = timed(*(["docker", "push", "-q", there] for there in remote))
        for there in remote:
            timed(["docker", "rmi", there])
        return elapsed

    def first(self, pairs: int) -> tuple[list[float], list[float]]:
        """Return the seconds of first pushes, each to a registry of its own."""

        def ours() -> float:
            with self.empty_registry() as address:
                return self.ours(address)

        def theirs() -> float:
            with self.empty_registry() as address:
                elapsed = self.theirs(address)
                self.whole_commands.append(self.ours(address))
                return elapsed

        return interleave(ours, theirs, pairs)

    def second(self, pairs: int) -> tuple[list[float], list[float]]:
        """Return the seconds of pushes to a registry that has everything, ours without the start of Python."""
        host, options = this_host(), PushOptions(file=self.matrix, registry=self.filled)

        def ours() -> float:
            began = time.perf_counter()
            push(options, host)
            return time.perf_counter() - began

        ours()
        return interleave(ours, lambda: self.theirs(self.filled), pairs)

    def second_commands(self, pairs: int) -> tuple[list[float], list[float]]:
        """Return the seconds of pushes to a registry that has everything, ours as the whole command."""
        return interleave(lambda: self.ours(self.filled), lambda: self.theirs(self.filled), pairs)


def measure(bench: Bench, pairs: int, first_pairs: int) -> Iterator[Ratio]:
    """Compare first pushes, second pushes, and our second push with the first of `docker push`."""
    ours, theirs = "`push` of four images", "`docker push` of each"
    inside, anew = "`api.push` of four images", "`docker push` of each to an empty registry"
    yield compare("push with nothing missing", inside, theirs, bench.second(pairs), bar=(0, 1.2), unit="s")
    first = bench.first(first_pairs)
    yield compare("push to an empty registry", ours, theirs, first, bar=(0, 1.2), unit="s")
    after = (bench.whole_commands, first[1])
    yield compare("push with nothing missing, whole command", ours, anew, after, bar=(0, 0.1), unit="s")
    name = "push with nothing missing, whole command; the start of Python is the difference"
    yield compare(name, ours, theirs, bench.second_commands(pairs), bar=(0, UNBOUNDED), unit="s")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.overhead.push", description=__doc__)
    parser.add_argument("--pairs", type=int, default=20)
    parser.add_argument("--first-pairs", type=int, default=4, help="pairs of pushes to empty registries")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="bench-push-", dir="/var/tmp") as folder:
        scratch = Path(folder)
        with registry(scratch / "filled") as filled:
            emit(list(measure(Bench(scratch, filled), options.pairs, min(options.first_pairs, options.pairs))))


if __name__ == "__main__":
    main()
