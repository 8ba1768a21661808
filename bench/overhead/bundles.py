"""Bundles against `docker save` and `docker load` of the same images, in size, time and memory.

The images are four framework releases that share a base. `docker save` of all at once, through `zstd -3 -T0`, is the
best that a shell can do; `docker save | gzip` of each is what people do. Both sides of an export write a file, with the
images on the engine at first. Both sides of a load read a file into a second engine, empty or with the images in it.
The benchmark starts that engine in a folder of its own, and so must be root. Everything else is off the clock. The
bundles leave out the orchestrator itself, its wheels and its image.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from itertools import count
from pathlib import Path
from typing import Any

import docker

from bench.pairs import Ratio, compare, interleave
from bench.records import ROOT

FRAMEWORKS = ("mxnet==1.5.1", "mxnet==1.9.1", "torch==2.13.0", "tensorflow==2.21.0")
ONE_MORE = "jax==0.12.0.1"
AT_ONCE = "one `docker save a b c d \\| zstd -3 -T0`"
MOST_BYTES = 200_000_000
COMMAND = [sys.executable, "-m", "orchestrator"]
WITHOUT_ORCHESTRATOR = ["--no-orchestrator"]
"""Neither its wheels nor its image, which come from an index and have no counterpart in `docker save`."""


def matrix(path: Path, frameworks: Sequence[str]) -> Path:
    path.write_text(json.dumps({"version": 1, "name": path.stem, "frameworks": frameworks, "models": ["lenet"]}))
    return path


def run(command: Sequence[str], environment: dict[str, str] | None = None) -> tuple[float, int]:
    """Return the seconds and the largest resident size in bytes of one command."""
    variables = {**os.environ, **(environment or {})}
    variables.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed program has its bytecode
    began = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, cwd=ROOT, env=variables)
    _, status, usage = os.wait4(process.pid, 0)
    elapsed = time.perf_counter() - began
    assert status == 0, command
    return elapsed, usage.ru_maxrss * 1024


def shell(command: str) -> float:
    return run(["bash", "-o", "pipefail", "-c", command])[0]


def blob_bytes(bundle: Path) -> int:
    return sum(path.stat().st_size for path in (bundle / "images" / "blobs" / "sha256").iterdir())


def layers(bundle: Path) -> dict[str, int]:
    manifest = json.loads((bundle / "manifest.json").read_text())
    return {layer["digest"]: layer["size_bytes"] for image in manifest["images"] for layer in image["layers"]}


@contextmanager
def second_engine(folder: Path) -> Iterator[str]:
    """Start a separate container engine with nothing in it, and give its address."""
    address = f"unix://{folder / 'socket'}"
    # The engine gets its own network: without a bridge it removes docker0, which may belong to another engine.
    command = [
        "unshare", "--net", "--",
        "dockerd", "--data-root", str(folder / "data"), "--exec-root", str(folder / "run"), "-H", address,
        "-p", str(folder / "pid"), "--bridge=none", "--iptables=false", "--ip-masq=false",
    ]  # fmt: skip
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)
        try:
            deadline = time.monotonic() + 60
            while subprocess.run(["docker", "-H", address, "info"], capture_output=True, check=False).returncode:
                assert time.monotonic() < deadline, (folder / "log").read_text()[-2000:]
                time.sleep(0.2)
            yield address
        finally:
            process.terminate()
            process.wait()


class Bench:
    """The common parts of the comparisons, with a scratch folder, the images and the peak memory of ours."""

    def __init__(self, scratch: Path) -> None:
        self.scratch = scratch
        self.matrix = matrix(scratch / "four.json", FRAMEWORKS)
        self.peaks = {"export": 0, "load": 0}
        self._numbers = count()
        self.bundle = self.exported(self.matrix)
        manifest = json.loads((self.bundle / "manifest.json").read_text())
        self.images = " ".join(image["reference"] for image in manifest["images"])
        self.stream = scratch / "four.tar.zst"
        shell(f"docker save {self.images} | zstd -3 -T0 -q -o {self.stream}")

    def exported(self, file: Path, *more: str) -> Path:
        folder = self.scratch / f"{file.stem}-{next(self._numbers)}"
        self._export(file, folder, *more)
        return folder

    def _export(self, file: Path, folder: Path, *more: str) -> float:
        command = [*COMMAND, "export", "--offline", "-f", str(file), "-o", str(folder), *WITHOUT_ORCHESTRATOR, *more]
        elapsed, peak = run(command)
        self.peaks["export"] = max(self.peaks["export"], peak)
        return elapsed

    def our_export(self) -> float:
        folder = self.scratch / "ours"
        elapsed = self._export(self.matrix, folder)
        shutil.rmtree(folder)
        return elapsed

    def their_export(self) -> float:
        path = self.scratch / "theirs.tar.zst"
        elapsed = shell(f"docker save {self.images} | zstd -3 -T0 -q -o {path}")
        path.unlink()
        return elapsed

    def our_load(self, address: str) -> float:
        elapsed, peak = run([*COMMAND, "load", str(self.bundle)], {"DOCKER_HOST": address, "HOME": str(self.scratch)})
        self.peaks["load"] = max(self.peaks["load"], peak)
        return elapsed

    def their_load(self, address: str) -> float:
        return shell(f"zstd -d -q -c {self.stream} | docker -H {address} load -q")

    def zipped_bytes(self) -> int:
        """Return the size of what people carry, which is each image saved and zipped by itself."""
        total = 0
        for image in self.images.split():
            finished = subprocess.run(
                f"docker save {image} | gzip | wc -c", shell=True, check=True, stdout=subprocess.PIPE, text=True
            )
            total += int(finished.stdout)
        return total


def sizes(bench: Bench) -> list[Ratio]:
    ours = blob_bytes(bench.bundle) / 1e6
    theirs = bench.stream.stat().st_size / 1e6
    zipped = bench.zipped_bytes() / 1e6
    what, people = "blobs of four images", "`docker save \\| gzip` of each"
    return [
        compare("size of the image blobs", what, AT_ONCE, ([ours], [theirs]), bar=(0, 1.0), unit="MB"),
        compare("size of the image blobs, of old", what, people, ([ours], [zipped]), bar=(0, 0.7), unit="MB"),
    ]


def delta(bench: Bench) -> list[Ratio]:
    five = matrix(bench.scratch / "five.json", [*FRAMEWORKS, ONE_MORE])
    whole, part = bench.exported(five), bench.exported(five, "--since", str(bench.bundle))
    known = layers(bench.bundle)
    new = sum(size for digest, size in layers(whole).items() if digest not in known)
    values = ([blob_bytes(part) / 1e6], [new / 1e6])
    shutil.rmtree(whole)
    shutil.rmtree(part)
    ours = "`export --since`, blobs"
    return [compare("delta for one more release", ours, "the new layers", values, bar=(0, 1.01), unit="MB")]


def export(bench: Bench, pairs: int) -> list[Ratio]:
    values = interleave(bench.our_export, bench.their_export, pairs)
    ours = "`export --offline --no-orchestrator`, checksums and SBOMs with it"
    return [compare("wall time of an export", ours, AT_ONCE, values, bar=(0, 1.2), unit="s")]


def empty(address: str) -> None:
    """Remove every image of the second engine."""
    client = docker.DockerClient(base_url=address)
    for image in client.images.list(all=True):
        for name in image.tags or [str(image.id)]:
            client.images.remove(name, force=True)
    assert not client.images.list(all=True)
    client.close()


def load(bench: Bench, pairs: int) -> list[Ratio]:
    folder = Path(tempfile.mkdtemp(dir=bench.scratch))
    with second_engine(folder) as address:

        def after(side: Any, clean: bool) -> Any:
            def once() -> float:
                if clean:
                    empty(address)
                return float(side(address))

            return once

        first = interleave(after(bench.our_load, True), after(bench.their_load, True), pairs)
        again = interleave(after(bench.our_load, False), after(bench.their_load, False), pairs)
        empty(address)
    theirs = "`zstd -d \\| docker load`"
    return [
        compare("load on an empty engine", "`load`, verified", theirs, first, bar=(0, 1.1), unit="s"),
        compare("load with nothing missing", "`load`", theirs, again, bar=(0, 0.1), unit="s"),
    ]


def peaks(bench: Bench) -> list[dict[str, Any]]:
    return [
        {
            "name": f"peak memory of {what}, four images",
            "text": f"{peak / 1e6:.0f} MB resident" + (", with `--no-orchestrator`" if what == "export" else ""),
            "wanted": f"≤ {MOST_BYTES / 1e6:.0f} MB",
            "within": peak <= MOST_BYTES,
        }
        for what, peak in bench.peaks.items()
        if peak
    ]


PARTS = ("sizes", "delta", "export", "load")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.overhead.bundles", description=__doc__)
    parser.add_argument("--pairs", type=int, default=20)
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS))
    options = parser.parse_args()
    figures: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory(prefix="bench-bundles-", dir="/var/tmp") as scratch:
        bench = Bench(Path(scratch))
        ratios: list[Ratio] = []
        if "sizes" in options.only:
            ratios += sizes(bench)
        if "delta" in options.only:
            ratios += delta(bench)
        if "export" in options.only:
            ratios += export(bench, options.pairs)
        if "load" in options.only:
            ratios += load(bench, options.pairs)
        figures = [*(asdict(ratio) | {"within": ratio.within} for ratio in ratios), *peaks(bench)]
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
