"""Paths and names in an answer are shown as they are, whatever they hold."""

from pathlib import Path

import pytest

from orchestrator.analysis.comparison import Verdict
from orchestrator.cli.output import outputs
from orchestrator.regression.nightly.state import Tonight
from orchestrator.reporting.findings.compose import report as reported
from orchestrator.reporting.formats import TABLE
from orchestrator.reporting.reports.run import RUN
from orchestrator.results.store import Run
from orchestrator.workflows.outputs import regression_page, report_page
from tests.unit.bundles.returns.returning_runs import a_run
from tests.unit.regression.nightly import night_fakes

NAMES = ("res[old]", "res[", "b[/]", ":warning:", "x\x1b[31m")


@pytest.fixture(params=NAMES, ids=ascii)
def run(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.chdir(tmp_path)
    return a_run(Path(request.param))


def last_line(capsys: pytest.CaptureFixture[str]) -> str:
    return capsys.readouterr().out.splitlines()[-1]


def test_a_report_ends_with_its_page_path(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    content = reported(run)
    outputs.show(RUN, content, report_page(run, content))

    assert last_line(capsys) == f"page: {run.folder}/report/index.html".replace("\x1b[31m", "")


def test_a_verdict_ends_with_its_page_path(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    tonight = Tonight(night="n", release="1.6.0", baseline="1.5.1")
    found = night_fakes.regression(tonight, night_fakes.pair(Verdict.SLOWER, 0.8))

    outputs.show_regression(found, regression_page(run, found), TABLE, is_written=False)

    assert last_line(capsys) == f"page: {run.folder}/regression/index.html".replace("\x1b[31m", "")
