"""Hooks of mkdocs: the reference pages are made from the program whenever the site is built."""

import os
import re
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from mkdocs.structure.files import File, Files

from bench.documentation import command_pages, program_pages, schema_pages

_LATER = "---\nsearch:\n  boost: 0.2\n---\n"
"""A question of how to do something leads to the page that explains it, and from there to the reference."""
FIGURES = ("studies/", "studies.md", "performance.md", "detection.md", "parity.md", "accuracy.md", "traps.md")
"""Pages of measurements, and folders of them: they hold every word, and answer no question of how to do something."""
QUESTIONS = "howto.md"
_QUESTION = re.compile(r"^\| (?P<asked>[^|]+)\? \| \[[^]]*\]\((?P<page>[^)#]+)[^)]*\) \|$", re.MULTILINE)


def generated() -> dict[str, str]:
    """Return the text of every page that is made from the program, by path."""
    return {**command_pages.pages(), **schema_pages.pages(), **program_pages.pages()}


def on_config(config: Any) -> Any:
    """Add the pages of folders, such as those of the commands, to the navigation."""
    kept = (str(path.relative_to(config.docs_dir)) for path in Path(config.docs_dir).rglob("*.md"))
    config.nav = _extended(config.nav, sorted([*generated(), *kept]))
    return config


def _extended(nav: list[Any], paths: list[str]) -> list[Any]:
    """Return a navigation in which a folder, such as `reference/commands/`, is the pages in it."""
    found: list[Any] = []
    for entry in nav:
        if isinstance(entry, str) and entry.endswith("/"):
            found += [_titled(path) for path in paths if path.startswith(entry)]
        elif isinstance(entry, dict) and any(isinstance(value, list) for value in entry.values()):
            found.append({name: _extended(value, paths) for name, value in entry.items()})
        else:
            found.append(entry)
    return found


def _titled(path: str) -> str | dict[str, str]:
    """Return a page of the program under its short name, and any other under its heading."""
    return {Path(path).stem: path} if path.startswith("reference/") else path


def on_files(files: Files, config: Any) -> Files:
    """Add the pages that are made from the program."""
    for path, text in generated().items():
        files.append(File.generated(config, path, content=_LATER + text))
    return files


def asked_words(text: str) -> dict[str, list[str]]:
    """Return the words of the questions that lead to each page, by its path."""
    words: dict[str, list[str]] = {}
    for row in _QUESTION.finditer(text):
        words.setdefault(row["page"], []).extend(re.findall(r"[a-z0-9]+", row["asked"].lower()))
    return {page: sorted(set(found)) for page, found in words.items()}


def on_page_markdown(markdown: str, page: Any, config: Any, **_: Any) -> str:
    """Name files of the repository that are not on the site in place of a link to them."""
    folder = Path(config.docs_dir, page.file.src_uri).parent

    def named(link: re.Match[str]) -> str:
        place = os.path.relpath(folder / link["to"].partition("#")[0], config.docs_dir)
        return f"{link['text']} (`{place.removeprefix('../')}`)" if place.startswith("../") else link[0]

    return re.sub(r"\[(?P<text>[^\[\]]*)\]\((?P<to>\.\.[^()\s]*)\)", named, markdown)


def on_page_content(html: str, page: Any, config: Any, **_: Any) -> str:
    """Give the search of a page the words of the questions that lead to it."""
    asked = asked_words(Path(config.docs_dir, QUESTIONS).read_text(encoding="utf-8")).get(page.file.src_uri)
    if asked:
        page.meta["tags"] = asked
    if page.file.src_uri.startswith(FIGURES):
        page.meta["search"] = {"boost": 0.2}
    return html
