"""The formats that reports are shown in, one row each, read by every command.

The rows import no layout, since a shell that completes `--format` waits for them.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from orchestrator.reporting.document import Content, Kind

TABLE = "table"
HTML = "html"
JSON = "json"
GITHUB = "github"


@dataclass(frozen=True, slots=True)
class Format:
    """A way to show reports, whose module is imported when it is first needed."""

    name: str
    view: str
    """The field of `Kind` that it renders."""
    module: str
    endings: tuple[str, ...] = ()
    """Endings of files that name it."""
    also: tuple[str, ...] = ()
    """Endings of files that name another format, and may hold this one if it is asked for."""


_JSON = (".json",)
FORMATS = (
    Format(TABLE, "short", "terminal"),
    Format("md", "full", "markdown", (".md", ".markdown")),
    Format("csv", "records", "csv", (".csv",)),
    Format("tsv", "records", "tsv", (".tsv",)),
    Format(JSON, "value", "json", (".json",)),
    Format("junit", "suites", "junit", (".xml",)),
    Format(HTML, "pages", "html", (".html", ".htm")),
    Format(GITHUB, "suites", "interchange.github"),
    Format("github-comment", "full", "interchange.github_comment", also=(".md",)),
    Format("bencher", "measures", "interchange.bencher", also=_JSON),
    Format("pytorch", "measures", "interchange.pytorch", also=_JSON),
    Format("bigger-is-better", "measures", "interchange.bigger_is_better", also=_JSON),
    Format("smaller-is-better", "measures", "interchange.smaller_is_better", also=_JSON),
    Format("openmetrics", "measures", "interchange.openmetrics", (".prom",)),
    Format("otlp", "traces", "interchange.otlp", also=_JSON),
)


def formats_of(kind: "Kind[Content]") -> tuple[str, ...]:
    """Return the names of the formats that a kind of report can be shown in."""
    return tuple(each.name for each in FORMATS if getattr(kind, each.view) is not None)


def render_all(kind: "Kind[Content]", content: "Content", name: str) -> Iterable[str]:
    """Render a report in the format of this name, as one text or one for each page.

    Raises `KeyError` if there is no such format of this kind.
    """
    row = next((each for each in FORMATS if each.name == name), None)
    view = getattr(kind, row.view) if row else None
    if row is None or view is None:
        raise KeyError(name)
    rendered: Iterable[str] = import_module(f"{__name__}.{row.module}").texts(view(content))
    return rendered


def render(kind: "Kind[Content]", content: "Content", name: str) -> str:
    """Render a report in the format of this name as one text, the first of several pages."""
    return next(iter(render_all(kind, content, name)))
