"""The container side runs where old frameworks live: Python 3.6 and newer, with the standard library alone."""

import ast
import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from container_support import CATALOG, missing_interpreter, start
from packaging.requirements import Requirement

from orchestrator.resources import BENCHMARKS, ROOT
from orchestrator.results.container_answers import read_result
from orchestrator.runtimes.local import Interpreter

FILES = sorted(BENCHMARKS.rglob("*.py"))


def own(builder: str) -> set[str]:
    """Return what a builder may import beside: its framework, a backend, and what the catalog installs with them."""
    entries = [entry for entry in CATALOG.entries.values() if entry.builder == builder]
    lines = [line for entry in entries for release in entry.releases for line in release.requirements]
    backends = [backend for entry in entries for backend in entry.backends]
    distributions = [distribution for entry in entries for distribution in entry.packages.values()]
    return {builder, *builder.split("_"), *backends, *distributions, *(Requirement(line).name for line in lines)}


def beside(backend: str) -> set[str]:
    """Return what the catalog installs where a framework is a backend, with what joins the two."""
    releases = [
        release for entry in CATALOG.entries.values() if backend in entry.backends for release in entry.releases
    ]
    lines = [line for each in releases for line in (*each.requirements, *each.backend_requirements.get(backend, ()))]
    return {Requirement(line).name for line in lines}


def of_frameworks(path: Path) -> set[str]:
    """Return what a file may import for the builders that it serves.

    These are each builder that names it, or those of its own name.
    """
    builders = [file for file in FILES if file.parent.name == "frameworks" and file.stem != "__init__"]
    if path in builders:
        return own(path.stem)
    is_native = "native" in {path.parent.name, path.parent.parent.name}
    of_folder = [file.stem for file in builders if file.stem.startswith(path.parent.name)]
    if is_native and of_folder:  # a folder for the builders whose names begin with its own
        return set().union(*map(own, of_folder))
    if path.parent.name == "exporters":
        return own(path.stem) | beside(path.stem)
    if not is_native and path.parent.name not in {"loaders", "operators", "parallel"}:
        return set()
    naming = [file.stem for file in builders if path.stem in file.read_text(encoding="utf-8")]
    return set().union(*map(own, naming or [path.stem]))


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_file_parses_as_python_3_6(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"), feature_version=(3, 6))

    # The flag above lets these pass: they are syntax that 3.6 rejects, or modules it lacks.
    newer = [node for node in ast.walk(tree) if isinstance(node, (ast.NamedExpr, ast.Match, ast.TryStar))]
    positional = [node for node in ast.walk(tree) if isinstance(node, ast.arguments) and node.posonlyargs]
    assert newer + positional == []


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_files_import_only_numpy_and_their_framework(path: Path) -> None:
    """Every file imports only the standard library, NumPy and its framework."""
    allowed = sys.stdlib_module_names | {"benchmarks", "numpy", "pynvml"} | of_frameworks(path)

    imported = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            imported |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            imported.add((node.module or "").partition(".")[0])
    assert imported - allowed == set()
    assert not imported & {"dataclasses", "__future__"}, "these came after Python 3.6"


def test_missing_interpreter_fails_only_where_required(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A missing interpreter fails where it is required and is skipped elsewhere."""
    monkeypatch.setenv("BENCH_REQUIRE_INTERPRETERS", "1")
    with pytest.raises(pytest.fail.Exception, match=r"no Python 3\.6, and BENCH_REQUIRE_INTERPRETERS=1"):
        missing_interpreter("3.6", "no Python 3.6")
    with pytest.raises(pytest.skip.Exception):
        missing_interpreter("3.14", "no Python 3.14")

    monkeypatch.delenv("BENCH_REQUIRE_INTERPRETERS")
    with pytest.raises(pytest.skip.Exception):
        missing_interpreter("3.6", "no Python 3.6")


def test_a_noop_cell_is_measured_under_every_interpreter(python: Interpreter, io: Callable[..., Path]) -> None:
    folder = io()

    ended = start("--io", str(folder), python=python.path)

    assert ended.returncode == 0, ended.stderr
    result = read_result(folder / "result.json")
    assert result.model.parameters == 60_170
    assert result.facts["python"] == python.version
    assert len(result.blocks) >= 10


def test_interpreter_reports_version_and_distributions(python: Interpreter) -> None:
    """An interpreter reports its version and distributions without a framework."""
    ended = start("--versions", python=python.path)

    assert ended.returncode == 0, ended.stderr
    said = json.loads(ended.stdout)
    assert set(said) == {"python", "versions"}
    assert said["python"] == python.version


def test_the_distributions_told_are_those_that_importlib_finds() -> None:
    from importlib.metadata import distributions

    said = json.loads(start("--versions").stdout)["versions"]

    theirs = {
        item.metadata["Name"].replace("_", "-").replace(".", "-").lower(): item.version for item in distributions()
    }
    assert said == theirs


def test_a_noop_start_imports_neither_numpy_nor_argparse(io: Callable[..., Path]) -> None:
    folder = io()

    ended = start("--io", str(folder), PYTHONPROFILEIMPORTTIME="1")

    assert ended.returncode == 0
    imported = {line.rpartition("|")[2].strip() for line in ended.stderr.splitlines()}
    assert "benchmarks.timing.measure" in imported
    assert imported & {"numpy", "argparse", "statistics", "traceback"} == set()
