"""The template for GitLab: its script is run as a runner runs it, against a server that takes notes."""

import os
import re
import shutil
import subprocess
import sys
import threading
import urllib.parse
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import yaml

from orchestrator.resources import ROOT
from tests.unit.foreign.real_files import TOOLS, real

TEMPLATE = yaml.safe_load((ROOT / "ci" / "gitlab" / "compare.yml").read_text())
JOB = TEMPLATE[".orchestrator-compare"]
Notes = list[tuple[str, str, str]]


@pytest.fixture
def server() -> Iterator[tuple[str, Notes]]:
    notes: Notes = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            notes.append((self.path, self.headers["PRIVATE-TOKEN"], urllib.parse.parse_qs(body)["body"][0]))
            self.send_response(201)
            self.end_headers()

        def log_message(self, *arguments: object) -> None:
            return

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as made:
        thread = threading.Thread(target=made.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{made.server_port}/api/v4", notes
        made.shutdown()
        thread.join()


def run(folder: Path, candidate: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run the lines of the script in one shell, as a runner does."""
    programs = folder / "programs"
    programs.mkdir()
    (programs / "orchestrator").write_text(f'#!/bin/sh\nexec {sys.executable} -m orchestrator "$@"\n')
    (programs / "orchestrator").chmod(0o755)
    given = {
        "PATH": f"{programs}:{os.environ['PATH']}", "HOME": str(folder), "PYTHONPATH": str(ROOT),
        "ORCHESTRATOR_INSTALL": "", "ORCHESTRATOR_BASELINE": str(real(TOOLS[0], "before")),
        "ORCHESTRATOR_CANDIDATE": str(real(TOOLS[0], candidate)), "no_proxy": "127.0.0.1",
    }  # fmt: skip
    shell = shutil.which("sh")
    assert shell
    script = "\n".join(JOB["script"])
    return subprocess.run(
        [shell, "-e", "-c", script], cwd=folder, env=JOB["variables"] | given | variables, capture_output=True,
        text=True, check=False,
    )  # fmt: skip


def test_the_artifacts_are_written(tmp_path: Path) -> None:
    ended = run(tmp_path, "again")

    assert ended.returncode == 0, ended.stderr
    reports = JOB["artifacts"]["reports"]
    assert "<testsuite" in (tmp_path / reports["junit"]).read_text()
    assert "orchestrator_time_ratio{" in (tmp_path / reports["metrics"]).read_text()
    assert (tmp_path / JOB["artifacts"]["paths"][0]).is_file()


def test_a_worse_candidate_gets_a_note(tmp_path: Path, server: tuple[str, Notes]) -> None:
    address, notes = server
    merge_request = {"CI_API_V4_URL": address, "CI_PROJECT_ID": "3", "CI_MERGE_REQUEST_IID": "8"}
    ended = run(tmp_path, "slower", ORCHESTRATOR_TOKEN="secret", **merge_request)

    assert ended.returncode == 1, ended.stderr
    ((path, token, body),) = notes
    assert (path, token) == ("/api/v4/projects/3/merge_requests/8/notes", "secret")
    assert body == (tmp_path / "orchestrator.md").read_text()
    assert "is worse than" in body


def test_without_a_token_nothing_is_posted(tmp_path: Path, server: tuple[str, Notes]) -> None:
    address, notes = server
    ended = run(tmp_path, "slower", CI_API_V4_URL=address, CI_PROJECT_ID="3", CI_MERGE_REQUEST_IID="8")

    assert (ended.returncode, notes) == (1, [])


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
    assert job["variables"].keys() <= JOB["variables"].keys()
