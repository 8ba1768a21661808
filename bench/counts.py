"""Counts that show how easily the code reads, which `make counts` prints.

They are for the reader. Only the direction of imports and the names of public classes are tested.
"""

import ast
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from orchestrator.resources import ROOT

PARTS = ("orchestrator", "benchmarks")
INTERROGATIVE = re.compile(r"(What|Whether|Where|Which|Who|Whose|When|Why|How)\b")
MOST_LISTED = 8

_Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


@dataclass(frozen=True, slots=True)
class Module:
    """A source file, parsed."""

    name: str
    path: Path
    tree: ast.Module
    nodes: tuple[ast.AST, ...]
    """All of the tree, which every count goes through."""
    lines: int


def modules(root: Path = ROOT, parts: Sequence[str] = PARTS) -> list[Module]:
    """Parse every source file of these folders."""
    return [_module(path, root) for part in parts for path in sorted((root / part).rglob("*.py"))]


def _module(path: Path, root: Path) -> Module:
    text = path.read_text(encoding="utf-8")
    name = ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__")
    tree = ast.parse(text)
    return Module(name, path.relative_to(root), tree, tuple(ast.walk(tree)), text.count("\n"))


def own_imports(module: Module, sources: Mapping[str, Module]) -> set[str]:
    """Return the modules of `sources` that a module imports, anywhere in it and through re-exports of packages."""
    packages: dict[str, str] = {}  # by the local name
    behind: set[str] = set()
    for node in module.nodes:
        for local, target in _imported(node):
            home = _home(target, sources)
            if home is not None:
                behind.add(home)
                if sources[home].path.name == "__init__.py":
                    packages[local] = home
    used = {
        _home(f"{packages[node.value.id]}.{node.attr}", sources) or packages[node.value.id]
        for node in module.nodes
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in packages
    }
    return (behind - set(packages.values()) | used) - {module.name}


def _imported(node: ast.AST) -> Iterator[tuple[str, str]]:
    """Yield the local name and the full name of everything that a node imports."""
    if isinstance(node, ast.Import):
        yield from ((alias.asname or alias.name, alias.name) for alias in node.names)
    elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
        yield from ((alias.asname or alias.name, f"{node.module}.{alias.name}") for alias in node.names)


def _home(target: str, sources: Mapping[str, Module]) -> str | None:
    """Return the module that a full name belongs to, behind the re-exports of packages."""
    if target in sources:
        return target
    owner, _, name = target.rpartition(".")
    if owner not in sources:
        return None
    again = {local: full for node in sources[owner].tree.body for local, full in _imported(node)}
    return (_home(again[name], sources) if name in again and again[name] != target else None) or owner


def import_circles(sources: Sequence[Module]) -> list[list[str]]:
    """Return every group of modules that import each other when they are loaded (Tarjan 1972)."""
    named = {source.name: source for source in sources}
    edges = {source.name: _loaded_with(source, named) for source in sources}
    order: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    circles: list[list[str]] = []

    def visit(name: str) -> None:
        order[name] = low[name] = len(order)
        stack.append(name)
        for other in sorted(edges[name]):
            if other not in order:
                visit(other)
                low[name] = min(low[name], low[other])
            elif other in stack:
                low[name] = min(low[name], order[other])
        if low[name] == order[name]:
            place = stack.index(name)
            if len(stack) - place > 1:
                circles.append(sorted(stack[place:]))
            del stack[place:]

    for name in sorted(edges):
        if name not in order:
            visit(name)
    return circles


def _loaded_with(source: Module, sources: Mapping[str, Module]) -> set[str]:
    """Return the imports at a module's top level, as an import inside a function closes no circle."""
    targets = {target for node in source.tree.body for _, target in _imported(node)}
    modules = {target if target in sources else target.rpartition(".")[0] for target in targets}
    return {name for name in modules if name in sources and name != source.name}


def repeated_classes(sources: Sequence[Module]) -> dict[str, list[str]]:
    """Return the names of public classes that several modules define, with these modules."""
    places: dict[str, list[str]] = defaultdict(list)
    for source in sources:
        for node in source.tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(source.name)
    return {name: where for name, where in sorted(places.items()) if len(where) > 1}


