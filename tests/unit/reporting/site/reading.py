"""Reading a published site back, as its page does."""

import re
from pathlib import Path
from typing import Any

from orchestrator.reporting.site.encoding import decoded, parsed


def index_of(site: Path) -> dict[str, Any]:
    """Return the index that the page loads."""
    (name,) = re.findall(r"data/(i-[0-9a-f]{16})\.js", (site / "index.html").read_text())
    return document(site, name)


def document(site: Path, name: str) -> dict[str, Any]:
    """Return a document by its name."""
    return parsed((site / "data" / f"{name}.js").read_text())


def rows(site: Path, metric: str) -> dict[tuple[str, str], tuple[float | None, int | None]]:
    """Return value and half width of a metric, by run and id of the cell."""
    index = index_of(site)
    column = document(site, index["files"]["metrics"][metric])
    ids = decoded(index["cells"]["id"])
    keys = [
        (run, ids[cell])
        for run, plan in zip(index["runs"]["run"], index["runs"]["plan"], strict=True)
        for cell in index["plans"][plan]
    ]
    return dict(zip(keys, zip(column["v"], column["e"], strict=True), strict=True))
