"""The sources of packages: uv and pip get the same, and the framework's own index only if it is needed."""

import socket
import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from orchestrator.build_settings import BuildSettings
from orchestrator.domain import Environment, Framework, ImageSpec
from orchestrator.runtimes import sources

INDEX = "https://cpu.example/whl"
TORCH = Framework("torch", "2.13.0", python="3.11")
ENVIRONMENT = Environment("torch", "3.11", ("torch==2.13.0", "numpy==2.2.0"), package_index=INDEX)
IMAGE = ImageSpec("bench/torch", "2.13.0-cpu", "cpu", TORCH, ENVIRONMENT)
GPU = ImageSpec("bench/torch", "2.13.0-1_gpu", "1_gpu", TORCH, Environment("torch", "3.11", ("torch==2.13.0",)))


def wheels(folder: Path, *names: str) -> BuildSettings:
    for name in names:
        (folder / name).touch()
    return BuildSettings(find_links=(str(folder),))


def test_both_tools_get_the_same_variables() -> None:
    """Both tools are given the same, and only what they need of the host."""
    settings = BuildSettings(
        pip_index="https://me:secret@index.example/simple", extra_indexes=("https://a.example", "https://b.example"),
        find_links=("/wheels", "/more"), trusted_hosts=("a.example",), ca_bundle="/ca.pem",
        proxies=(("https_proxy", "http://proxy:3128"),),
    )  # fmt: skip
    host = {"PATH": "/bin", "HOME": "/home/x", "SECRET": "x", "PIP_INDEX_URL": "https://other", "PYTHONPATH": "/x"}
    told = sources.variables(settings, host, Path("/cache"))

    assert told["UV_DEFAULT_INDEX"] == told["PIP_INDEX_URL"] == "https://me:secret@index.example/simple"
    assert told["UV_INDEX"] == told["PIP_EXTRA_INDEX_URL"] == "https://a.example https://b.example"
    assert (told["UV_FIND_LINKS"], told["PIP_FIND_LINKS"]) == ("/wheels,/more", "/wheels /more")
    assert told["SSL_CERT_FILE"] == told["PIP_CERT"] == "/ca.pem"
    assert told["https_proxy"] == "http://proxy:3128"
    assert (told["PATH"], told["HOME"]) == ("/bin", "/home/x")
    assert not {"SECRET", "PYTHONPATH"} & set(told)


def test_what_is_not_set_is_not_told() -> None:
    told = sources.variables(BuildSettings(), {}, Path("/cache"))

    assert not {"PIP_INDEX_URL", "UV_INDEX", "PIP_CERT", "SSL_CERT_FILE", "PIP_FIND_LINKS", "PATH"} & set(told)


def test_own_index_is_asked_only_if_needed(tmp_path: Path) -> None:
    """The own index is asked only where no folder offers the framework."""
    assert sources.indexed(IMAGE, BuildSettings()) == "torch==2.13.0"
    assert sources.indexed(IMAGE, wheels(tmp_path, "torch-2.12.0+cpu-cp311-cp311-linux_x86_64.whl")) == "torch==2.13.0"
    assert sources.indexed(IMAGE, wheels(tmp_path, "torch-2.13.0+cpu-cp310-cp310-linux_x86_64.whl")) == "torch==2.13.0"
    assert sources.indexed(IMAGE, wheels(tmp_path, "torch-2.13.0+cpu-cp311-cp311-linux_x86_64.whl")) is None
    assert sources.indexed(GPU, BuildSettings()) is None


def test_keras_index_has_the_backend() -> None:
    """For Keras on a backend, it is the backend that the index has."""
    keras = ImageSpec(
        "bench/keras", "3-on-torch-cpu", "cpu", Framework("keras", "3.0", backend=TORCH, python="3.11"),
        Environment("keras", "3.11", ("keras==3.0", "torch==2.13.0"), package_index=INDEX),
    )  # fmt: skip

    assert sources.indexed(keras, BuildSettings()) == "torch==2.13.0"


def test_the_own_index_is_asked_alone() -> None:
    site = BuildSettings(pip_index="https://index.example", extra_indexes=("https://a.example",), no_index=True)
    own = sources.own_index(IMAGE, site)

    assert (own.pip_index, own.extra_indexes, own.no_index) == (INDEX, (), False)


def test_gpu_environment_refuses_cpu_builds(tmp_path: Path) -> None:
    """A GPU environment refuses the CPU builds of a folder."""
    settings = wheels(
        tmp_path, "torch-2.13.0+cpu-cp311-cp311-linux_x86_64.whl", "torch-2.13.0+cu126-cp311-cp311-linux_x86_64.whl"
    )

    assert sources.refused(GPU, settings) == ("torch!=2.13.0+cpu",)
    assert sources.refused(IMAGE, settings) == ()


def test_refusing_index_is_named_without_password() -> None:
    """An index that refuses connections is reported without its password."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    reason = sources.unreachable(f"http://me:secret@127.0.0.1:{port}/whl", BuildSettings())

    assert reason == f"127.0.0.1:{port}/whl does not answer (ConnectionError)"


def test_silent_index_costs_only_the_limit() -> None:
    """An index that never answers costs no more time than the limit."""
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        began = time.monotonic()
        reason = sources.unreachable(f"http://127.0.0.1:{silent.getsockname()[1]}", BuildSettings(), timeout_s=0.3)

    assert reason is not None
    assert "ReadTimeout" in reason
    assert time.monotonic() - began < 120  # it would never answer


@pytest.mark.parametrize(("status", "said"), [(200, None), (404, "answers 404")])
def test_index_is_judged_by_its_answer(status: int, said: str | None) -> None:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status)
            self.end_headers()

        def log_message(self, *_: object) -> None: ...

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.handle_request, daemon=True).start()
        reason = sources.unreachable(f"http://127.0.0.1:{server.server_port}", BuildSettings())

    assert (reason is None) if said is None else (reason is not None and said in reason)
