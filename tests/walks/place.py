"""A folder in which the commands of a page run as they stand, with stand-ins for what is not here.

The program is the real one. It finds no engine, makes environments of releases that install in no time, and writes down
every call with its exit status. Other programs are the real ones, but for those in `STANDING_IN`.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from bench.documentation.documented_commands import blocks_of, calls_in
from orchestrator.resources import ROOT

PROGRAM = """\
#!{python}
import json, os, sys
from orchestrator.cli import main

asked = sys.argv[1:]
further = [tuple(each) for each in json.loads(os.environ["WALK_FURTHER"])]
words = [*asked, *(word for name, *more in further if asked[:1] == [name] for word in more)]
code = 0
try:
    main(words)
except SystemExit as ended:
    code = int(ended.code or 0)
with open(os.environ["WALK_CALLS"], "a", encoding="utf-8") as calls:
    calls.write(json.dumps([asked, code]) + "\\n")
allowed = json.loads(os.environ["WALK_EXITS"])
sys.exit(0 if code in allowed.get(" ".join(asked), allowed.get(asked[0], [])) else code)
"""
"""Ends as the page expects where its status is one of those that the walk allows."""
TYPED = "#!/bin/sh\nprintf 'noop\\nmlp\\n\\n2\\n' | script -qec \"orchestrator $*\" /dev/null\n"
"""The program on a terminal, with the answers of a user who begins."""
DUCKDB = "#!{python}\nimport sys, duckdb\nassert sys.argv[1] == '-c'\nprint(duckdb.sql(sys.argv[2]).fetchall())\n"
"""DuckDB itself, by its package for Python."""


@dataclass(frozen=True)
class StandIn:
    """A program that takes the place of one that a page calls."""

    script: str
    """For `sh`, in which `{root}` is the checkout, `{python}` this interpreter and `{make}` the real make."""
    reason: str
    """The work that it leaves out, and why."""


STANDING_IN: Mapping[str, StandIn] = {
    "bencher": StandIn("exit 0", "does nothing: the real one sends figures to a service, and needs an account there"),
    "make": StandIn(
        'exec {make} --dry-run --no-print-directory -C {root} "$@" > /dev/null',
        "make itself, in a dry run: a target must exist, but its commands would take minutes",
    ),
    "pip": StandIn("exit 0", "does nothing: tests/walks/test_installed_extras.py installs with the real one"),
    "pytest": StandIn(
        'cd {root} && exec {python} -m pytest --collect-only -q -p no:cacheprovider "$@" > /dev/null',
        "pytest itself, which only collects: tests must be found, but their run would take minutes",
    ),
    "uv": StandIn(
        "exit 0", "does nothing: tests/container/test_tutorials_without_engine.py installs with the real one"
    ),
}
"""Programs that a page calls besides ours, and that are not the real ones here."""
RECEIVER = "$RECEIVER"
"""In place of the address of a collector: one that reads every request, and refuses what is none."""


@dataclass(frozen=True)
class Walk:
    """The files that a page assumes, and the ways in which its commands may end."""

    arrange: Callable[[Path], object] = lambda folder: None
    """Put the files into the folder that the page speaks of."""
    exits: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """Statuses besides 0, of a command or of a whole line."""
    further: tuple[tuple[str, ...], ...] = ()
    """Options that make a command small, after its name."""
    instead: Mapping[str, str] = field(default_factory=dict)
    """Texts of the page that stand for something of the reader's, with ours."""
    sections: tuple[str, ...] = ()
    """The sections that are walked; all of them where none is named."""

    @property
    def posts(self) -> bool:
        """Return whether the page posts spans, and so needs a receiver."""
        return RECEIVER in self.instead.values()

    @property
    def measures(self) -> bool:
        """Return whether the page measures, so that it needs options that make this small."""
        return bool(self.further)

    def scripts(self, page: Path) -> list[str]:
        """Return the blocks of a page that are walked, as they are run."""
        texts = [each.script for each in blocks_of(page) if not self.sections or each.section in self.sections]
        for shown, used in self.instead.items():
            assert any(shown in text for text in texts), f"{page.name} no longer has {shown!r}"
            texts = [text.replace(shown, used) for text in texts]
        return texts

    def expected(self, page: Path) -> list[tuple[str, ...]]:
        """Return the arguments of every call of the program that these blocks hold."""
        return [arguments for script in self.scripts(page) for _, arguments in calls_in(script)]


