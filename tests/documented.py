"""Tables and examples of the documentation, taken from its pages as they stand."""

import re

from orchestrator.resources import ROOT


def blocks(page: str, section: str, language: str) -> list[str]:
    """The code blocks of one language in a section of a page, in order; there must be one."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    parts = re.split(r"^## (.+)$", text, flags=re.MULTILINE)
    body = dict(zip(parts[1::2], parts[2::2], strict=True))[section]
    found = re.findall(rf"^```{language}\n(.*?)^```$", body, flags=re.MULTILINE | re.DOTALL)
    assert found, f"{page} has no {language} in {section!r}"
    return found


def introduction(page: str, language: str) -> list[str]:
    """The code blocks of one language before the first section of a page."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8").partition("\n## ")[0]
    return re.findall(rf"^```{language}\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)