def variables_called(sources: Sequence[Module], name: str) -> int:
    """Count the places that bind a name, which are assignments, loops and parameters."""
    return sum(
        (isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id == name)
        or (isinstance(node, ast.arg) and node.arg == name)
        for source in sources
        for node in source.nodes
    )


def first_lines(sources: Sequence[Module]) -> list[str]:
    """Return the first line of every docstring."""
    return [
        text.strip().splitlines()[0]
        for source in sources
        for node in source.nodes
        if isinstance(node, ast.Module | _Definition) and (text := ast.get_docstring(node))
    ]


def parameters(sources: Sequence[Module]) -> list[tuple[int, str]]:
    """Return how many parameters each function has, `self` and `cls` apart, the most first."""
    counted = []
    for source in sources:
        for node in source.nodes:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
                counted.append(
                    (sum(argument.arg not in {"self", "cls"} for argument in arguments), f"{source.name}.{node.name}")
                )
    return sorted(counted, reverse=True)


def words_of_tests(sources: Sequence[Module]) -> list[int]:
    """Return the number of words of every test's name, the fewest first."""
    names = (node.name for source in sources for node in source.nodes if isinstance(node, ast.FunctionDef))
    return sorted(name.count("_") for name in names if name.startswith("test_"))


def summary(sources: Sequence[Module]) -> Iterator[tuple[str, str, str]]:
    """Yield each count with its name and the wanted value."""
    named = {source.name: source for source in sources}
    folders = Counter(str(source.path.parent) for source in sources)
    full = [f"{folder} {count}" for folder, count in folders.most_common() if count > 15]
    yield "folders of more than 15 files", _listed(full), "0"
    fan_out = sorted(len(own_imports(source, named)) for source in sources)
    median, p90 = (fan_out[int(len(fan_out) * share)] for share in (0.5, 0.9))
    yield "own imports of a file: median, p90, most", f"{median}, {p90}, {fan_out[-1]}", "p90 ≤ 8"
    yield "public class names in several modules", _listed(list(repeated_classes(sources))), "0"
    yield "circles of imports", _listed([" ↔ ".join(circle) for circle in import_circles(sources)]), "0"
    yield "variables called `found`", str(variables_called(sources, "found")), "≤ 30"
    lines = first_lines(sources)
    asking = sum(bool(INTERROGATIVE.match(line)) for line in lines) / len(lines)
    broken = sum(bool(re.search(r"[:;]", line)) for line in lines) / len(lines)
    yield "docstrings that begin with an interrogative", f"{asking:.1%} of {len(lines)}", "≤ 5 %"
    yield "first lines of docstrings with `:` or `;`", f"{broken:.1%}", "≤ 15 %"
    most = parameters([source for source in sources if not source.name.startswith("orchestrator.cli")])
    many = [f"{name} {count}" for count, name in most if count > 8]
    yield "functions of more than 8 parameters outside cli/", _listed(many), "0"
    outside = [source.name for source in sources if ".cli" not in source.name and _imports(source, "typer")]
    yield "Typer imported outside cli/", _listed(outside), "0"
    yield "files of more than 300 lines", _listed([str(source.path) for source in sources if source.lines > 300]), "0"
    for part in PARTS:
        of_part = [source.lines for source in sources if source.path.parts[0] == part]
        yield f"lines of {part}/", f"{sum(of_part)} in {len(of_part)} files", "–"


def _imports(source: Module, library: str) -> bool:
    return any(full.split(".")[0] == library for node in source.nodes for _, full in _imported(node))


def _listed(items: Sequence[str]) -> str:
    more = f", and {len(items) - MOST_LISTED} more" if len(items) > MOST_LISTED else ""
    return f"{len(items)}: {', '.join(items[:MOST_LISTED])}{more}" if items else "0"


if __name__ == "__main__":
    words = words_of_tests(modules(parts=("tests",)))
    tests = ("words of the name of a test: median, most", f"{words[len(words) // 2]}, {words[-1]}", "≤ 8")
    for what, count, wanted in (*summary(modules()), tests):
        print(f"{what:48} {count}   (wanted: {wanted})")
