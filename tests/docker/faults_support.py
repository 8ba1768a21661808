"""A user's Dockerfile whose containers misbehave, each repeat in its own way, and the command around it."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import docker

from tests import until as waiting

CELL = "noop-1-dockerfile-cpu/mlp-train-b10"
BROKEN = "noop-2-dockerfile-cpu/mlp-train-b10"

# Runs at the start of every Python in the image. What an earlier attempt left behind makes it behave.
MISBEHAVE = r"""
import json, os, sys, time

BEHAVIOURS = (BEHAVIOURS_HERE)


def main():
    request = json.load(open("/io/request.json"))
    behaviour = BEHAVIOURS[request["repeat"]]
    if not any(name.startswith("attempt-") and os.path.isdir("/io/" + name) for name in os.listdir("/io")):
        globals()[behaviour](request)


def fine(request):
    pass


def slow(request):
    time.sleep(0.4)


def crash(request):
    import ctypes
    ctypes.string_at(0)


def leave(request):
    print("so it is", flush=True)
    os._exit(9)


def hang(request):
    print("hanging", flush=True)
    time.sleep(3600)


def eat(request):
    held = []
    while True:
        held.append(b"x" * (1 << 20))


def silent(request):
    os._exit(0)


def answer(text):
    with open("/io/result.json", "w") as file:
        file.write(text)
    os._exit(0)


def no_number(request):
    answer('{"schema": 1, "latency_s": [NaN]}')


def newer(request):
    answer('{"schema": 99}')


def huge(request):
    with open("/io/result.json", "w") as file:
        file.truncate(65 * 2 ** 20)
    os._exit(0)


def link(request):
    os.symlink("/etc/hostname", "/io/result.json")
    os._exit(0)


def talk(request):
    sys.stdout.write("the first word\n")
    for _ in range(TALK_MIB):
        sys.stdout.write("x" * (1 << 20))
    print("\nthe last word", flush=True)
    os._exit(1)


def no_framework(request):
    import builtins
    real = builtins.__import__

    def importing(name, *rest, **named):
        if name == "benchmarks.frameworks.noop":
            raise ImportError("libframework.so: cannot open shared object file")
        return real(name, *rest, **named)

    builtins.__import__ = importing


def lock(request):
    os.chmod("/io", 0)
    os._exit(1)


def swap_log(request):
    os.unlink("/io/log.txt")
    os.symlink("/etc/passwd", "/io/log.txt")
    os._exit(1)


def kept_closed(request):
    os.makedirs("/io/cache/inner/kernels")
    open("/io/cache/inner/kernels/one", "w").close()
    os.chmod("/io/cache/inner/kernels", 0)
    os.chmod("/io/cache/inner", 0o555)
    os.chmod("/io/cache", 0o555)
    os.mkdir("/io/secret")
    os.chmod("/io/secret", 0)
    print("the cache is broken", flush=True)
    os._exit(1)


def set_user_id(request):
    os.mkdir("/io/tools")
    open("/io/tools/shell", "w").close()
    os.chmod("/io/tools/shell", 0o6755)
    os.chmod("/io/tools", 0o3777)


def flood(request):
    block = bytes(1 << 20)
    with open("/io/flood", "wb") as file:
        while True:
            file.write(block)


def flood_and_leave(request):
    with open("/io/flood", "wb") as file:
        for _ in range(80):
            file.write(bytes(1 << 20))
    os._exit(0)


def many_files(request):
    os.mkdir("/io/many")
    for number in range(10 ** 6):
        open("/io/many/%d" % number, "w").close()


def sparse(request):
    with open("/io/model.ckpt", "w") as file:
        file.truncate(1 << 43)
    time.sleep(3600)


def plant(request):
    os.mkfifo("/io/outcome.json")
    open("/io/attempt-7", "w").close()
    os._exit(1)


if os.path.exists("/io/request.json"):
    main()
