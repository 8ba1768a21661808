"""Interpreters at hand, and folders with a request in them."""

import json
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from container_support import (
    CATALOG,
    FAST,
    NEWEST,
    OTHERS,
    RELEASES,
    REQUIRED,
    WITH_EXPORTERS,
    Check,
    Measure,
    document,
    missing_interpreter,
    skip_if_lacking,
    start,
    trains,
)

from orchestrator.build_settings import BuildSettings
from orchestrator.catalog import Catalog
from orchestrator.domain import ImageSpec
from orchestrator.events import ignore
from orchestrator.resources import BENCHMARKS, ROOT
from orchestrator.results.container_answers import read_result
from orchestrator.results.contract import Result
from orchestrator.results.parity.contract import ParityResult
from orchestrator.runtimes import VenvRuntime, local
from orchestrator.runtimes.local import Interpreter
from orchestrator.runtimes.model import Ready
from orchestrator.workflows.host import places
from orchestrator.workflows.inputs.planned_matrix import site_settings


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests as slow that are `slow_in` the framework they ask, before any is left out."""
    for item in items:
        framework = getattr(item, "callspec", None) and item.callspec.params.get("environment")
        if any(framework in mark.args for mark in item.iter_markers("slow_in")):
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session", params=(*REQUIRED, NEWEST))
def python(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Interpreter:
    """Each Python from 3.6 that this host has."""
    found = local.find_interpreter(request.param, os.environ, Path(sys.executable), tmp_path_factory.mktemp("ask"))
    if found is None:
        missing_interpreter(request.param, f"no Python {request.param} here")
    return found


@pytest.fixture
def io(tmp_path: Path) -> Callable[..., Path]:
    """Make a folder with a request in it."""

    def make(**changes: Any) -> Path:
        (tmp_path / "request.json").write_text(json.dumps(document(**changes)))
        return tmp_path

    return make


@pytest.fixture(scope="session")
def catalog() -> Catalog:
    return CATALOG


@pytest.fixture(
    scope="session", params=[pytest.param(name, marks=() if name in FAST else pytest.mark.slow) for name in RELEASES]
)
def environment(
    request: pytest.FixtureRequest, catalog: Catalog, tmp_path_factory: pytest.TempPathFactory
) -> tuple[ImageSpec, Ready]:
    """The virtual environment of a release, as a run with `--runtime venv` makes and keeps it."""
    release = (RELEASES | OTHERS | WITH_EXPORTERS)[request.param]
    environment = catalog.environment(release, gpus=0)
    image = ImageSpec(f"bench/{request.param}", "test-cpu", "cpu", release, environment)
    settings = site_settings(BuildSettings(), None, os.environ)
    runtime = VenvRuntime(places.cache_folder(os.environ), settings, os.environ)
    logs = tmp_path_factory.mktemp("logs")
    ready = runtime.provide([image], jobs=1, logs=logs, listener=ignore, stop=Event())[image.name]
    if "no Python" in getattr(ready, "reason", ""):
        missing_interpreter(environment.python, ready.reason)
    assert isinstance(ready, Ready), ready
    return image, ready


@pytest.fixture
def training(environment: tuple[ImageSpec, Ready]) -> None:
    """Skip a framework that has no training."""
    builder = environment[0].environment.builder
    if not trains(builder):
        pytest.skip(f"{builder} lacks training")


@pytest.fixture
def measure(environment: tuple[ImageSpec, Ready], io: Callable[..., Path]) -> Measure:
    """Measure briefly in the environment and return the result."""
    image, ready = environment

    def run(**changes: Any) -> Result:
        asked = {"threads": 1, "steps": 20, "min_blocks": 2, "min_block_s": 0.02, "latency_steps": 5} | changes
        folder = io(builder=image.environment.builder, framework=image.framework.name, **asked)
        ended = start(
            "--io", str(folder), python=ready.handle, OMP_NUM_THREADS=str(asked["threads"]), **dict(ready.variables)
        )
        skip_if_lacking(image.environment.builder, ended)
        assert ended.returncode == 0, ended.stderr
        return read_result(folder / "result.json")

    return run


@pytest.fixture(scope="session")
def answers() -> dict[str, ParityResult]:
    """Answers of parity checks by what was asked, so that no test asks a framework the same thing twice."""
    return {}


@pytest.fixture
def check(
    environment: tuple[ImageSpec, Ready],
    io: Callable[..., Path],
    tmp_path: Path,
    answers: dict[str, ParityResult],
) -> Check:
    """Ask the framework for a parity check of a model of the package, or of a file beside this one.

    With `anew`, or another `path` of the benchmarks, it is asked even if it has answered the same before.
    """
    image, ready = environment

    def run(model: str, *, path: Path = ROOT, anew: bool = False, **changes: Any) -> ParityResult:
        own = Path(__file__).with_name(f"{model}.py")
        if own.exists():
            shutil.copy(own, tmp_path)
            changes["model_file"] = own.name
        asked = {"builder": image.environment.builder, "batch_size": 128, "threads": 1} | changes
        files = [tmp_path / str(value) for name, value in asked.items() if name.endswith("_file")]
        key = json.dumps([image.name, model, asked, [file.read_text() for file in files]], sort_keys=True)
        if anew or path != ROOT or key not in answers:
            answer = _answer(io(model=model, mode="parity", **asked), ready, image.environment.builder, path)
            if path != ROOT:
                return answer
            answers[key] = answer
        return answers[key]

    return run


def _answer(folder: Path, ready: Ready, builder: str, path: Path) -> ParityResult:
    ended = start("--io", str(folder), python=ready.handle, path=path, **dict(ready.variables))
    skip_if_lacking(builder, ended)
    assert ended.returncode == 0, ended.stderr
    return ParityResult.model_validate_json((folder / "result.json").read_bytes())


@pytest.fixture
def with_builder(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Lay `benchmarks/` out anew with one more builder in it, and return the folder above."""

    def make(name: str, text: str) -> Path:
        folder = tmp_path_factory.mktemp("source")
        shutil.copytree(BENCHMARKS, folder / "benchmarks", ignore=shutil.ignore_patterns("__pycache__"))
        (folder / "benchmarks" / "frameworks" / f"{name}.py").write_text(text)
        return folder

    return make
