"""HTML that works from disk without a network: one page for most runs, an index with pages of groups for large ones."""

import base64
import hashlib
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from markupsafe import Markup

from orchestrator.analysis import CONFIDENCE, PHASES, PREDICTION, TOLERANCE
from orchestrator.errors import HostError
from orchestrator.reporting import floors, hosts_as_text, printed, text
from orchestrator.reporting.charts import charts
from orchestrator.reporting.curves import curves
from orchestrator.reporting.hosts import SideBySide
from orchestrator.reporting.model import CellReport, Report
from orchestrator.reporting.pages import INDEX, Page, directory, pages, places
from orchestrator.reporting.parity import lines
from orchestrator.results.store import write_atomically

if TYPE_CHECKING:
    from jinja2 import Environment

_TEMPLATES = Path(__file__).parent / "templates"
_MOST = {
    "findings": 5000, "problems": 100, "affected": 200, "skips": 2000, "repeats": 5000,
    "with_facts": 60, "in_matrix": 20,
}  # fmt: skip
"""What a page lists of each; it says how many more there are, and which format lists them all."""
_DIGEST = re.compile(r"(sha256:[0-9a-f]{12})[0-9a-f]+")


def write_html(report: Report, folder: Path, run_folder: Path | None = None) -> Path:
    """Write the pages into `folder` and return the path of the first.

    With `run_folder` they link to the raw files there, relatively, so both can be moved together.
    Raises `HostError` where the folder cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise HostError(f"{folder}: cannot be made: {error.strerror}; choose another place with -o") from error
    raw = None if run_folder is None else os.path.relpath(run_folder.resolve(), folder.resolve())
    for name, page in html_pages(report, raw):
        write_atomically(folder / name, page)
    return folder / INDEX


def html_text(report: Report, raw: str | None = None) -> str:
    """Render the first page, for most runs the only one; `raw` as in `html_pages`."""
    return next(page for _, page in html_pages(report, raw))


def html_pages(report: Report, raw: str | None = None) -> Iterator[tuple[str, str]]:
    """Render name and text of every page, the index first.

    `raw` is the relative path from the pages to the run's folder, None for no links to raw files.
    """
    found = pages(report)
    environment = page_environment()
    where = places(found)
    shared = {
        "report": report,
        "cells": report.by_id,
        "pages": found,
        "directory": _data(directory(found, report.by_id)) if len(found) > 1 else None,
        "raw": None if raw is None else Path(raw).as_posix(),
        **page_parts(),
        "phases": PHASES,
        "printed": printed,
        "confidence": CONFIDENCE,
        "prediction": PREDICTION,
        "tolerance": TOLERANCE,
        "floor_heads": floors.HEADS,
        "floor_note": floors.NOTE,
        "epoch_heads": text.EPOCH_HEADS,
        "epoch_note": text.EPOCH_NOTE,
        **{f"most_{name}": most for name, most in _MOST.items()},
    }
    for number, page in enumerate(found):
        template = environment.get_template("groups.html.jinja" if number else "index.html.jinja")
        yield page.name, template.render(page=page, number=number, address=_addresses(page, where), **shared)


def write_hosts_html(several: SideBySide, folder: Path, pages_of: Sequence[Path | None]) -> Path:
    """Write the page of several runs into `folder`, and return its path.

    `pages_of` are the paths of the runs' own pages, which it links to; None for one that has none.
    Raises `HostError` where the folder cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise HostError(f"{folder}: cannot be made: {error.strerror}; choose another place with -o") from error
    links = [None if page is None else Path(os.path.relpath(page.resolve(), folder.resolve())) for page in pages_of]
    write_atomically(folder / INDEX, hosts_html(several, [None if link is None else link.as_posix() for link in links]))
    return folder / INDEX


def hosts_html(several: SideBySide, pages_of: Sequence[str | None]) -> str:
    """Render the page of several runs; `pages_of` are relative links to the runs' own pages."""
    environment = page_environment()
    environment.filters |= {
        "figures": hosts_as_text.figures, "rank": hosts_as_text.rank, "between": hosts_as_text.between
    }  # fmt: skip
    return environment.get_template("hosts.html.jinja").render(
        several=several,
        pages=pages_of,
        title=hosts_as_text.TITLE,
        rows=hosts_as_text.host_rows(several),
        heads=hosts_as_text.heads(several),
        version=several.runs[0].report.orchestrator_version,
        **page_parts(),
    )


