"""The page that explains an error, by its address or, where none is known, by its name."""

import os
import re
import sys
from collections.abc import Iterator, Sequence

from orchestrator.cli.output import manner
from orchestrator.cli.output.manner import Loudness
from orchestrator.errors import HostError, OrchestratorError

ADDRESS = "ORCHESTRATOR_DOCS"
"""The variable with the address of the documentation, such as that of a mirror without internet.

`{page}` in it stands for the name of a page, as in `https://docs.example.org/{page}.html`.
"""
DISTRIBUTION = "framework-bench-orchestrator"
PAGES = {
    "init": "matrix", "plan": "matrix", "build": "catalog", "run": "matrix", "cancel": "cluster", "render":
    "kubernetes", "report": "report", "runs": "report", "show": "report", "models": "models", "frameworks":
    "catalog", "schema": "report#for-programs", "publish": "site", "serve": "serve", "regress": "regression", "bisect":
    "regression/bisect", "compare": "regression/stored-runs", "nightly": "nightly", "history": "nightly/history",
    "export": "offline", "verify": "offline", "load": "offline", "push": "registry", "anonymise":
    "serving/anonymise", "collect": "offline", "merge": "offline", "data": "datasets", "doctor": "host", "clean":
    "host",
}  # fmt: skip
"""The page of each command, which explains its mistakes of input."""
HOST_PAGES = {
    "cancel": "cluster", "render": "kubernetes", "nightly": "nightly", "push": "registry", "serve": "serve",
}  # fmt: skip
"""The pages of commands whose host errors are not those of every host."""
OF_MATRIX = frozenset(name for name, page in PAGES.items() if page == "matrix") | {"build", "export", "regress", "push"}
SECTIONS = {
    "systems": "matrix", "frameworks": "matrix", "models": "matrix", "ops": "matrix/work", "options":
    "matrix/selection", "exclude": "matrix/selection", "include": "matrix/selection", "build": "matrix/build",
    "output": "matrix/build",
}  # fmt: skip
"""The page of each key of a matrix that has a section of its own."""
_PLACE = re.compile(r"\S+\.ya?ml:\d+:\d+: (?P<key>\w+)")


def say_pages(command: str, messages: Sequence[str], error: OrchestratorError) -> None:
    """Say on a terminal which pages explain the messages of an error, each page once."""
    if not sys.stderr.isatty() or manner.current().for_programs or manner.current().loudness is Loudness.QUIET:
        return
    from orchestrator.cli.output import speech

    base = address()
    for page in dict.fromkeys(pages_of(command, messages, error)):
        speech.say(f"see {linked(page, base)}")


def pages_of(command: str, messages: Sequence[str], error: OrchestratorError) -> Iterator[str]:
    """Yield the name of a page for each message, such as `matrix#models`, nothing for an unknown command."""
    for message in messages:
        place = _PLACE.match(message)
        if place and command in OF_MATRIX:
            key = place["key"]
            yield f"{SECTIONS[key]}#{key}" if key in SECTIONS else "matrix"
        elif isinstance(error, HostError):
            yield HOST_PAGES.get(command, "host")
        elif command in PAGES:
            yield PAGES[command]


def linked(page: str, base: str) -> str:
    """Return the address of a page below the address of the documentation, or its name in a checkout without one."""
    name, mark, anchor = page.partition("#")
    if "{page}" in base:
        return f"{base.replace('{page}', name)}{mark}{anchor}"
    return f"{base.rstrip('/') or 'docs'}/{name}.md{mark}{anchor}"


def address() -> str:
    """Return the address of the documentation: that of the environment, or of the installed package, or nothing."""
    named = os.environ.get(ADDRESS)
    if named is not None:
        return named
    from importlib import metadata  # reading of packages takes longer than all else that a command line needs

    try:
        listed = metadata.metadata(DISTRIBUTION).get_all("Project-URL") or []
    except metadata.PackageNotFoundError:
        return ""
    urls = dict(each.partition(", ")[::2] for each in listed)
    return str(urls.get("Documentation", ""))
