"""Requests, and a way to start the container side, for its tests."""

import ast
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NoReturn

import pytest
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from benchmarks import contract
from benchmarks.vocabulary import features
from orchestrator import catalog
from orchestrator.catalog.model_files import python_file
from orchestrator.domain import Framework
from orchestrator.resources import BENCHMARKS, IMAGES, ROOT
from orchestrator.results.contract import Result
from orchestrator.results.parity.contract import ParityResult
from tests.seen_backends import seen_backends
from tests.until import LIMIT_S

REQUIRED = tuple(f"3.{minor}" for minor in range(6, 14))
NEWEST = "3.14"
"""Tried where it is at hand; no gate needs it."""

Measure = Callable[..., Result]
Check = Callable[..., ParityResult]
MXNET_1_5 = Framework("mxnet", "1.5.1")
FAST = {"torch", "mxnet"}
"""Frameworks whose tests run in `make test` too."""
CATALOG = catalog.load(IMAGES / "catalog")


def newest(name: str) -> Framework:
    """Return the newest release of a framework that was seen to run, on its backend where it needs one."""
    releases = list(known_releases(name))
    assert releases, f"{name} has no release in `known` of its catalog file"
    return max(releases, key=lambda release: Version(release.version))


def known_releases(name: str) -> Iterator[Framework]:
    """Yield every release that was seen to train, on every backend that it was seen on.

    One that needs links in its file system, or a folder for what it compiles, as an image has them, is left out;
    `tests/docker/test_parity_on_backends.py` asks it.
    """
    for version in CATALOG.seen(name):
        for backend in seen_backends(CATALOG, name, version) or (None,):
            release = Framework(name, version, backend=backend)
            environment = CATALOG.environment(release, 0)
            if not environment.links and not environment.compile_cache:
                yield release


MEASURED = [entry for entry in CATALOG.entries.values() if entry.builder and entry.computes]
RELEASES = {name: newest(name) for entry in MEASURED for name in entry.packages} | {"mxnet-1.5.1": MXNET_1_5}
"""Every framework and flavour of the catalog, and one release more, which are asked everything."""


def offers(builder: str) -> frozenset[str] | tuple[str, ...] | None:
    """Return the features that a builder names as all that it has; None for one that has the common ones."""
    _, tree = python_file.read(BENCHMARKS / "frameworks" / f"{builder}.py")
    for statement in tree.body:
        if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "OFFERS":
            # Without its framework the file cannot be imported; what it names is in terms of `features` alone.
            return eval(ast.unparse(statement.value), {"features": features})  # type: ignore[no-any-return]
    return None


def trains(builder: str) -> bool:
    """Return whether a builder has training."""
    return "training" in (offers(builder) or ("training",))


def asked_of(name: str) -> Iterator[Framework]:
    """Yield the releases that tests ask: every one, or of what infers alone the oldest of each range of the catalog.

    The environments of all its releases would fill a disk.
    """
    entry, releases = CATALOG.entries[name], list(known_releases(name))
    if not (entry.computes and entry.builder) or trains(entry.builder):
        yield from releases
        return
    for held in (SpecifierSet(release.versions) for release in entry.releases):
        yield min((each for each in releases if each.version in held), key=lambda each: Version(each.version))


OTHERS = {
    each.label: each
    for name, entry in CATALOG.entries.items()
    for each in asked_of(name)
    if entry.computes and each not in RELEASES.values()
}
"""The other releases that were seen to run, which are asked what `test_releases.py` asks."""
WITH_EXPORTERS = {
    each.label: each
    for each in (
        Framework("onnxruntime", "1.32.0", Framework("torch", "2.13.0")),
        Framework("openvino", "2026.4.1", Framework("torch", "2.13.0")),
        Framework("onnxruntime", "1.32.0", Framework("tensorflow", "2.21.0")),
        Framework("onnxruntime", "1.32.0", Framework("jax", "0.12.0.1")),
        Framework("onnxruntime", "1.19.2", Framework("mxnet", "1.9.1")),
    )
}
"""Engines beside frameworks, whose own exporters write the files."""
SOME_OTHERS = {label for label, each in OTHERS.items() if each.name == "keras3" and each.backend.name == "torch"}
"""Those of the others that are asked in `make test` too: on PyTorch, which it installs anyway, Keras 3 costs little."""


def skip_if_lacking(builder: str, ended: subprocess.CompletedProcess[str]) -> None:
    """Skip where a builder that names its features says that it lacks one."""
    if ended.returncode == 3 and offers(builder) is not None and " lacks " in ended.stderr:
        pytest.skip(ended.stderr.rstrip().rpartition("\n")[2])


def missing_interpreter(python: str, what: str) -> NoReturn:
    """Skip where this host lacks a Python; fail where the environment says that it must be there."""
    if os.environ.get("BENCH_REQUIRE_INTERPRETERS") == "1" and python in REQUIRED:
        pytest.fail(f"{what}, and BENCH_REQUIRE_INTERPRETERS=1 says that there must be one")
    pytest.skip(what)


def document(**changes: Any) -> dict[str, Any]:
    """A request as the host writes it, for the noop builder, with changes."""
    return {
        "schema": 1, "cell": "noop-1-cpu/lenet-train-b200", "repeat": 0, "framework": "noop", "builder": "noop",
        "model": "lenet", "mode": "train", "batch_size": 200, "dataset": "synthetic", "options": {}, "seed": 0,
        "threads": None, "cpuset": None, "gpus": 0, "warmup_steps": 10, "steps": 50, "epochs": None,
        "min_blocks": 10, "min_block_s": 0.2, "latency_steps": 50,
    } | changes  # fmt: skip


def request_of(**changes: Any) -> contract.Request:
    """The same request, read and checked."""
    return contract.request(document(**changes))


def start(
    *arguments: str, python: Path | str = sys.executable, path: Path = ROOT, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run `python -m benchmarks.run` with arguments, in an environment of its own."""
    environment = {"PATH": os.environ["PATH"], "HOME": os.environ["HOME"], "PYTHONPATH": str(path)} | variables
    command = [str(python), "-m", "benchmarks.run", *arguments]
    return subprocess.run(
        command, env=environment, cwd=path, capture_output=True, text=True, timeout=LIMIT_S, check=False
    )
