"""Limits that no image of one's own can undo and no container can pass, tried from inside."""

import errno
import json
import threading
import tracemalloc
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import docker
import pytest
from docker_images import built

from orchestrator.engine import abilities, ownership, questions
from orchestrator.engine.confinement import Limits, limits_on
from orchestrator.engine.containers import DATA, SCRIPT, ContainerSpec, container
from orchestrator.engine.health import start_fault
from orchestrator.engine.images import BuildError
from orchestrator.processes import StartError
from tests.until import until

pytestmark = pytest.mark.docker
LABEL = "bench.test-confinement"
DOCKERFILE = """\
FROM {base}
RUN mkdir -p /opt/models && echo kept > /opt/models/weights
VOLUME /opt/models /empty /io /tmp /dev/shm
HEALTHCHECK --interval=1s CMD touch /io/healthy
"""
SHM_BYTES = 32 << 20
ASKED = """\
FROM {base}
RUN mkdir -p /opt/models && echo "print('hello'); import sys; print('bye', file=sys.stderr)" > /opt/models/hello.py
VOLUME /opt/models /empty /io /tmp /dev/shm
HEALTHCHECK --interval=1s CMD touch /tmp/healthy
ENTRYPOINT ["python"]
"""
# It sleeps for longer than the interval of the health check: of what never happens there is no event.
LOOK = r"""
import ctypes, json, multiprocessing, os, socket, subprocess, time

library = ctypes.CDLL(None, use_errno=True)


def error_of(action):
    try:
        action()
    except OSError as error:
        return error.errno
    return 0


def refused(action):
    return error_of(action) != 0


def write(path):
    with open(path, "w") as file:
        file.write("x")


def call(number):
    if library.syscall(number, 8, 0, 0, 0, 0) < 0:
        raise OSError(ctypes.get_errno(), "refused")


def text(*paths):
    return next((open(path).read().strip() for path in paths if os.path.exists(path)), "")


def trace():
    if library.ptrace(0, 0, 0, 0) < 0:
        raise OSError(ctypes.get_errno(), "refused")


print(json.dumps({
    "shm": [line.split()[1:4] for line in open("/proc/mounts") if line.split()[1] == "/dev/shm"],
    "shm_bytes": os.statvfs("/dev/shm").f_blocks * os.statvfs("/dev/shm").f_frsize,
    "tmp_bytes": os.statvfs("/tmp").f_blocks * os.statvfs("/tmp").f_frsize,
    "pids": text("/sys/fs/cgroup/pids.max", "/sys/fs/cgroup/pids/pids.max"),
    "memory": text("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"),
    "ptrace": error_of(trace),
    "root": refused(lambda: write("/var/tmp/x")),
    "interfaces": os.listdir("/sys/class/net"),
    "user": os.getuid(),
    "unwritable": [path for path in ("/opt/models/x", "/opt/models/weights", "/empty/x", "/script/x", "/data/x")
                   if refused(lambda: write(path))],
    "writable": [path for path in ("/io/x", "/tmp/x") if not refused(lambda: write(path))],
    "weights": text("/opt/models/weights"),
    "sockets": {family: error_of(lambda: socket.socket(family, 2).close()) for family in range(46)},
    "io_uring": [error_of(lambda: call(number)) for number in (425, 426, 427)],
    "threads": multiprocessing.Pool(2).map(abs, [-1, -2]),
    "child": subprocess.check_output(["echo", "hello"]).decode(),
    "healthy": time.sleep(2) or os.path.exists("/io/healthy") or os.path.exists("/tmp/healthy"),
}))
"""


@pytest.fixture(scope="module")
def image(engine: docker.DockerClient, base_image: str) -> Iterator[str]:
    """An image that declares volumes and a health check."""
    identity = built(engine, DOCKERFILE.format(base=base_image.format(python="3.11")), LABEL)
    yield identity
    engine.images.remove(identity, force=True)


