"""One direction of imports: a part imports only from those before it."""

import ast
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

import pytest

import orchestrator

PACKAGE = Path(orchestrator.__file__).parent
ORDER = [
    "errors", "documents", "wording", "openmetrics", "limits", "user_files", "studies", "modes", "domain",
    "build_settings", "events", "resources", "files", "processes", "engine", "networks", "catalog", "datasets",
    "matrix", "planning", "results", "foreign", "images", "devices", "runtimes", "running", "clusters", "analysis",
    "regression", "tables", "bundles",
    "reporting", "server", "workflows", "api", "cli",
]  # fmt: skip
WITHIN = {
    "bundles": {
        "format": (), "describe": ("format",), "program": ("format",), "read": ("format",), "returns": ("format",),
        "write": ("format", "describe", "program"),
    },
    "reporting": {
        "inline": (), "measures": (), "live": (), "selected": ("findings",), "findings": ("inline",),
        "charts": ("findings", "inline"), "blocks": ("charts", "inline"),
        "document": ("blocks", "inline", "measures"),
        "formats": ("blocks", "charts", "document", "inline", "measures"),
        "reports": ("blocks", "charts", "document", "findings", "formats", "inline", "measures"),
        "site": ("findings",),
    },
    "workflows": {
        "host": (), "option_values": (), "outputs": (), "inputs": ("host",), "measure": ("host", "inputs"),
        "plan": ("host", "inputs", "measure"), "fitness": ("host", "inputs", "measure"),
        "build": ("host", "inputs", "measure"), "run": ("host", "inputs", "measure", "outputs"),
        "report": ("host", "inputs", "outputs"),
        "data": ("host", "inputs"),
        "cluster": ("host", "inputs", "measure", "outputs", "run"),
        "fleet": ("cluster", "host", "inputs", "run"),
        "look": ("host", "inputs"), "ship": ("build", "host", "inputs", "outputs"),
        "init": ("host", "inputs"),
        "compare": ("host", "inputs", "outputs"), "history": ("host", "inputs", "outputs"),
        "site": ("host", "inputs", "outputs"),
        "regress": ("host", "inputs", "measure", "outputs"),
        "documents": (
            "build", "cluster", "data", "fitness", "fleet", "host", "look", "networks", "nightly", "ship", "site",
        ),
        "networks": ("host", "run"),
        "schemas": ("documents",),
        "nightly": ("host", "inputs", "measure", "outputs"), "search": ("host", "inputs", "measure", "outputs"),
    },
}  # fmt: skip
"""The imports of the same package that a part of it may have, besides itself."""
OF_ALL = {"workflows": {"option_values"}}
"""Parts that all others of a package may import."""
REGRESSION = ["core", "judge", "trials", "stored_runs", "releases", "search", "history", "nightly"]
"""The parts of `regression`: first its own modules, then each may import those before it."""
ENTRY = {PACKAGE / "__init__.py", PACKAGE / "__main__.py"}
MODULES = sorted(set(PACKAGE.rglob("*.py")) - ENTRY)


def test_every_part_is_in_the_order() -> None:
    assert sorted(ORDER) == sorted({_part(path) for path in MODULES})


def _part(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


@cache
def _nodes(path: Path) -> tuple[ast.AST, ...]:
    """Return every import and every attribute of a module."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return tuple(node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom | ast.Attribute))


def _imports(path: Path) -> Iterator[str]:
    for node in _nodes(path):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: relative import"
            yield node.module or ""
            if (node.module or "").startswith("orchestrator"):
                yield from (f"{node.module}.{alias.name}" for alias in node.names)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_modules_import_only_from_earlier_parts(path: Path) -> None:
    """A module imports from no part after its own."""
    own = ORDER.index(_part(path))
    later = [
        name
        for name in _imports(path)
        if name.startswith("orchestrator.") and name.split(".")[1] in ORDER and ORDER.index(name.split(".")[1]) > own
    ]
    assert later == []


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
    """`home` of `Path` and `expanduser` read HOME. One function may, where the host's own variables lack it."""
    if _part(path) in {"api", "cli"}:
        return
    reads = [
        ast.unparse(node)
        for node in _nodes(path)
        if isinstance(node, ast.Attribute)
        and (
            node.attr in {"environ", "getenv", "expanduser", "expandvars"}
            or (node.attr == "home" and ast.unparse(node).endswith("Path.home"))
        )
    ]
    assert reads == (["Path.home"] if path == PACKAGE / "workflows" / "host" / "places.py" else [])


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_one_module_starts_processes(path: Path) -> None:
    """Only one module starts processes, and only four packages speak to the engine."""
    imported = {name.split(".")[0] for name in _imports(path)}

    assert "subprocess" not in imported or _part(path) == "processes"
    assert "docker" not in imported or _part(path) in {"engine", "images", "runtimes", "bundles"}


@pytest.mark.parametrize("package", WITHIN)
def test_parts_of_a_package_import_one_way(package: str) -> None:
    allowed = WITHIN[package]
    wrong = []
    for path in sorted((PACKAGE / package).rglob("*.py")):
        own = path.relative_to(PACKAGE / package).parts[0].removesuffix(".py")
        used = {name.split(".")[2] for name in _imports(path) if name.startswith(f"orchestrator.{package}.")}
        wrong += [f"{own} imports {part}" for part in used - {own, *allowed.get(own, ())} - OF_ALL.get(package, set())]
    assert wrong == []


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_only_the_command_line_imports_typer(path: Path) -> None:
    assert _part(path) == "cli" or "typer" not in {name.split(".")[0] for name in _imports(path)}


@pytest.mark.parametrize("path", sorted((PACKAGE / "modes").glob("*.py")), ids=lambda path: path.stem)
def test_a_mode_imports_the_parts_alone(path: Path) -> None:
    imported = {name for name in _imports(path) if name.startswith("orchestrator")}

    assert {name for name in imported if not name.startswith("orchestrator.modes.parts")} == set()
