"""Reference pages of the files that users write, and of every published schema."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from bench.documentation.cells import cell
from orchestrator.workflows.option_values import SCHEMAS
from orchestrator.workflows.schemas import schema

FILES = {
    "matrix": ("matrix.yaml", "../matrix.md"),
    "site": ("site.yaml", "../cluster/site-file.md"),
    "nightly": ("nightly.yaml", "../nightly.md"),
    "acknowledged": ("The file of acknowledged changes", "../nightly/alarms.md"),
}
"""Files that people write, with the page that explains each."""
_MOST_VALUES = 12


def pages() -> Mapping[str, str]:
    """Return the text of a page for each file that people write, and of the list of schemas, by path."""
    texts = {f"reference/{name}.md": "\n".join(_file_page(name)) for name in FILES}
    texts["reference/schemas.md"] = "\n".join(_list())
    return texts


def _file_page(name: str) -> Iterator[str]:
    title, page = FILES[name]
    document = schema(name)
    yield f"# Keys of {title}\n" if title.endswith(".yaml") else f"# {title}\n"
    yield f"[The explanation]({page}) says what the keys are for. This page is made from"
    yield f"[the schema](../schemas/{name}.schema.json), which `orchestrator schema {name}` prints.\n"
    definitions: Mapping[str, Any] = document.get("$defs", {})
    yield from _table(document, definitions)
    for own, entry in definitions.items():
        if entry.get("properties"):
            yield f"## {own}\n"
            if entry.get("description"):
                yield f"{cell(entry['description'])}\n"
            yield from _table(entry, definitions)


def _table(entry: Mapping[str, Any], definitions: Mapping[str, Any]) -> Iterator[str]:
    yield "| key | value | default | what it says |\n|---|---|---|---|"
    required = set(entry.get("required", ()))
    for key, value in entry["properties"].items():
        default = "required" if key in required else _default(value)
        yield f"| `{key}` | {_kind(value, definitions)} | {default} | {cell(value.get('description', ''))} |"
    yield ""


def _default(value: Mapping[str, Any]) -> str:
    default = value.get("default")
    return "–" if default in (None, [], {}) else f"`{json.dumps(default, ensure_ascii=False)}`"


def _kind(value: Mapping[str, Any], definitions: Mapping[str, Any]) -> str:
    """Return what a value may be, in a few words."""
    if "$ref" in value:
        return _named(value["$ref"].rpartition("/")[2], definitions)
    if "enum" in value or "const" in value:
        return _values(value.get("enum", [value.get("const")]))
    choices = value.get("anyOf") or value.get("oneOf")
    if choices is None and isinstance(value.get("type"), list):
        choices = [{**value, "type": each} for each in value["type"]]
    if choices:
        return " or ".join(dict.fromkeys(_kind(each, definitions) for each in choices if each.get("type") != "null"))
    kind = value.get("type", "anything")
    if kind == "array":
        return f"list of {_kind(value.get('items', {}), definitions)}"
    bounds = [f"{word} {value[key]:,}" for key, word in (("minimum", "≥"), ("maximum", "≤")) if key in value]
    names = {"object": "mapping", "string": "text", "integer": "whole number", "boolean": "true or false"}
    return " ".join([names.get(kind, str(kind)), *bounds])


def _named(name: str, definitions: Mapping[str, Any]) -> str:
    target = definitions.get(name, {})
    if "enum" in target:
        return _values(target["enum"])
    return f"[{name}](#{name.lower()})" if target.get("properties") else name


def _values(values: list[Any]) -> str:
    shown = [f"`{each}`" for each in values[:_MOST_VALUES]]
    return ", ".join([*shown, *(["…"] if len(values) > _MOST_VALUES else [])])


def _list() -> Iterator[str]:
    yield "# Schemas\n"
    yield "`orchestrator schema NAME` prints each of them. [Documents for programs](../report.md#for-programs) says who"
    yield "writes which document. [The contract](../contract.md) explains the files of a run.\n"
    yield "| schema | title | what it describes |\n|---|---|---|"
    for name in SCHEMAS:
        document = schema(name)
        text = cell(document.get("description", "")).partition(". ")[0]
        yield f"| [`{name}`](../schemas/{name}.schema.json) | {cell(document.get('title', ''))} | {text} |"
    yield ""
