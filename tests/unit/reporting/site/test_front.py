"""The page of a site and its files, which ask for nothing from elsewhere."""

import hashlib
import re

import pytest

from orchestrator.reporting.site import front

OURS = {place: content.decode() for place, content in front.front_files() if place.startswith("app/")}
NAMESPACES = {"http://www.w3.org/2000/svg"}


@pytest.mark.parametrize("place", front.VENDORED)
def test_a_vendored_file_is_that_of_its_registry(place: str) -> None:
    path = front.FRONT / place

    assert hashlib.sha256(path.read_bytes()).hexdigest() == front.VENDORED[place]
    assert "Permission to use, copy, modify" in (path.parent / "LICENSE").read_text()


def test_the_page_names_every_script() -> None:
    page = front.page("i-0123456789abcdef")

    assert {f"app/{name}.js" for name in front.SCRIPTS} | {front.STYLE} == set(OURS)
    named = re.findall(r'(?:src|href)="([^"?]+)', page)
    assert all(place in named for place in OURS)
    assert named.index("data/i-0123456789abcdef.js") == named.index("app/main.js") - 1


def test_every_vendored_file_is_listed() -> None:
    files = {place for place, _ in front.front_files() if place.startswith("vendor/")}

    assert files == {*front.VENDORED, *(f"{place.rpartition('/')[0]}/LICENSE" for place in front.VENDORED)}


@pytest.mark.parametrize("place", OURS)
def test_no_file_of_ours_names_another_place(place: str) -> None:
    assert set(re.findall(r"\w+://[^\s\"'`)]+", OURS[place])) <= NAMESPACES


@pytest.mark.parametrize("place", [place for place in OURS if place.endswith(".js")])
def test_no_script_reads_text_as_code(place: str) -> None:
    for unsafe in (
        "innerHTML",
        "outerHTML",
        "insertAdjacent",
        "document.write",
        "eval(",
        "new Function",
        "fetch(",
        "import(",
    ):
        assert unsafe not in OURS[place]


@pytest.mark.parametrize("place", OURS)
def test_files_stay_small(place: str) -> None:
    assert len(OURS[place].splitlines()) <= 300


def test_the_policy_allows_nothing_inline() -> None:
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', front.page("i-0")).group(1)  # type: ignore[union-attr]

    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == rules["base-uri"] == rules["form-action"] == "'none'"
    assert "unsafe" not in policy
    assert "http" not in policy
    assert not re.search(r"<script(?! defer src)|<style| style=| on\w+=", front.page("i-0"))
