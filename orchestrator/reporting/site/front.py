"""The page of a site with its style and its scripts, which are the same for every site."""

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path

FRONT = Path(__file__).parent / "front"
SERVED = Path(__file__).parent / "served"
"""The script and the style of the live view, which a server alone adds."""
VENDORED = {"vendor/d3-7.9.2/d3.min.js": "912111098ea99503a6f4967361d2bbdc9dbf58cf9c678c8e27e5b02d1a07f0c1"}
"""Files of others with their SHA-256, as npm has them; the licence of each lies next to it."""
STYLE = "app/site.css"
SCRIPTS = (
    "core", "elements", "format", "colours", "table", "routes", "model", "ratios", "lines", "commands", "export",
    "figure", "controls", "charts", "views/heat_map", "views/overview", "views/cell_figures", "views/cell",
    "views/runs", "views/run", "views/compare", "views/series", "views/scaling", "views/frontier", "views/pareto",
    "views/nights", "views/searches", "views/claims", "views/find", "main",
)  # fmt: skip
"""The scripts of the page, in the order in which they run."""
_POLICY = (
    # `file:` is what Firefox needs from disk; no page of a web server may load such an address.
    "default-src 'none'; script-src 'self' file:; style-src 'self' file:; img-src data: blob:; "
    "base-uri 'none'; form-action 'none'"
)
_POLICY_LINE = f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
{policy}<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>Results</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="{style}">
{scripts}
</head>
<body>
<a class="jump" href="#main" id="jump">To the content</a>
<header class="page" id="top"></header>
<main id="main" tabindex="-1">
<p class="wait">Loading …</p>
<noscript><p>This page needs JavaScript.</p></noscript>
</main>
<footer class="page" id="foot"></footer>
</body>
</html>
"""


def front_files() -> Iterator[tuple[str, bytes]]:
    """Yield the place and the content of every file of the front, licences too."""
    for path in sorted(FRONT.rglob("*")):
        if path.is_file():
            yield path.relative_to(FRONT).as_posix(), path.read_bytes()


def page(index: str) -> str:
    """Return the page, which loads the index of that name.

    Its own scripts are named with their content, so that no browser mixes those of two versions.
    """
    names = [*(f"app/{name}.js" for name in SCRIPTS[:-1]), f"data/{index}.js", f"app/{SCRIPTS[-1]}.js"]
    scripts = "\n".join(f'<script defer src="{_versioned(name)}"></script>' for name in names)
    return _PAGE.format(policy=_POLICY_LINE, style=_versioned(STYLE), scripts=scripts)


def served_page(page: str) -> str:
    """Return the page of a site with the live view, for a server that sends a policy of its own along."""
    last = f'<script defer src="{_versioned(f"app/{SCRIPTS[-1]}.js")}"></script>'
    live = f'<script defer src="{_served("live.js")}"></script>\n{last}'
    return (
        page.replace(_POLICY_LINE, "")
        .replace(last, live)
        .replace("</head>", f'<link rel="stylesheet" href="{_served("live.css")}">\n</head>')
    )


def index_name(page: str) -> str:
    """Return the name of the index that a page loads, or an empty text."""
    named = re.search(r'src="data/(i-[0-9a-f]{16})\.js"', page)
    return named[1] if named else ""


def _served(name: str) -> str:
    return f"served/{name}?{hashlib.sha256((SERVED / name).read_bytes()).hexdigest()[:8]}"


def _versioned(name: str) -> str:
    path = FRONT / name
    if not path.is_file():
        return name
    return f"{name}?{hashlib.sha256(path.read_bytes()).hexdigest()[:8]}"