"""

MATRIX = """\
version: 1
name: faults
systems: {{cpu: {{cpus: 1, memory: 96m}}}}
frameworks: [{frameworks}]
models: [{{name: mlp, batch_size: 10}}]
repeats: {repeats}
timeout: 6s
"""


def workplace(
    folder: Path, base_image: str, *behaviours: str, broken: bool = False, name: str = "stand-in", talk_mib: int = 40
) -> Path:
    """A folder with a matrix, and with a Dockerfile whose containers behave as told, one repeat after another."""
    image = folder / name
    image.mkdir(parents=True)
    text = MISBEHAVE.replace("(BEHAVIOURS_HERE)", repr(behaviours)).replace("TALK_MIB", str(talk_mib))
    (image / "sitecustomize.py").write_text(text)
    (image / "Dockerfile").write_text(
        f"FROM {base_image.format(python='3.11')}\nCOPY sitecustomize.py /opt/\nENV PYTHONPATH=/opt\n"
    )
    frameworks = [f"{{name: noop, version: '1', dockerfile: {name}/Dockerfile}}"]
    if broken:
        (folder / "broken").mkdir()
        (folder / "broken" / "Dockerfile").write_text(
            f"FROM {base_image.format(python='3.11')}\nRUN echo E: it cannot be built >&2; exit 7\n"
        )
        frameworks.append("{name: noop, version: '2', dockerfile: broken/Dockerfile}")
    (folder / "matrix.yaml").write_text(MATRIX.format(frameworks=", ".join(frameworks), repeats=len(behaviours)))
    return folder


def environment(folder: Path, **changes: str) -> dict[str, str]:
    """The environment of a command, with a cache of its own and whatever is called for."""
    return os.environ | {"XDG_CACHE_HOME": str(folder / "cache")} | changes


def command(*arguments: str, results: str = "results") -> list[str]:
    """The orchestrator's own command, with containers."""
    return [sys.executable, "-m", "orchestrator", *arguments, "--results", results]


def _runtime(arguments: tuple[str, ...]) -> list[str]:
    return [] if "--resume" in arguments else ["--runtime", "docker"]


def run(folder: Path, *arguments: str, results: str = "results", **changes: str) -> "subprocess.CompletedProcess[str]":
    """Run a matrix, or go on with it, to the end of the command."""
    return subprocess.run(
        command("run", "--idle-wait", "0", *_runtime(arguments), *arguments, results=results),
        cwd=folder, env=environment(folder, **changes), capture_output=True, text=True, check=False,
    )  # fmt: skip


def start(folder: Path, *arguments: str, results: str = "results", **changes: str) -> "subprocess.Popen[str]":
    """Start a run, and leave it to itself."""
    return subprocess.Popen(
        command("run", "--idle-wait", "0", *_runtime(arguments), *arguments, results=results),
        cwd=folder, env=environment(folder, **changes), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def until(condition: Callable[[], bool], process: "subprocess.Popen[str]") -> None:
    """Wait for something to come true while a process lives."""
    waiting.until(lambda: process.poll() is not None or condition())
    assert condition(), process.communicate()


def outcomes(results: Path, cell: str = CELL) -> dict[int, dict[str, Any]]:
    """Repeat → outcome, of the only run there is."""
    (run,) = results.glob("*/run.json")
    paths = (run.parent / cell).glob("*/outcome.json")
    return {int(path.parent.name): json.loads(path.read_text()) for path in paths if path.is_file()}


def statuses(results: Path, cell: str = CELL) -> list[str]:
    """Of every repeat in order, how it ended."""
    return [outcome["status"] for _, outcome in sorted(outcomes(results, cell).items())]


def ours(engine: docker.DockerClient, results: Path) -> list[Any]:
    """Containers of the runs in a results folder that are still there, in whatever state."""
    names = {path.parent.name for path in results.glob("*/run.json")}
    there = engine.containers.list(all=True, filters={"label": "bench.run"}, ignore_removed=True)
    return [container for container in there if container.labels["bench.run"] in names]
