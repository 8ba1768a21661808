"""The summary of a job, which only `--format github` within a job writes."""

from pathlib import Path

import pytest

from orchestrator.cli.output.github import MOST_BYTES, SUMMARY
from tests.unit.cli.conftest import Program
from tests.unit.cli.stored_runs import stored_run
from tests.unit.foreign.real_files import TOOLS, real


@pytest.fixture
def summary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "summary.md"
    monkeypatch.setenv(SUMMARY, str(path))
    return path


def slower() -> tuple[str, ...]:
    return "compare", str(real(TOOLS[0], "before")), str(real(TOOLS[0], "slower"))


def test_the_summary_is_the_markdown(command: Program, summary: Path) -> None:
    summary.write_text("before\n")
    code, out, _ = command(*slower(), "--format", "github")
    _, markdown, _ = command(*slower(), "--format", "md")

    assert code == 1
    assert out.startswith("::error title=Wait")
    assert summary.read_text() == f"before\n{markdown}\n"


def test_other_formats_write_no_summary(command: Program, summary: Path) -> None:
    for name in ("md", "junit", "github-comment", "table"):
        command(*slower(), "--format", name)

    assert not summary.exists()


def test_a_report_has_a_summary_too(command: Program, summary: Path, tmp_path: Path) -> None:
    stored_run(tmp_path / "results", "20260102T030405Z-aaaa")
    code, out, error = command("report", "--format", "github")

    assert (code, error) == (0, "")
    assert out.startswith("::notice title=")
    assert "lenet-train-b200" in summary.read_text()


def test_outside_of_a_job_there_is_none(command: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(SUMMARY, raising=False)

    assert command(*slower(), "--format", "github")[1].startswith("::error")


def test_a_full_summary_is_cut(command: Program, summary: Path) -> None:
    summary.write_text("x" * (MOST_BYTES - 500))
    command(*slower(), "--format", "github")

    text = summary.read_text()
    assert len(text.encode()) <= MOST_BYTES
    assert text.endswith("does not fit into a summary of GitHub.\n")
    command(*slower(), "--format", "github")
    assert len(summary.read_bytes()) <= MOST_BYTES


def test_a_summary_that_cannot_be_written_is_said(
    command: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(SUMMARY, str(tmp_path / "gone" / "summary.md"))
    code, _, error = command(*slower(), "--format", "github")

    assert code == 3
    assert "summary.md: cannot be written" in error