def page_parts() -> dict[str, Any]:
    """What every page holds: its style, and its behaviour with the sum that allows it to run."""
    behaviour = (_TEMPLATES / "report.js").read_text(encoding="utf-8").strip()
    return {
        "style": Markup((_TEMPLATES / "report.css").read_text(encoding="utf-8")),  # noqa: S704 -- a file of our own
        "behaviour": Markup(behaviour),  # noqa: S704 -- a file of our own
        "script_hash": f"sha256-{base64.b64encode(hashlib.sha256(behaviour.encode()).digest()).decode()}",
    }


def _data(value: Any) -> Markup:
    """Values as JSON that a script of the page reads; nothing in it ends the element that it stands in."""
    encoded = json.dumps(value, separators=(",", ":")).replace("<", "\\u003c")
    return Markup(encoded)  # noqa: S704 -- no character in it begins a tag


def _addresses(page: Page, where: Mapping[str, str]) -> Callable[[str], str]:
    """Links from a page to a cell or a group, by id or anchor."""

    def address(name: str) -> str:
        target = where.get(name, page.name)
        return f"{'' if target == page.name else target}#{quote(name, safe='/', errors='replace')}"

    return address


def page_environment() -> "Environment":
    """The environment that every page is rendered in, with its filters."""
    # Most commands write no page.
    from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape  # noqa: PLC0415

    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=select_autoescape(default=True, default_for_string=True),
        undefined=StrictUndefined,
        finalize=lambda value: text.clean(value) if type(value) is str else value,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        **{
            name: getattr(text, name)
            for name in (
                *("clean_line", "rate", "rate_interval", "factor", "factor_interval", "verdict", "seconds", "memory"),
                *("gpu_figures", "share", "seconds_bounds"),
                *("epoch_figures", "count", "next_interval", "percent", "statuses", "plural", "repeats", "options"),
            )
        },
        "charts": charts,
        "circles": _circles,
        "curves": curves,
        "facts": _facts,
        "harness_shares": lambda part: {place.cell_id: place.harness_share for place in part.places},
        "learned": lambda cells: [cell for cell in cells if cell.epochs and cell.epochs.curve],
        "moment": lambda iso: iso.replace("T", " ").replace("+00:00", " UTC").replace("Z", " UTC"),
        "numbered": _numbered,
        "of_bar": lambda pair: max((each.value / each.bar for each in pair.differences if each.bar), default=None),
        "parity_lines": lines,
        "of": lambda name, values: values[name],
        "percent_whole": lambda share: f"{100 * share:.0f}\N{NO-BREAK SPACE}%",
        "said": lambda sentence: sentence.removeprefix("Inconclusive: "),  # the mark before it says so
        "short": _short,
        "short_digest": lambda name: _DIGEST.sub(r"\1…", name),
        "url": lambda path: quote(path, safe="/", errors="replace"),
        "using": _using,
    }
    return environment


def _circles(dots: Sequence[tuple[float, float]], radius: float) -> Markup:
    """Dots of a lane, at once: there are more of them than of anything else in a page."""
    drawn = "".join(f'<circle cx="{x:g}%" cy="{y:.0f}" r="{radius:g}"/>' for x, y in dots)
    return Markup(drawn)  # noqa: S704 -- formatted numbers, nothing else


def _using(cells: Sequence[CellReport], what: str) -> bool:
    """Whether any repeat tells what it took: `used` of its process, or of its `gpus`."""
    return any(getattr(repeat.measurement, what, None) is not None for cell in cells for repeat in cell.repeats)


def _facts(facts: Sequence[tuple[str, str]], name: str) -> str:
    """The value of one fact, `–` where it is unknown."""
    return dict(facts).get(name, "–")


def _numbered(cells: Sequence[CellReport], part: int) -> dict[str, str]:
    """Short names that tie the rows and lanes of a cell together, unique on a page."""
    return {cell.cell.id: f"{part}.{number}" for number, cell in enumerate(cells)}


def _short(value: Any) -> str:
    """A number to sort by; empty where it is unknown."""
    return "" if value is None else f"{value:.6g}"
