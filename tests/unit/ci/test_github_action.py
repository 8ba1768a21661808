"""The composite action: its steps are run as GitHub runs them, with faked variables and without GitHub."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from orchestrator.reporting.formats.interchange.github_comment import MARK
from orchestrator.resources import ROOT
from tests.required import missing
from tests.unit.foreign.real_files import TOOLS, real

ACTION = yaml.safe_load((ROOT / "ci" / "github" / "action.yml").read_text())
STEPS = {step["name"]: step for step in ACTION["runs"]["steps"]}
GH = """#!/bin/sh
printf '%s\\n' "$*" >> "$CALLS"
for last; do :; done
case "$*" in
*--jq*) jq -r "$last" "$COMMENTS";;
*body=@*) cat "${6#body=@}" > "$POSTED";;
esac
"""
"""Of `gh api`: the filter of a question is applied to the comments that are there."""
PYTHON = """#!/bin/sh
[ "$2" = venv ] || exit 9
mkdir -p "$3/bin"
printf '#!/bin/sh\\nprintf "%%s\\\\n" "$*" >> "$CALLS"\\n' > "$3/bin/pip"
chmod +x "$3/bin/pip"
"""


class Job:
    """A job that runs the steps of the action one after the other."""

    def __init__(self, folder: Path, event: str, inputs: dict[str, str]) -> None:
        self.folder, self.event = folder, event
        self.inputs = {name: str(each.get("default", "")) for name, each in ACTION["inputs"].items()} | inputs
        self.outputs: dict[str, str] = {}
        programs = folder / "programs"
        programs.mkdir()
        (programs / "gh").write_text(GH)
        (programs / "orchestrator").write_text(f'#!/bin/sh\nexec {sys.executable} -m orchestrator "$@"\n')
        for program in programs.iterdir():
            program.chmod(0o755)
        self.calls, self.summary, self.posted = folder / "calls", folder / "summary.md", folder / "posted.md"
        self.comments = folder / "comments.json"
        self.comments.write_text("[]")
        self.variables = {
            "PATH": f"{programs}:{os.environ['PATH']}", "HOME": str(folder), "PYTHONPATH": str(ROOT),
            "GITHUB_REPOSITORY": "owner/project", "GITHUB_STEP_SUMMARY": str(self.summary),
            "RUNNER_TEMP": str(folder), "CALLS": str(self.calls), "COMMENTS": str(self.comments),
            "POSTED": str(self.posted),
        }  # fmt: skip

    def run(self, name: str) -> subprocess.CompletedProcess[str]:
        """Run a step in the shell that GitHub runs it in."""
        step = STEPS[name]
        if name == "Comment" and not shutil.which("jq"):
            missing("jq is not installed, which filters as gh does", "BENCH_REQUIRE_ENGINE")
        output = self.folder / "output"
        output.write_text("")
        environment = {key: self._filled(str(value)) for key, value in step.get("env", {}).items()}
        bash = shutil.which("bash")
        assert bash
        ended = subprocess.run(
            [bash, "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]], cwd=self.folder, text=True,
            env=self.variables | environment | {"GITHUB_OUTPUT": str(output)}, capture_output=True, check=False,
        )  # fmt: skip
        self.outputs |= dict(line.split("=", 1) for line in output.read_text().splitlines())
        return ended

    def _filled(self, text: str) -> str:
        known = {f"inputs.{name}": value for name, value in self.inputs.items()}
        known |= {f"steps.judge.outputs.{name}": value for name, value in self.outputs.items()}
        known |= {"github.event.pull_request.number": "7", "github.token": "token", "github.action_path": "/action"}
        return re.sub(r"\$\{\{ ([\w.]+) \}\}", lambda match: known[match[1]], text)


def job(folder: Path, candidate: str = "slower", event: str = "pull_request", **inputs: str) -> Job:
    paths = {"baseline": str(real(TOOLS[0], "before")), "candidate": str(real(TOOLS[0], candidate))}
    return Job(folder, event, paths | inputs)


@pytest.mark.parametrize(("candidate", "status"), [("again", 0), ("slower", 1)])
def test_the_steps_end_with_the_verdict(candidate: str, status: int, tmp_path: Path) -> None:
    """Annotations, summary and comment are there, whatever the verdict is."""
    made = job(tmp_path, candidate)
    judged = made.run("Judge")

    assert judged.returncode == 0, judged.stderr
    assert ("::error title=" in judged.stdout) is bool(status)
    assert made.outputs["status"] == str(status)
    assert "| Wait/iterations:3/real_time | time |" in made.summary.read_text()
    assert Path(made.outputs["comment"]).read_text().startswith(MARK)
    assert made.run("Comment").returncode == 0
    assert made.run("Verdict").returncode == status


BOT = "github-actions[bot]"
POST = "--method POST repos/owner/project/issues/7/comments"
PATCH = "--method PATCH repos/owner/project/issues/comments/"
NAMED = "<!-- orchestrator: models -->"


@pytest.mark.parametrize(
    ("earlier", "name", "called"),
    [
        ([], "", POST),
        ([(BOT, f"{MARK}\nold"), (BOT, f"{MARK}\nolder")], "", f"{PATCH}0"),
        ([("somebody", f"{MARK}\nmine"), (BOT, "another tool"), (BOT, f"{MARK}\nold")], "", f"{PATCH}2"),
        ([(BOT, f"{NAMED}\nold")], "", POST),
        ([(BOT, f"{MARK}\nold"), (BOT, "<!-- orchestrator: data -->\nold")], "models", POST),
        ([(BOT, f"{MARK}\nold"), (BOT, f"{NAMED}\nold")], "models", f"{PATCH}1"),
    ],
    ids=["none", "first of two", "of its author", "of another name", "of no name", "of its name"],
)
def test_its_own_comment_is_replaced(
    earlier: Sequence[tuple[str, str]], name: str, called: str, tmp_path: Path
) -> None:
    """A comment of somebody else, or of another use of the action, stays as it is."""
    made = job(tmp_path, name=name)
    made.run("Judge")
    made.comments.write_text(
        json.dumps([{"id": number, "user": {"login": who}, "body": text} for number, (who, text) in enumerate(earlier)])
    )

    assert made.run("Comment").returncode == 0
    _, posted = made.calls.read_text().splitlines()
    assert posted.startswith(f"api {called} --field body=@")
    first, *rest = made.posted.read_text().splitlines()
    assert first == (NAMED if name else MARK)
    assert rest == Path(made.outputs["comment"]).read_text().splitlines()[1:]


def test_steps_run_when_they_should() -> None:
    """The conditions, as GitHub evaluates them."""
    assert {name: step.get("if", "") for name, step in STEPS.items()} == {
        "Install": "inputs.install != 'none'",
        "Judge": "",
        "Comment": "inputs.comment == 'true' && github.event_name == 'pull_request'",
        "Verdict": "inputs.fail == 'true'",
    }
    assert STEPS["Comment"]["continue-on-error"] is True


def test_a_mistake_ends_the_job(tmp_path: Path) -> None:
    made = job(tmp_path, baseline="gone.json")
    judged = made.run("Judge")

    assert judged.returncode == 2
    assert "gone.json: there is no such file" in judged.stderr
    assert "status" not in made.outputs


def test_metrics_are_given_line_by_line(tmp_path: Path) -> None:
    made = job(tmp_path, metrics="cpu_time=5%\ntime=50%\n")
    made.run("Judge")

    assert made.outputs["status"] == "0"


def test_a_wrong_metric_ends_the_job(tmp_path: Path) -> None:
    assert "--metric 'tme'" in job(tmp_path, metrics="tme").run("Judge").stderr


@pytest.mark.parametrize(("install", "installed"), [("", "/action/../.."), ("a-package==1", "a-package==1")])
def test_the_checkout_is_installed_by_default(install: str, installed: str, tmp_path: Path) -> None:
    made = job(tmp_path, install=install)
    python = tmp_path / "programs" / "python3"
    python.write_text(PYTHON)
    python.chmod(0o755)
    made.variables["GITHUB_PATH"] = str(tmp_path / "path")

    ended = made.run("Install")
    assert ended.returncode == 0, ended.stderr
    assert made.calls.read_text().split()[-1] == installed
    assert (tmp_path / "path").read_text() == f"{tmp_path}/orchestrator/bin\n"


def test_no_input_is_run_as_code(tmp_path: Path) -> None:
    """A script holds no expression; what is given stays one word."""
    for step in STEPS.values():
        assert "${{" not in step["run"]
    evil = "$(touch hacked); `touch hacked` & x"
    made = job(tmp_path, baseline=evil, metrics=evil, results=evil)

    assert made.run("Judge").returncode == 2
    assert not (tmp_path / "hacked").exists()


def test_inputs_and_outputs_are_used() -> None:
    text = (ROOT / "ci" / "github" / "action.yml").read_text()
    for name, each in ACTION["inputs"].items():
        assert each["description"]
        assert f"inputs.{name}" in text
    for output in ACTION["outputs"].values():
        assert output["value"].startswith("${{ steps.judge.outputs.")


def test_shellcheck_finds_nothing(tmp_path: Path) -> None:
    shellcheck = shutil.which("shellcheck", path=f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    assert shellcheck
    for name, step in STEPS.items():
        script = tmp_path / f"{name}.sh"
        script.write_text(f"#!/bin/bash\n{step['run']}\n")
        ended = subprocess.run([shellcheck, str(script)], capture_output=True, text=True, check=False)
        assert (ended.returncode, ended.stdout) == (0, "")


def blocks(language: str) -> list[Any]:
    page = (ROOT / "docs" / "ci.md").read_text()
    return [yaml.safe_load(block) for block in re.findall(rf"```{language}\n(.*?)```", page, re.DOTALL)]


def test_the_page_uses_inputs_that_exist() -> None:
    workflows = [block for block in blocks("yaml") if "jobs" in block]
    steps = [step for block in workflows for each in block["jobs"].values() for step in each["steps"]]
    given = [step["with"] for step in steps if step.get("uses", "").partition("@")[0].endswith("/ci/github")]

    assert given
    for inputs in given:
        assert inputs.keys() <= ACTION["inputs"].keys()
        assert {name for name, each in ACTION["inputs"].items() if each.get("required")} <= inputs.keys()
