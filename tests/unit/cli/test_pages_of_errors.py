"""An error names the page that explains it, on a terminal alone."""

import re
from importlib import metadata
from pathlib import Path

import pytest

from orchestrator.cli.output import pages
from orchestrator.cli.output.pages import HOST_PAGES, OF_MATRIX, PAGES, SECTIONS, address, linked, pages_of
from orchestrator.cli.program import COMMANDS
from orchestrator.errors import HostError, InputError
from orchestrator.resources import ROOT
from tests.unit.cli.conftest import Program
from tests.unit.cli.terminals import on_terminal

WRONG = "version: 1\nframeworks: [nop==1]\nmodels: [lenett]\n"


def anchors(page: str) -> set[str]:
    """Return the anchors of a page as GitHub and mkdocs make them."""
    text = (ROOT / "docs" / f"{page}.md").read_text()
    heads = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w -]", "", head).strip().lower().replace(" ", "-") for head in heads}


def test_every_command_has_a_page() -> None:
    assert set(PAGES) == set(COMMANDS)
    assert set(COMMANDS) >= {*HOST_PAGES, *OF_MATRIX}


@pytest.mark.parametrize("page", sorted({*PAGES.values(), *HOST_PAGES.values(), "host"}))
def test_every_page_and_section_exists(page: str) -> None:
    name, _, anchor = page.partition("#")

    assert not anchor or anchor in anchors(name)
    assert (ROOT / "docs" / f"{name}.md").is_file()


def test_sections_of_the_matrix_exist() -> None:
    for key, page in SECTIONS.items():
        assert key in anchors(page)


def test_each_mistake_has_its_section() -> None:
    messages = [
        "matrix.yaml:7:5: frameworks: unknown",
        "m.yml:1:2: models.batch_size: too small",
        "m.yaml:1:1: seed: no",
    ]

    assert list(pages_of("plan", messages, InputError())) == ["matrix#frameworks", "matrix#models", "matrix"]
    assert list(pages_of("nightly", messages[:1], InputError())) == ["nightly"]
    assert list(pages_of("compare", ["no such run"], InputError())) == ["regression/stored-runs"]
    assert list(pages_of("run", ["no engine"], HostError())) == ["host"]
    assert list(pages_of("", ["no such command"], InputError())) == []


@pytest.mark.parametrize(
    ("base", "link"),
    [
        ("", "docs/matrix.md#models"),
        ("https://docs.example.org/", "https://docs.example.org/matrix.md#models"),
        ("https://docs.example.org/{page}.html", "https://docs.example.org/matrix.html#models"),
        ("file:///srv/docs/{page}/index.html", "file:///srv/docs/matrix/index.html#models"),
    ],
)
def test_an_address_is_where_the_docs_are(base: str, link: str) -> None:
    assert linked("matrix#models", base) == link


def test_the_package_may_say_the_address(monkeypatch: pytest.MonkeyPatch) -> None:
    message = metadata.metadata("pytest")
    monkeypatch.delenv(pages.ADDRESS, raising=False)
    monkeypatch.setattr(pages, "DISTRIBUTION", "pytest")
    listed = dict(each.partition(", ")[::2] for each in message.get_all("Project-URL") or [])
    assert address() == listed.get("Documentation", "")
    monkeypatch.setattr(pages, "DISTRIBUTION", "no-such-distribution")
    assert address() == ""
    monkeypatch.setenv(pages.ADDRESS, "https://docs.example.org")
    assert address() == "https://docs.example.org"


def test_a_terminal_shows_the_pages(tmp_path: Path) -> None:
    (tmp_path / "matrix.yaml").write_text(WRONG)
    code, text = on_terminal(tmp_path, ("plan",), columns=200, ORCHESTRATOR_DOCS="https://docs.example.org/{page}")

    assert code == 2
    *mistakes, first, second = text.splitlines()
    assert len(mistakes) == 2
    assert first == "see https://docs.example.org/matrix#frameworks"
    assert second == "see https://docs.example.org/matrix#models"


@pytest.mark.parametrize("option", ["--quiet", "--json"])
def test_programs_are_shown_no_pages(option: str, tmp_path: Path) -> None:
    (tmp_path / "matrix.yaml").write_text(WRONG)

    assert "see " not in on_terminal(tmp_path, ("plan", option), columns=200)[1]


def test_a_pipe_gets_the_mistakes_alone(command: Program, tmp_path: Path) -> None:
    (tmp_path / "matrix.yaml").write_text(WRONG)

    assert len(command("plan")[2].splitlines()) == 2