@pytest.fixture(scope="module")
def seen(engine: docker.DockerClient, image: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The abilities of a container of it."""
    folder = tmp_path_factory.mktemp("confinement")
    for name in ("io", "script", "data"):
        (folder / name).mkdir()
    spec = ContainerSpec(
        image, folder / "io", "0:0", ("python", "-c", LOOK), labels=((LABEL, "1"),),
        shown=((folder / "script", SCRIPT), (folder / "data", DATA)),
        limits=limits_on(abilities.read(engine), Limits(shm_bytes=SHM_BYTES)),
    )  # fmt: skip
    with container(engine, spec, folder / "log") as owned:
        owned.start()
        end = owned.wait(120, threading.Event())
    said = (folder / "log").read_text()
    assert end.exit_code == 0, said
    answer: dict[str, Any] = json.loads(said)
    return answer


@pytest.fixture(scope="module")
def asked_image(engine: docker.DockerClient, base_image: str) -> Iterator[str]:
    """An image whose entry point does whatever it is asked."""
    identity = built(engine, ASKED.format(base=base_image.format(python="3.11")), LABEL)
    yield identity
    engine.images.remove(identity, force=True)


@pytest.fixture(scope="module")
def seen_when_asked(engine: docker.DockerClient, asked_image: str) -> dict[str, Any]:
    """The abilities of a container that is asked for its versions."""
    answer: dict[str, Any] = json.loads(questions.ask(engine, asked_image, ["-c", LOOK]))
    return answer


def test_declared_volumes_are_read_only(seen: dict[str, Any], engine: docker.DockerClient) -> None:
    """They hold what the image has there, and none is left behind."""
    assert {"/opt/models/x", "/opt/models/weights", "/empty/x"} <= set(seen["unwritable"])
    assert seen["weights"] == "kept"
    assert engine.volumes.list(filters={"label": LABEL}) == []


def test_script_and_data_are_read_only(seen: dict[str, Any]) -> None:
    assert {"/script/x", "/data/x"} <= set(seen["unwritable"])
    assert seen["writable"] == ["/io/x", "/tmp/x"]


def test_health_check_of_the_image_never_runs(seen: dict[str, Any]) -> None:
    assert seen["healthy"] is False


def test_volume_at_shared_memory_stays_sized(seen: dict[str, Any]) -> None:
    """The engine drops the `/dev/shm` of its own where an image declares a volume there."""
    assert [kind for _, kind, _ in seen["shm"]] == ["tmpfs"]
    assert seen["shm_bytes"] == SHM_BYTES


@pytest.mark.parametrize("fixture", ["seen", "seen_when_asked"])
def test_no_ring_or_strange_socket_can_be_opened(fixture: str, request: pytest.FixtureRequest) -> None:
    """io_uring and the sockets of virtual machines (AF_VSOCK, 40) lead around what a filter sees."""
    seen = request.getfixturevalue(fixture)
    by_the_filter = {errno.EPERM, errno.ENOSYS}  # a kernel without the family says something else
    assert set(seen["io_uring"]) <= by_the_filter
    assert {int(family) for family, error in seen["sockets"].items() if error not in by_the_filter} == {1, 2, 10, 16}
    assert (seen["sockets"]["1"], seen["sockets"]["2"]) == (0, 0)
    assert seen["ptrace"] in by_the_filter


def test_asked_image_is_confined_like_a_measured_one(seen_when_asked: dict[str, Any]) -> None:
    seen, own = seen_when_asked, questions.LIMITS
    limits = (int(seen["pids"]), int(seen["memory"]), seen["tmp_bytes"], seen["shm_bytes"])

    assert limits == (own.pids, own.memory_bytes, own.tmp_bytes, own.shm_bytes)
    assert (seen["root"], seen["interfaces"], seen["user"], seen["healthy"]) == (True, ["lo"], 65534, False)
    assert seen["writable"] == ["/tmp/x"]
    assert [kind for _, kind, _ in seen["shm"]] == ["tmpfs"]


def test_answer_is_standard_output_alone(engine: docker.DockerClient, asked_image: str) -> None:
    assert questions.ask(engine, asked_image, ["/opt/models/hello.py"]) == "hello\n"
    assert left(engine) == ([], [])


def test_flood_of_an_asked_image_is_bounded(engine: docker.DockerClient, asked_image: str) -> None:
    """Neither the engine nor this process keeps what an image says without an end."""
    program = "import sys\nfor _ in range(256): sys.stdout.write('x' * (1 << 20))"
    tracemalloc.start()
    answer = questions.ask(engine, asked_image, ["-c", program])
    _, peak_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert len(answer) < 2 * questions.ANSWER_BYTES
    assert peak_bytes < 64 << 20


@pytest.fixture(scope="module")
def asked_host_options(engine: docker.DockerClient, asked_image: str) -> dict[str, Any]:
    """The options of a container that is asked, as the engine keeps them."""

    def ask() -> None:
        with suppress(BuildError):  # it is killed
            questions.ask(engine, asked_image, ["-c", "import signal; signal.pause()"])

    asking = threading.Thread(target=ask, daemon=True)
    asking.start()
    own = {"label": f"{ownership.LABEL}={ownership.this_process()}"}
    until(lambda: engine.containers.list(filters=own))
    (found,) = engine.containers.list(filters=own)
    host: dict[str, Any] = found.attrs["HostConfig"]
    found.kill()
    asking.join()
    return host


def test_asked_image_keeps_no_log_on_the_engine(asked_host_options: dict[str, Any]) -> None:
    assert asked_host_options["LogConfig"]["Type"] == "none"


def test_asked_image_shares_no_memory(asked_host_options: dict[str, Any]) -> None:
    assert asked_host_options["IpcMode"] == "private"


def test_silent_image_is_given_up_and_removed(engine: docker.DockerClient, asked_image: str) -> None:
    with pytest.raises(BuildError, match="did not answer within 2 s"):
        questions.ask(engine, asked_image, ["-c", "import signal; signal.pause()"], timeout_s=2)

    assert left(engine) == ([], [])


def test_failure_of_asked_image_is_last_line(engine: docker.DockerClient, asked_image: str) -> None:
    """An asked image that fails is reported by the last line of its output."""
    with pytest.raises(BuildError, match=r"^no such thing$"):
        questions.ask(engine, asked_image, ["-c", "import sys; print('first', flush=True); sys.exit('no such thing')"])


def test_probe_of_the_engine_starts_any_image(engine: docker.DockerClient, asked_image: str) -> None:
    assert start_fault(engine, asked_image, None) is None
    assert start_fault(engine, asked_image, "host") is None
    assert left(engine) == ([], [])


def left(engine: docker.DockerClient) -> tuple[list[Any], list[Any]]:
    """List the containers and the volumes that this process has left."""
    own = {"label": f"{ownership.LABEL}={ownership.this_process()}"}
    return engine.containers.list(all=True, filters=own), engine.volumes.list(filters=own)


def test_processes_and_pools_still_work(seen: dict[str, Any]) -> None:
    assert (seen["threads"], seen["child"]) == ([1, 2], "hello\n")


@pytest.mark.parametrize(
    "path", ["/io/cache", "/tmp/x", "/dev", "/dev/mqueue", "/dev/shm/x", "/proc", "/sys/fs/cgroup"]
)
def test_volume_that_cannot_be_covered_is_refused(
    path: str, engine: docker.DockerClient, base_image: str, tmp_path: Path
) -> None:
    identity = built(engine, f"FROM {base_image.format(python='3.11')}\nVOLUME {path}\n", LABEL)
    refusal = pytest.raises(StartError, match=f"declares a volume '{path}' in a .*; remove it from the image")
    try:
        with refusal, container(engine, ContainerSpec(identity, tmp_path, "0:0"), tmp_path / "log"):
            pass
    finally:
        engine.images.remove(identity, force=True)
