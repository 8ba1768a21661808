"""Tables and examples of the documentation, taken from its pages as they stand."""

import re
from pathlib import Path

from orchestrator.resources import ROOT

DOCS = ROOT / "docs"
_HEAD = re.compile(r"\A(?:---\n[^#]*---\n)?# .+\n\nPart of .+\n")


def pages() -> list[Path]:
    """Return every page of the documentation that is kept in the repository."""
    return sorted(DOCS.rglob("*.md"))


def whole(page: str) -> str:
    """Return the text of a page with those of its parts, which lie in the folder of its name."""
    main = DOCS / page
    parts = sorted(main.with_suffix("").glob("*.md"))
    return "\n".join([main.read_text("utf-8"), *(_HEAD.sub("", part.read_text("utf-8")) for part in parts)])


def blocks(page: str, section: str, language: str) -> list[str]:
    """The code blocks of one language in a section of a page or of its parts, in order; there must be one."""
    parts = re.split(r"^## (.+)$", whole(page), flags=re.MULTILINE)
    body = dict(zip(parts[1::2], parts[2::2], strict=True))[section]
    found = re.findall(rf"^```{language}\n(.*?)^```$", body, flags=re.MULTILINE | re.DOTALL)
    assert found, f"{page} has no {language} in {section!r}"
    return found


def introduction(page: str, language: str) -> list[str]:
    """The code blocks of one language before the first section of a page."""
    text = (DOCS / page).read_text(encoding="utf-8").partition("\n## ")[0]
    return re.findall(rf"^```{language}\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)


def fenced(page: str, language: str) -> list[str]:
    """The code blocks of one language of a page alone, in order."""
    text = (DOCS / page).read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)
