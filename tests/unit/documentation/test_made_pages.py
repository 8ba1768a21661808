"""The reference pages are made from the program, and leave nothing out."""

import json
import re

import pytest

from bench.documentation import command_pages, program_pages, schema_pages
from bench.documentation.cells import cell, code
from orchestrator import api
from orchestrator.cli.program import COMMANDS
from orchestrator.modes import METRICS
from orchestrator.resources import ROOT
from orchestrator.workflows.option_values import SCHEMAS

PAGES = {**command_pages.pages(), **schema_pages.pages(), **program_pages.pages()}


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_a_page(name: str) -> None:
    page = PAGES[f"reference/commands/{name}.md"]

    assert page.startswith(f"# orchestrator {name}\n")
    assert f"commands/{name}.md" in PAGES["reference/commands.md"]


def test_page_of_command_has_options_and_examples() -> None:
    page = PAGES["reference/commands/run.md"]

    assert "| `--select GLOB` | Only cells whose id matches" in page
    assert "orchestrator run --until-decided" in page
    assert "--verbose" not in page, "options of every command stand on the page of all commands"
    assert "--verbose" in PAGES["reference/commands.md"]


def test_commands_below_a_command_are_there() -> None:
    assert {"## nightly accept", "## nightly ack", "## nightly status"} <= set(
        PAGES["reference/commands/nightly.md"].splitlines()
    )


@pytest.mark.parametrize("name", ["matrix", "site", "nightly", "acknowledged"])
def test_every_key_of_a_file_is_there(name: str) -> None:
    document = json.loads((ROOT / "docs" / "schemas" / f"{name}.schema.json").read_text())
    keys = {*document["properties"]}
    for entry in document.get("$defs", {}).values():
        keys |= {*entry.get("properties", {})}

    assert keys == set(re.findall(r"^\| `(\w+)` \|", PAGES[f"reference/{name}.md"], re.MULTILINE))


def test_schemas_metrics_and_functions_are_listed() -> None:
    assert all(f"schemas/{name}.schema.json" in PAGES["reference/schemas.md"] for name in SCHEMAS)
    assert all(f"| `{metric.name}` |" in PAGES["reference/metrics.md"] for metric in METRICS)
    assert {f"reference/api/{name}.md" for name in api.__all__ if f"reference/api/{name}.md" in PAGES} >= {
        "reference/api/run.md", "reference/api/regress.md", "reference/api/export.md",
    }  # fmt: skip
    assert (
        "| `extra_repeats` | `1` | Most times that a disturbed repeat is measured again. |"
        in (PAGES["reference/api/run.md"])
    )


def test_marks_of_markdown_are_taken_literally() -> None:
    assert cell("a | b * [c] `d * e`\nf <g>") == r"a \| b \* \[c] `d * e` f &lt;g>"
    assert code("<a|b>") == r"`<a\|b>`"
