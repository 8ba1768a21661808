"""Texts of the program as cells of Markdown tables."""

import re


def cell(text: str) -> str:
    """Return a text in one line, with what Markdown would read as marks taken literally outside of code."""
    parts = re.split(r"(`[^`]*`)", " ".join(text.split()).replace("|", "\\|"))
    return "".join(part if part.startswith("`") else _plain(part) for part in parts)


def _plain(text: str) -> str:
    return text.replace("*", "\\*").replace("<", "&lt;").replace("[", "\\[")


def code(text: str) -> str:
    """Return a text as code in a cell."""
    return f"`{' '.join(text.split()).replace('|', chr(92) + '|')}`"