@dataclass(frozen=True)
class Call:
    """One call of the program."""

    arguments: tuple[str, ...]
    status: int


@dataclass(frozen=True)
class Place:
    """The folder of a walk."""

    folder: Path
    wheels: Path
    cache: Path
    receiver: str = ""
    """The address of a receiver of spans."""

    def walk(self, page: Path, walk: Walk) -> list[Call]:
        """Run the blocks of a page in their order. Raises `AssertionError` if one ends badly."""
        self._tools()
        walk.arrange(self.folder)
        for text in walk.scripts(page):
            # A further line keeps the shell itself the parent of the last command.
            ended = subprocess.run(
                ["bash", "-c", f"set -euo pipefail\n{text}\n:"],
                cwd=self.folder, env=self._variables(walk), capture_output=True, text=True, check=False, input="",
            )  # fmt: skip
            assert ended.returncode == 0, f"{page.name}: {text}{ended.stdout[-3000:]}\n{ended.stderr[-3000:]}"
        return self.calls()

    def calls(self) -> list[Call]:
        """Return the calls so far."""
        lines = self._log.read_text(encoding="utf-8").splitlines() if self._log.exists() else []
        home = str(self.folder.parent / "home")
        return [
            Call(tuple(word.replace(home, "~") for word in arguments), status)
            for arguments, status in map(json.loads, lines)
        ]

    @property
    def _log(self) -> Path:
        return self.folder.parent / "calls.jsonl"

    def _tools(self) -> None:
        tools, own = self.folder.parent / "tools", self.folder / ".venv" / "bin"
        for place in (tools, tools / "terminal", own, self.folder.parent / "home"):
            place.mkdir(parents=True, exist_ok=True)
        script(tools / "orchestrator", PROGRAM.replace("{python}", sys.executable))
        script(tools / "terminal" / "orchestrator", TYPED)
        script(own / "orchestrator", f'#!/bin/sh\nexec "{tools}/orchestrator" "$@"\n')
        for path in (tools / "python", own / "python"):
            script(path, f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
        script(tools / "duckdb", DUCKDB.replace("{python}", sys.executable))
        known = {"root": str(ROOT), "python": sys.executable, "make": str(shutil.which("make"))}
        for name, each in STANDING_IN.items():
            text = re.sub(r"\{(\w+)\}", lambda found: shlex.quote(known[found[1]]), each.script)
            script(tools / name, f"#!/bin/sh\n{text}\n")

    def _variables(self, walk: Walk) -> dict[str, str]:
        near = self.folder.parent
        return {
            # As in an installation, whose manual lies beside its programs.
            "PATH": os.pathsep.join([str(near / "tools"), str(self.folder / ".venv" / "bin"), os.environ["PATH"]]),
            "PYTHONPATH": str(ROOT), "LANG": "C.UTF-8", "COLUMNS": "200",
            "HOME": str(near / "home"), "XDG_CACHE_HOME": str(self.cache),
            "VIRTUAL_ENV": str(self.folder / ".venv"), "TERMINAL": str(near / "tools" / "terminal"),
            "DOCKER_HOST": f"unix://{near}/no.sock", "ORCHESTRATOR_IDLE_WAIT": "0",
            "ORCHESTRATOR_LOCK_FOLDER": os.environ["ORCHESTRATOR_LOCK_FOLDER"],
            "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(self.wheels), "PIP_CONFIG_FILE": os.devnull,
            "RECEIVER": self.receiver, "WALK_CALLS": str(self._log), "WALK_FURTHER": json.dumps(walk.further),
            "WALK_EXITS": json.dumps(walk.exits),
        }  # fmt: skip


def script(path: Path, text: str) -> None:
    """Write a program."""
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)
