"""A container that behaves as its request asks, and a whole orchestrator process around it, for `test_run*.py`.

As a program: `run_support.py RUN_FOLDER BEHAVIOUR REPEATS` runs one cell until it ends or is stopped.
"""

import io
import os
import signal
import sys
import tarfile
import threading
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import docker

from orchestrator.build_settings import BuildSettings
from orchestrator.devices import inventory
from orchestrator.domain import Cell, Duration, Environment, Framework, ImageSpec, Mode, Outcome, Plan, System, Workload
from orchestrator.engine.client import connect
from orchestrator.events import Listener, ignore
from orchestrator.processes import Stop
from orchestrator.results.store import Run
from orchestrator.running import Policy, Surroundings, execute
from orchestrator.runtimes import DockerRuntime, Provided, Ready, limits_of, this_process

LABEL = "bench.test-run"
IMAGE = "bench-test-run/behave:1"
SYSTEM = System("cpu", cpus=1, memory_bytes=128 * 2**20)

BEHAVE = r"""
import ctypes, json, os, resource, socket, sys, time

request = json.load(open("/io/request.json"))
behaviour = request["model"]


def phase(word):
    with open("/io/phase", "w") as file:
        file.write(word + "\n")


def attempt(action):
    try:
        return str(action())
    except Exception as error:
        return type(error).__name__


def look():
    status = dict(line.rstrip("\n").split(":\t", 1) for line in open("/proc/self/status") if ":\t" in line)
    mounts = [line.split() for line in open("/proc/mounts")]
    return {
        "uid": os.getuid(), "gid": os.getgid(), "home": os.environ["HOME"],
        "interfaces": sorted(os.listdir("/sys/class/net")),
        "connect": attempt(lambda: socket.create_connection(("192.0.2.1", 80), timeout=2)),
        "capabilities": status["CapEff"].strip(), "bounding": status["CapBnd"].strip(),
        "no_new_privileges": status["NoNewPrivs"].strip(), "cpus": sorted(os.sched_getaffinity(0)),
        "write_root": attempt(lambda: open("/opt/x", "w")),
        "write_io": attempt(lambda: open("/io/own", "w").write("x")),
        "run_tmp": attempt(run_tmp), "mounts": {m[1]: m[3] for m in mounts if m[1] in ("/", "/tmp", "/dev/shm", "/io")},
        "environment": {k: v for k, v in os.environ.items() if k.endswith("_THREADS")},
        "cuda": os.environ.get("CUDA_VISIBLE_DEVICES"), "devices": sorted(os.listdir("/dev")),
        "mount_points": sorted(m[1] for m in mounts), "seccomp": status["Seccomp"].strip(),
        "capability_sets": sorted({status[name].strip() for name in status if name.startswith("Cap")}),
        "hostname": socket.gethostname(), "variables": sorted(os.environ), "groups": os.getgroups(),
        "processes": sum(name.isdigit() for name in os.listdir("/proc")),
        "memory_bytes": limit("memory/memory.limit_in_bytes", "memory.max"), "pids": limit("pids/pids.max", "pids.max"),
        "names": open("/etc/resolv.conf").read(), "core": resource.getrlimit(resource.RLIMIT_CORE)[0],
        "sysctl": attempt(lambda: open("/proc/sys/kernel/hostname", "w").write("x")),
        "mount": attempt(lambda: ctypes.CDLL(None).mount(b"/tmp", b"/opt", None, 4096, None)),
        "become_root": attempt(lambda: os.setuid(0)) if os.getuid() else "None",
    }


def limit(*places):
    for place in places:
        try:
            return open("/sys/fs/cgroup/" + place).read().strip()
        except OSError:
            pass


def run_tmp():
    with open("/tmp/tool", "w") as file:
        file.write("#!/bin/sh\nexit 7\n")
    os.chmod("/tmp/tool", 0o700)
    return os.system("/tmp/tool") >> 8


def spawn():
    children = []
    try:
        for _ in range(6000):
            pid = os.fork()
            if pid == 0:
                time.sleep(60)
                os._exit(0)
            children.append(pid)
        return "unbounded"
    finally:
        for pid in children:
            os.kill(pid, 9)


def eat():
    held = []
    while True:
        held.append(b"x" * (1 << 20))


facts = {}
phase("import")
if behaviour == "look":
    facts = look()
elif behaviour == "spawn":
    facts = {"pids": attempt(spawn)}
elif behaviour == "hang":
    phase("steady")
    print("hanging", flush=True)
    time.sleep(3600)
elif behaviour == "eat":
    eat()
elif behaviour == "crash":
    ctypes.string_at(0)
elif behaviour == "raise":
    raise ValueError("the \x1b[31mgradient\x1b[0m is gone")
elif behaviour == "silent":
    sys.exit(0)
elif behaviour == "talk":
    for _ in range(40):
        sys.stdout.write("x" * (1 << 20))
    print("\nthe last word")
elif behaviour == "pipe":
    os.mkfifo("/io/result.json")
    sys.exit(0)
elif behaviour.startswith("exit"):
    print("so it is", file=sys.stderr)
    sys.exit(int(behaviour[4:]))
block = {"steps": 50, "samples": 50 * request["batch_size"], "wall_s": 0.5, "cpu_s": 0.5}
phases = dict.fromkeys(("import_s", "build_s", "first_step_s", "warmup_s", "steady_s", "latency_s"), 0.1)
first = {"steps": 1, "samples": request["batch_size"], "wall_s": 0.1, "cpu_s": 0.1}
result = {
    "schema": 1, "measurement_version": 1, "cell": request["cell"], "repeat": request["repeat"],
    "started_at": "2026-01-01T00:00:00Z", "phases": phases, "first_step": first, "warmup": [], "blocks": [block] * 10,
    "latency_s": [0.01] * request["latency_steps"], "loss": {"first": 2.3, "last": 1.2},
    "model": {"parameters": 1, "multiply_adds": 1},
    "memory": {"peak_rss_bytes": 1}, "facts": facts,
}
if behaviour == "other":
    result["repeat"] += 1
with open("/io/.result", "w") as file:
    json.dump(result, file)
os.rename("/io/.result", "/io/result.json")
print("measured")
"""


