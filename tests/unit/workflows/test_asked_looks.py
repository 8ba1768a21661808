"""The options of a run until decided."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from orchestrator.errors import InputError
from orchestrator.results.store import Run
from orchestrator.workflows.cluster.options import ClusterOptions, chosen_site
from orchestrator.workflows.host.host import Host
from orchestrator.workflows.measure.asked_looks import AskedLooks, check_budget
from orchestrator.workflows.option_values import RuntimeName
from orchestrator.workflows.run import RunOptions, run

MATRIX = "version: 1\nframeworks: [noop==1]\nmodels: [lenet]\nsteps: 10\n"


@pytest.fixture
def host(tmp_path: Path) -> Host:
    return Host(dict(os.environ, XDG_CACHE_HOME=str(tmp_path / "cache"), XDG_CONFIG_HOME=str(tmp_path / "config")))


def test_an_ordinary_run_asks_for_no_looks() -> None:
    assert AskedLooks().decisions([]) is None


def test_bounds_are_recorded() -> None:
    decisions = AskedLooks(until_decided=True, max_blocks=24, budget="1h30m").decisions([])

    assert decisions is not None
    assert (decisions.most_blocks, decisions.budget_s, decisions.alpha) == (24, 5400.0, 0.05)


@pytest.mark.parametrize(
    ("asked", "excluded", "problem"),
    [
        (AskedLooks(max_blocks=24), [], "--max-blocks and --budget bound --until-decided"),
        (AskedLooks(budget="2h"), [], "--max-blocks and --budget bound --until-decided"),
        (AskedLooks(until_decided=True, budget="soon"), [], "--budget: 'soon' is no duration"),
        (AskedLooks(until_decided=True, max_blocks=1), [], "--max-blocks 1: takes 2 to 10,000 blocks"),
        (AskedLooks(until_decided=True), ["--repeats"], "leave out --repeats"),
    ],
)
def test_options_that_do_not_fit_are_refused(asked: AskedLooks, excluded: list[str], problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        asked.decisions(excluded)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"repeats": 3}, "leave out --repeats"),
        ({"quick": True}, "leave out --quick"),
        ({"prune_images": True}, "leave out --prune-images"),
        ({}, "no two cells of this plan are compared"),
    ],
)
def test_a_run_that_cannot_be_is_refused_before_it_begins(
    tmp_path: Path, host: Host, options: dict[str, bool], problem: str
) -> None:
    """A floor of the harness is compared with nothing."""
    (tmp_path / "matrix.yaml").write_text(MATRIX)
    asked = RunOptions(
        file=tmp_path / "matrix.yaml", results=tmp_path / "results", runtime=RuntimeName.HOST, until_decided=True,
        **options,  # type: ignore[arg-type]
    )  # fmt: skip

    with pytest.raises(InputError, match=problem):
        run(asked, host)
    assert not (tmp_path / "results").exists()


def test_a_run_that_goes_on_keeps_its_looks(tmp_path: Path, host: Host) -> None:
    with pytest.raises(InputError, match="--until-decided and --max-blocks"):
        run(RunOptions(resume="latest", results=tmp_path, until_decided=True), host)


def test_a_budget_of_an_ordinary_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="--budget is for a run until decided"):
        check_budget(Run(tmp_path / "run"), AskedLooks(budget="1h"))


@pytest.mark.parametrize("executor", ["local", "slurm"])
def test_a_site_is_refused_whatever_its_executor(executor: str, tmp_path: Path, host: Host) -> None:
    """A site file next to the matrix is found by itself, and left out by name."""
    (tmp_path / "matrix.yaml").write_text(MATRIX)
    (tmp_path / "site.yaml").write_text(f"version: 1\nexecutor: {executor}\n")
    options = ClusterOptions(file=tmp_path / "matrix.yaml", until_decided=True)

    with pytest.raises(InputError, match="splits it into parts: say --site none to measure on this host"):
        chosen_site(options, host)
    assert chosen_site(replace(options, site="none"), host) is None


def test_a_run_until_decided_is_measured_on_a_host(tmp_path: Path, host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    """From the options to the report, and on with a budget. The floor of the harness counts as computing here."""
    for place in ("workflows.measure.asked_looks", "reporting.findings.compose"):
        monkeypatch.setattr(f"orchestrator.{place}.idle_builders", frozenset[str])
    (tmp_path / "matrix.yaml").write_text(MATRIX.replace("[noop==1]", "[noop==1, noop==2]") + "parity: false\n")
    asked = RunOptions(
        file=tmp_path / "matrix.yaml", results=tmp_path / "results", runtime=RuntimeName.HOST, until_decided=True,
        max_blocks=3, budget="10m", idle_wait_s=0.0, extra_repeats=0,
    )  # fmt: skip

    result = run(asked, host)
    again = run(RunOptions(results=asked.results, resume="latest", budget="20m", idle_wait_s=0.0), host)

    until_decided = again.report.until_decided
    assert until_decided is not None
    assert until_decided.ended in {"decided", "most_blocks"}
    assert (until_decided.looks, until_decided.budget_s) == ((3,), 1200.0)
    assert {len(cell.repeats) for cell in result.report.cells} == {3}
    assert not again.failed
