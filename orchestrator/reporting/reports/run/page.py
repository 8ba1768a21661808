"""The pages of a run's report, one for most runs and an index with pages of groups for large ones."""

import json
import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

from markupsafe import Markup

from orchestrator.analysis import CONFIDENCE, PHASES, PREDICTION, TOLERANCE
from orchestrator.reporting import figures
from orchestrator.reporting.blocks import TemplatePage
from orchestrator.reporting.findings import floors, printed
from orchestrator.reporting.findings.model import Report
from orchestrator.reporting.formats.html import named_texts, write_pages
from orchestrator.reporting.reports.run.filters import FILTERS
from orchestrator.reporting.reports.run.layout import RunPage, directory, layout, places

_MOST = {
    "findings": 5000, "problems": 100, "affected": 200, "skips": 2000, "repeats": 5000,
    "with_facts": 60, "in_matrix": 20,
}  # fmt: skip
"""What a page lists of each; it says how many more there are, and which format lists them all."""


def write_html(report: Report, folder: Path, run_folder: Path | None = None) -> Path:
    """Write the pages into `folder` and return the path of the first.

    With `run_folder` they link to the raw files there, relatively, so both can be moved together.
    Raises `HostError` where the folder cannot be written.
    """
    raw = None if run_folder is None else os.path.relpath(run_folder.resolve(), folder.resolve())
    return write_pages(named_texts(pages(report, raw)), folder)


def pages(report: Report, raw: str | None = None) -> Iterator[tuple[str, TemplatePage]]:
    """Lay out every page, the index first.

    `raw` is the relative path from the pages to the run's folder, None for no links to raw files.
    """
    files = layout(report)
    where = places(files)
    shared = {
        "report": report,
        "cells": report.by_id,
        "pages": files,
        "directory": _data(directory(files, report.by_id)) if len(files) > 1 else None,
        "raw": None if raw is None else Path(raw).as_posix(),
        "phases": PHASES,
        "printed": printed,
        "confidence": CONFIDENCE,
        "prediction": PREDICTION,
        "tolerance": TOLERANCE,
        "floor_heads": floors.HEADS,
        "floor_note": floors.NOTE,
        "epoch_heads": figures.EPOCH_HEADS,
        "epoch_note": figures.EPOCH_NOTE,
        **{f"most_{name}": most for name, most in _MOST.items()},
    }
    for number, page in enumerate(files):
        values = {"page": page, "number": number, "address": _addresses(page, where), **shared}
        yield page.name, TemplatePage("groups.html.jinja" if number else "index.html.jinja", values, FILTERS)


def _data(value: Any) -> Markup:
    """Values as JSON that a script of the page reads; nothing in it ends the element that it stands in."""
    encoded = json.dumps(value, separators=(",", ":")).replace("<", "\\u003c")
    return Markup(encoded)  # noqa: S704 -- no character in it begins a tag


def _addresses(page: RunPage, where: Mapping[str, str]) -> Callable[[str], str]:
    """Links from a page to a cell or a group, by id or anchor."""

    def address(name: str) -> str:
        target = where.get(name, page.name)
        return f"{'' if target == page.name else target}#{quote(name, safe='/', errors='replace')}"

    return address
