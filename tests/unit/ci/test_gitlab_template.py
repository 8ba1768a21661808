"""The template for GitLab: its script is run as a runner runs it, against a server that keeps notes."""

import json
import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import yaml

from orchestrator.reporting.formats.interchange.github_comment import MARK
from orchestrator.resources import ROOT
from tests.unit.foreign.real_files import TOOLS, real

TEMPLATE = yaml.safe_load((ROOT / "ci" / "gitlab" / "compare.yml").read_text())
JOB = TEMPLATE[".orchestrator-compare"]
NOTES = "/api/v4/projects/3/merge_requests/8/notes"
ME, SOMEBODY = 5, 6
TOKEN = "secret"
OWN = "<!-- orchestrator: compare -->"
PIP = '#!/bin/sh\nprintf "%s\\n" "$@" > "$CALLS"\n'


@dataclass
class GitLab:
    """A server with the notes of one merge request, two on a page."""

    notes: list[dict[str, Any]] = field(default_factory=list)
    written: list[tuple[str, str]] = field(default_factory=list)
    """Method and path of what has changed a note."""
    address: str = ""

    def answer(self, method: str, asked: str, body: str) -> Any:
        """Return what GitLab answers, or None for what it does not know."""
        path = urlsplit(asked).path
        if method != "GET":
            self.written.append((method, path))
        if (method, path) == ("GET", "/api/v4/user"):
            return {"id": ME}
        if (method, path) == ("GET", NOTES):
            page = int(parse_qs(urlsplit(asked).query)["page"][0])
            return self.notes[2 * page - 2 : 2 * page]
        if (method, path) == ("POST", NOTES):
            self.notes.append({"id": len(self.notes), "author": {"id": ME}, **json.loads(body)})
            return self.notes[-1]
        for note in self.notes:
            if (method, path) == ("PUT", f"{NOTES}/{note['id']}"):
                note.update(json.loads(body))
                return note
        return None


