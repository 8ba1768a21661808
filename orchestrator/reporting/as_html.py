"""HTML: one page that works from disk without a network, with its chart script beside it."""

import json
import os
import re
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape
from markupsafe import Markup

from orchestrator.analysis import CONFIDENCE, PHASES, TOLERANCE, thin
from orchestrator.errors import HostError
from orchestrator.reporting import text
from orchestrator.reporting.model import CellReport, Group, Report
from orchestrator.results.store import write_atomically

PAGE = "index.html"
SCRIPT = "plotly.min.js"
_TEMPLATES = Path(__file__).parent / "templates"
_MOST_STEPS = 60_000
"""Step times drawn on one page, all cells together; the tables and files know them all."""
_MOST_IN_MATRIX = 20
_DIGEST = re.compile(r"(sha256:[0-9a-f]{12})[0-9a-f]+")


def write_html(report: Report, folder: Path, run_folder: Path | None = None) -> Path:
    """Write the page and its script into `folder` and return the page's path.

    With `run_folder` the page links to the raw files there, relatively, so both can be moved together.
    Raises `HostError` where the folder cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise HostError(f"{folder}: cannot be made: {error.strerror}; choose another place with -o") from error
    script = files("plotly").joinpath("package_data", "plotly.min.js").read_text(encoding="utf-8")
    beside = folder / SCRIPT
    if not beside.is_file() or beside.stat().st_size != len(script.encode()):
        write_atomically(beside, script)
    raw = None if run_folder is None else os.path.relpath(run_folder.resolve(), folder.resolve())
    page = folder / PAGE
    write_atomically(page, html_text(report, raw))
    return page


def html_text(report: Report, raw: str | None = None) -> str:
    """Render the page; `raw` is the relative path from it to the run's folder, None for no links to raw files."""
    return _environment().get_template("report.html.jinja").render(
        report=report,
        cells=report.by_id,
        raw=None if raw is None else Path(raw).as_posix(),
        script=SCRIPT,
        style=Markup((_TEMPLATES / "report.css").read_text(encoding="utf-8")),  # noqa: S704 -- a file of our own
        behaviour=Markup((_TEMPLATES / "report.js").read_text(encoding="utf-8")),  # noqa: S704 -- a file of our own
        data=_script_json(chart_data(report)),
        phases=PHASES,
        confidence=CONFIDENCE,
        tolerance=TOLERANCE,
        most_in_matrix=_MOST_IN_MATRIX,
        epoch_heads=text.EPOCH_HEADS,
        epoch_note=text.EPOCH_NOTE,
    )  # fmt: skip


def chart_data(report: Report) -> dict[str, Any]:
    """What the charts draw, by the anchors of their groups; numbers to five digits."""
    cells = report.by_id
    drawn = sum(cell.measurement is not None for cell in report.cells)
    most = max(20, min(400, _MOST_STEPS // max(1, drawn)))
    return {
        group.anchor: [_drawn(cells[place.cell_id], most) for place in group.places if place.rank is not None]
        for group in report.groups
    }


def _drawn(cell: CellReport, most_steps: int) -> dict[str, Any]:
    found = cell.measurement
    if found is None:
        raise ValueError(f"{cell.cell.id} was not measured")
    throughput = found.throughput
    return {
        "label": cell.label,
        "repeats": [_short(each.measurement.samples_per_s) for each in cell.repeats if each.measurement],
        "value": _short(throughput.value),
        "low": None if throughput.low is None else _short(throughput.low),
        "high": None if throughput.high is None else _short(throughput.high),
        "steps_ms": [_short(1000 * step) for step in thin(found.step_s, most_steps)],
        "phases_s": {name: _short(value) for name, value in found.phases_s},
    }


def _short(value: float) -> float:
    return float(f"{value:.5g}")


def _script_json(value: object) -> Markup:
    # Inside <script> only "<" can end the script or open a comment.
    return Markup(json.dumps(value, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c"))  # noqa: S704 -- escaped here


def _environment() -> Environment:
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
                *("epoch_figures", "count", "percent", "statuses", "plural", "repeats", "options"),
            )
        },
        "url": lambda path: quote(path, safe="/"),
        "facts": _facts,
        "moment": lambda iso: iso.replace("T", " ").replace("+00:00", " UTC").replace("Z", " UTC"),
        "measured": _measured,
        "in_epochs": lambda ids, cells: [cells[each] for each in ids if cells[each].epochs],
        "short_digest": lambda name: _DIGEST.sub(r"\1…", name),
    }
    return environment


def _facts(facts: Sequence[tuple[str, str]], name: str) -> str:
    """The value of one fact, `–` where it is unknown."""
    return dict(facts).get(name, "–")


def _measured(group: Group) -> list[str]:
    """Ids of the measured cells of a group, in the order of its ratio matrix."""
    return [place.cell_id for place in group.places if place.rank is not None]
