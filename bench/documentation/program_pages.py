"""Reference pages of the functions for Python, of the metrics and of the exit codes."""

import ast
import dataclasses
import inspect
import re
import textwrap
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

from bench.documentation.cells import cell
from orchestrator import api
from orchestrator.errors import HostError, InputError, OrchestratorError
from orchestrator.modes import METRICS

CODES = (
    (0, "Fine. A comparison found no regression."),
    (OrchestratorError.exit_code, "Something failed, got worse, or cannot go on."),
    (InputError.exit_code, "Bad input: a mistake in the options or in a file. Nothing was started."),
    (HostError.exit_code, "This host cannot do it: no engine, no device, no disk, no permission."),
    (130, "Interrupted by a signal. What is measured is stored."),
)


def pages() -> Mapping[str, str]:
    """Return the text of each page, by path."""
    functions = [name for name in api.__all__ if inspect.isfunction(getattr(api, name))]
    texts = {f"reference/api/{name}.md": "\n".join(_function(name)) for name in functions}
    texts["reference/api.md"] = "\n".join(_index(functions))
    texts["reference/metrics.md"] = "\n".join(_metrics())
    texts["reference/exit-codes.md"] = "\n".join(_codes())
    return texts


def _index(functions: list[str]) -> Iterator[str]:
    yield "# Functions for Python\n"
    yield "[From Python](../api.md) shows them at work. Each takes one value of options and the host.\n"
    yield "| function | what it does |\n|---|---|"
    for name in functions:
        yield f"| [`{name}`](api/{name}.md) | {cell(_first(getattr(api, name)))} |"
    yield ""


def _function(name: str) -> Iterator[str]:
    function = getattr(api, name)
    yield f"# api.{name}\n"
    yield f"{cell(_first(function))}\n"
    yield f"```python\napi.{name}{_signature(function)}\n```\n"
    example = re.search(r"Example: `(.+)`", inspect.getdoc(function) or "")
    if example:
        yield f"Example:\n\n```python\n{example[1]}\n```\n"
    for parameter in inspect.signature(function).parameters.values():
        options = parameter.annotation
        if isinstance(options, type) and dataclasses.is_dataclass(options) and options.__name__.endswith("Options"):
            yield f"## {options.__name__}\n\n| field | default | what it says |\n|---|---|---|"
            texts = _texts(options)
            for field in dataclasses.fields(options):
                yield f"| `{field.name}` | {_default(field)} | {cell(texts.get(field.name, ''))} |"
            yield ""


def _signature(function: Any) -> str:
    signature = inspect.signature(function)
    words = [f"{each.name}: {_name(each.annotation)}" for each in signature.parameters.values()]
    return f"({', '.join(words)}) -> {_name(signature.return_annotation)}"


def _name(annotation: Any) -> str:
    return annotation.__name__ if inspect.isclass(annotation) else re.sub(r"\b(\w+\.)+", "", str(annotation))


def _texts(options: type) -> Mapping[str, str]:
    """Return the docstring of each field, which is the text that follows it in the class."""
    texts: dict[str, str] = {}
    for owner in reversed([each for each in options.__mro__ if dataclasses.is_dataclass(each)]):
        (tree,) = ast.parse(textwrap.dedent(inspect.getsource(owner))).body
        body = getattr(tree, "body", [])
        for field, after in pairwise(body):
            if isinstance(field, ast.AnnAssign) and isinstance(after, ast.Expr) and isinstance(field.target, ast.Name):
                texts[field.target.id] = str(ast.literal_eval(after.value))
    return texts


def _default(field: Any) -> str:
    if field.default is not dataclasses.MISSING:
        default = field.default
        return f"`{getattr(default, 'value', default)}`" if default not in (None, "") else "–"
    return "required" if field.default_factory is dataclasses.MISSING else "–"


def _metrics() -> Iterator[str]:
    yield "# Metrics\n"
    yield "[Metrics that decide](../regression/metrics.md) says how they are used."
    yield "`--metric NAME=2%` sets a tolerance.\n"
    yield "| metric | title | unit | better | tolerance | decides by default | known exactly |"
    yield "|---|---|---|---|--:|---|---|"
    for metric in METRICS:
        words = ("yes" if metric.gates else "no", "yes" if metric.is_exact else "no")
        tolerance = f"{metric.tolerance * 100:g} %"
        yield (f"| `{metric.name}` | {cell(metric.title)} | {metric.unit or '–'} | {metric.better} | {tolerance} | "
               f"{words[0]} | {words[1]} |")  # fmt: skip
    yield ""


def _codes() -> Iterator[str]:
    yield "# Exit codes\n"
    yield "Every command ends with one of them.\n"
    yield "| code | meaning |\n|--:|---|"
    yield from (f"| {code} | {text} |" for code, text in CODES)
    yield "\n`run` ends with 1 where a cell [failed](../report/statuses.md#statuses)."
    yield "[A regression test](../regression.md) and [a night](../nightly.md#exit-status) say more of their own.\n"


def _first(function: Any) -> str:
    return (inspect.getdoc(function) or "").split("\n\n")[0]