def build_image(client: docker.DockerClient, base: str) -> str:
    """Build the behaving image on a base, and return its name."""
    dockerfile = f'FROM {base}\nLABEL {LABEL}=1\nCOPY behave.py /behave.py\nENTRYPOINT ["python", "/behave.py"]\n'
    context = io.BytesIO()
    with tarfile.open(fileobj=context, mode="w") as archive:
        for name, text in (("Dockerfile", dockerfile), ("behave.py", BEHAVE)):
            entry = tarfile.TarInfo(name)
            entry.size = len(text.encode())
            archive.addfile(entry, io.BytesIO(text.encode()))
    context.seek(0)
    client.images.build(fileobj=context, custom_context=True, tag=IMAGE, rm=True)
    return IMAGE


class BundledImage(DockerRuntime):
    """The docker runtime on an image that is there already."""

    given = IMAGE

    def provide(self, images: Sequence[ImageSpec], **_: object) -> Provided:
        return {image.name: Ready(image.name, self.given) for image in images}


def runtime(client: docker.DockerClient) -> BundledImage:
    user = f"{os.getuid()}:{os.getgid()}"
    return BundledImage(client, BuildSettings(), user=user, owner=this_process(), limits=limits_of(client))


FRAMEWORK = Framework("behave", "1", python="3.11")
SPEC = ImageSpec("bench/behave", "1-cpu", "cpu", FRAMEWORK, Environment("behave", "3.11"))


def cell(behaviour: str, **changes: object) -> Cell:
    made = Cell(
        id=f"behave-1-cpu/{behaviour}-train-b10", framework=FRAMEWORK, system=SYSTEM,
        workload=Workload(behaviour, Mode.TRAIN, 10), image=SPEC.name, duration=Duration(), timeout_s=60.0,
    )  # fmt: skip
    return replace(made, **changes)  # type: ignore[arg-type]


def plan(*cells: Cell) -> Plan:
    return Plan("test", 1, (SPEC,), cells)


def execute_all(
    client: docker.DockerClient,
    folder: Path,
    stop: Stop,
    *cells: Cell,
    policy: Policy | None = None,
    listener: Listener = ignore,
) -> list[Outcome]:
    folder.mkdir(parents=True, exist_ok=True)
    surroundings = Surroundings(Run(folder), runtime(client), inventory(), lambda: datetime.now(UTC), listener, stop)
    return list(execute(plan(*cells), surroundings, policy or Policy()))


def main() -> None:
    folder, behaviour, repeats = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    client = connect(os.environ)
    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    execute_all(client, folder, stop, cell(behaviour, repeats=repeats))


if __name__ == "__main__":
    main()
