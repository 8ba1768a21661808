"""One direction of imports: a part imports only from those before it."""

import ast
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

import orchestrator

PACKAGE = Path(orchestrator.__file__).parent
ORDER = [
    "errors", "encoded", "brought", "domain", "events", "resources", "files", "logs", "processes", "engine", "catalog",
    "matrix", "planning", "results", "images", "devices", "runtimes", "running", "analysis", "regression", "bundles",
    "reporting", "cli",
]  # fmt: skip
BUNDLES: dict[str, set[str]] = {
    "format": set(),
    "describe": {"format"},
    "program": {"format"},
    "write": {"format", "describe", "program"},
    "read": {"format"},
    "returns": {"format"},
}
"""The parts of `bundles/`, and the other parts that each may import."""
REGRESSION = ["core", "judge", "trials", "stored_runs", "releases", "search", "history", "nightly"]
"""The sub-packages of `regression`, and before them its own modules."""
ENTRY = {PACKAGE / "__init__.py", PACKAGE / "__main__.py"}
MODULES = sorted(set(PACKAGE.rglob("*.py")) - ENTRY)


def _part(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def _imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: relative import"
            yield node.module or ""
            if node.module == "orchestrator":
                yield from (f"orchestrator.{alias.name}" for alias in node.names)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_module_imports_only_from_parts_before_its_own(path: Path) -> None:
    own = ORDER.index(_part(path))
    later = [
        name
        for name in _imports(path)
        if name.startswith("orchestrator.") and name.split(".")[1] in ORDER and ORDER.index(name.split(".")[1]) > own
    ]
    assert later == []


@pytest.mark.parametrize("part", BUNDLES)
def test_parts_of_bundles_import_one_way(part: str) -> None:
    folder = PACKAGE / "bundles" / part
    names = {name for path in folder.rglob("*.py") for name in _imports(path)}
    imported = {name.split(".")[2] for name in names if name.startswith("orchestrator.bundles.")}

    assert "orchestrator.bundles" not in names
    assert imported - {part} <= BUNDLES[part]


def test_the_parts_of_bundles_are_complete() -> None:
    assert {path.parent.name for path in (PACKAGE / "bundles").rglob("*.py")} == {*BUNDLES, "bundles"}


def _regression_part(parts: Sequence[str]) -> int:
    return REGRESSION.index(parts[0] if parts and parts[0] in REGRESSION else "core")


@pytest.mark.parametrize(
    "path", sorted((PACKAGE / "regression").rglob("*.py")), ids=lambda path: str(path.relative_to(PACKAGE))
)
def test_parts_of_regression_import_in_one_direction(path: Path) -> None:
    own = _regression_part(path.relative_to(PACKAGE / "regression").parts)
    imported = [name.split(".")[2:] for name in _imports(path) if name.startswith("orchestrator.regression.")]
    assert [".".join(parts) for parts in imported if _regression_part(parts) > own] == []


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_only_the_command_line_reads_the_environment(path: Path) -> None:
    if _part(path) == "cli":
        return
    reads = [
        node.lineno
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute) and node.attr in {"environ", "getenv"}
    ]
    assert reads == []


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_only_one_module_starts_processes_and_only_one_package_speaks_to_the_engine(path: Path) -> None:
    imported = {name.split(".")[0] for name in _imports(path)}

    assert "subprocess" not in imported or _part(path) == "processes"
    assert "docker" not in imported or _part(path) in {"engine", "images", "runtimes", "bundles"}
