"""HTML pages that work from disk without a network."""

import base64
import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from orchestrator.errors import HostError
from orchestrator.reporting.charts.heat import heat
from orchestrator.reporting.document import Page
from orchestrator.reporting.formats.html_text import address, quoted, sentence, table
from orchestrator.reporting.inline import moment, plain
from orchestrator.results.files.writing import write_atomically
from orchestrator.wording import clean, factor

if TYPE_CHECKING:
    from jinja2 import Environment

INDEX = "index.html"
_TEMPLATES = Path(__file__).parent / "templates"


def write_pages(pages: Iterable[tuple[str, str]], folder: Path) -> Path:
    """Write pages, each a name and a text, into a folder and return the path of the index.

    Raises `HostError` if the folder cannot be made or written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise HostError(f"{folder}: cannot be made: {error.strerror}; choose another place with -o") from error
    for name, page in pages:
        write_atomically(folder / name, page)
    return folder / INDEX


def texts(pages: Iterable[tuple[str, Page]]) -> Iterator[str]:
    """Render the text of each page."""
    yield from (text for _, text in named_texts(pages))


def named_texts(pages: Iterable[tuple[str, Page]]) -> Iterator[tuple[str, str]]:
    """Render the name and the text of each page."""
    template = _environment().get_template("document.html.jinja")
    parts = _parts()
    yield from ((name, template.render(page=page, **parts)) for name, page in pages)


def _parts() -> dict[str, Any]:
    """Return the style of every page, and its script with the hash that allows the script to run."""
    behaviour = (_TEMPLATES / "report.js").read_text(encoding="utf-8").strip()
    return {
        "style": Markup((_TEMPLATES / "report.css").read_text(encoding="utf-8")),  # noqa: S704 -- a file of our own
        "behaviour": Markup(behaviour),  # noqa: S704 -- a file of our own
        "script_hash": f"sha256-{base64.b64encode(hashlib.sha256(behaviour.encode()).digest()).decode()}",
    }


@cache
def _environment() -> "Environment":
    """Return the environment that renders every page."""
    # Most commands write no page.
    from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape  # noqa: PLC0415

    from orchestrator.reporting.formats.compiled import CompiledTemplates  # noqa: PLC0415

    environment = Environment(
        bytecode_cache=CompiledTemplates(_TEMPLATES),
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=select_autoescape(default=True, default_for_string=True),
        undefined=StrictUndefined,
        finalize=lambda value: clean(value) if type(value) is str else value,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "address": address,
        "circles": _circles,
        "factor": factor,
        "heat": heat,
        "quoted": quoted,
        "words": plain,
        "moment": moment,
        "data": _data,
        "sentence": sentence,
        "table": table,
    }
    return environment


def _data(value: Sequence[Any]) -> Markup:
    """Encode values as JSON that does not end the script element that it stands in."""
    encoded = json.dumps(value, separators=(",", ":")).replace("<", "\\u003c")
    return Markup(encoded)  # noqa: S704 -- no character in it begins a tag


def _circles(dots: Sequence[tuple[float, float]], radius: float) -> Markup:
    """Draw the dots of a lane at once, because a page has more dots than anything else."""
    drawn = "".join(f'<circle cx="{x:g}%" cy="{y:.0f}" r="{radius:g}"/>' for x, y in dots)
    return Markup(drawn)  # noqa: S704 -- formatted numbers, nothing else