@pytest.fixture
def server() -> Iterator[GitLab]:
    gitlab = GitLab()

    class Handler(BaseHTTPRequestHandler):
        def answered(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"] or 0)).decode()
            known = self.headers["PRIVATE-TOKEN"] == TOKEN
            answer = gitlab.answer(self.command, self.path, body) if known else None
            self.send_response(404 if answer is None else 200)
            self.end_headers()
            self.wfile.write(json.dumps(answer).encode())

        def do_GET(self) -> None:
            self.answered()

        def do_POST(self) -> None:
            self.answered()

        def do_PUT(self) -> None:
            self.answered()

        def log_message(self, *arguments: object) -> None:
            return

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as made:
        thread = threading.Thread(target=made.serve_forever)
        thread.start()
        gitlab.address = f"http://127.0.0.1:{made.server_port}/api/v4"
        yield gitlab
        made.shutdown()
        thread.join()


def run(folder: Path, candidate: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run the lines of the script in one shell, as a runner does."""
    programs = folder / "programs"
    programs.mkdir(exist_ok=True)
    for name, text in (("orchestrator", f'#!/bin/sh\nexec {sys.executable} -m orchestrator "$@"\n'), ("pip", PIP)):
        (programs / name).write_text(text)
        (programs / name).chmod(0o755)
    given = {
        "PATH": f"{programs}:{os.environ['PATH']}", "HOME": str(folder), "PYTHONPATH": str(ROOT),
        "ORCHESTRATOR_INSTALL": "none", "ORCHESTRATOR_BASELINE": str(real(TOOLS[0], "before")),
        "ORCHESTRATOR_CANDIDATE": str(real(TOOLS[0], candidate)), "no_proxy": "127.0.0.1",
        "CALLS": str(folder / "calls"), "CI_JOB_NAME": "compare",
    }  # fmt: skip
    shell = shutil.which("sh")
    assert shell
    script = "\n".join(JOB["script"])
    return subprocess.run(
        [shell, "-e", "-c", script], cwd=folder, env=JOB["variables"] | given | variables, capture_output=True,
        text=True, check=False,
    )  # fmt: skip


def run_for(server: GitLab, folder: Path, candidate: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run the script in a merge request."""
    merge_request = {"CI_API_V4_URL": server.address, "CI_PROJECT_ID": "3", "CI_MERGE_REQUEST_IID": "8"}
    return run(folder, candidate, **{"ORCHESTRATOR_TOKEN": TOKEN, **merge_request, **variables})


def test_the_artifacts_are_written(tmp_path: Path) -> None:
    ended = run(tmp_path, "again")

    assert ended.returncode == 0, ended.stderr
    reports = JOB["artifacts"]["reports"]
    assert "<testsuite" in (tmp_path / reports["junit"]).read_text()
    assert "orchestrator_time_ratio{" in (tmp_path / reports["metrics"]).read_text()
    assert (tmp_path / JOB["artifacts"]["paths"][0]).is_file()


def test_a_worse_candidate_gets_a_note(tmp_path: Path, server: GitLab) -> None:
    ended = run_for(server, tmp_path, "slower")

    assert ended.returncode == 1, ended.stderr
    (note,) = server.notes
    first, _, rest = note["body"].partition("\n")
    assert first == OWN
    assert f"{MARK}\n{rest}" == (tmp_path / "orchestrator.md").read_text()
    assert "is worse than" in rest


def test_later_pushes_replace_the_note(tmp_path: Path, server: GitLab) -> None:
    """The note says what the last push gave: worse, worse again, and good."""
    bodies = []
    for candidate, status in (("slower", 1), ("slower", 1), ("again", 0)):
        assert run_for(server, tmp_path, candidate).returncode == status
        bodies.append(server.notes[0]["body"])

    assert server.written == [("POST", NOTES), ("PUT", f"{NOTES}/0"), ("PUT", f"{NOTES}/0")]
    assert ["is worse than" in body for body in bodies] == [True, True, False]
    assert bodies[2].startswith(OWN)


def test_a_good_candidate_gets_no_note(tmp_path: Path, server: GitLab) -> None:
    assert run_for(server, tmp_path, "again").returncode == 0
    assert server.written == []


def test_only_its_own_note_is_replaced(tmp_path: Path, server: GitLab) -> None:
    """A note of somebody else with the mark, and one of another job, stay; its own is on the second page."""
    others = [(SOMEBODY, f"{OWN}\nmine"), (ME, "<!-- orchestrator: other -->\nold"), (ME, f"{OWN}\nold")]
    server.notes = [{"id": number, "author": {"id": who}, "body": text} for number, (who, text) in enumerate(others)]

    assert run_for(server, tmp_path, "slower").returncode == 1
    assert server.written == [("PUT", f"{NOTES}/2")]


def test_the_name_of_a_job_does_not_end_the_mark(tmp_path: Path, server: GitLab) -> None:
    run_for(server, tmp_path, "slower", CI_JOB_NAME="a --> b")

    assert server.notes[0]["body"].partition("\n")[0] == "<!-- orchestrator: a - -> b -->"


def test_without_a_token_nothing_is_posted(tmp_path: Path, server: GitLab) -> None:
    assert run_for(server, tmp_path, "slower", ORCHESTRATOR_TOKEN="").returncode == 1
    assert server.written == []


def test_a_refused_token_leaves_the_verdict(tmp_path: Path, server: GitLab) -> None:
    ended = run_for(server, tmp_path, "slower", ORCHESTRATOR_TOKEN="wrong")

    assert (ended.returncode, server.notes) == (1, [])
    assert "the note of the merge request could not be written" in ended.stderr


def test_what_is_installed_has_to_be_said(tmp_path: Path) -> None:
    """The template installs nothing by a name that it made up."""
    ended = run(tmp_path, "again", ORCHESTRATOR_INSTALL=JOB["variables"]["ORCHESTRATOR_INSTALL"])

    assert ended.returncode == 2
    assert ended.stderr.startswith("ORCHESTRATOR_INSTALL is not set. Set it to what pip installs: a wheel, ")
    assert not (tmp_path / "calls").exists()


def test_what_is_said_is_installed(tmp_path: Path) -> None:
    ended = run(tmp_path, "again", ORCHESTRATOR_INSTALL="git+https://host/group/project@main")

    assert ended.returncode == 0, ended.stderr
    *options, installed = (tmp_path / "calls").read_text().splitlines()
    assert options[0] == "install"
    assert installed == "git+https://host/group/project@main"


def test_a_mistake_ends_the_job(tmp_path: Path) -> None:
    ended = run(tmp_path, "again", ORCHESTRATOR_METRICS="time tme")

    assert ended.returncode == 2
    assert "did you mean 'time'?" in ended.stderr


def test_the_page_extends_the_template() -> None:
    page = (ROOT / "docs" / "ci.md").read_text()
    (block,) = (
        made
        for text in re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)
        if "include" in (made := yaml.safe_load(text))
    )
    (job,) = (each for name, each in block.items() if name != "include")

    assert job["extends"] in TEMPLATE
    assert job["variables"]["ORCHESTRATOR_INSTALL"]
    assert job["variables"].keys() <= JOB["variables"].keys()
