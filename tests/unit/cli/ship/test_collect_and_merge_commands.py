"""`collect`, `merge` and `report` of several runs, as they are typed."""

from pathlib import Path

import pytest

from orchestrator.reporting.formats import HTML, formats_of
from orchestrator.reporting.reports.side_by_side.report import SIDE_BY_SIDE
from tests.envelopes import data_of
from tests.unit.bundles.returns.returning_runs import HOST, OTHER, RUN, a_run, content
from tests.unit.cli.conftest import Program

HOME = {**HOST, "hostname": "home", "cpu": "Home CPU", "cpus": 4}


@pytest.fixture
def far(tmp_path: Path) -> Path:
    """Results of another host, with two runs."""
    a_run(tmp_path / "far")
    a_run(tmp_path / "far", OTHER, rate=2000.0)
    return tmp_path / "far"


def test_results_come_home_and_both_hosts_are_reported(command: Program, far: Path, tmp_path: Path) -> None:
    a_run(tmp_path / "results", "20260101T000000Z-0000", host=HOME, rate=500.0)

    code, _, said = command("collect", RUN[:12], OTHER, "--results", str(far))
    assert code == 0
    assert said.splitlines()[0].startswith(f"{RUN} of far (Far CPU, 64 CPUs): 7 files, ")
    assert said.splitlines()[-1].endswith("at home: orchestrator merge results.tar.zst")

    code, _, said = command("merge", "results.tar.zst")
    assert code == 0
    assert said.splitlines()[0].startswith(f"merged {RUN} of far")
    assert said.splitlines()[-1] == f"see them: orchestrator report {RUN} {OTHER}"
    assert content(far).items() <= content(tmp_path / "results").items()

    code, _, said = command("merge", "results.tar.zst")
    assert (code, said.splitlines()[0].partition(":")[0]) == (0, "was here already")

    code, shown, _ = command("report", "--all")
    assert code == 0
    assert "Home CPU" in shown
    assert "Far CPU" in shown
    assert "compares hosts, not frameworks" in shown


def test_a_page_of_several_runs_links_each(command: Program, far: Path) -> None:
    """A page of several runs leads to a page of each."""
    code, _, said = command("report", RUN, OTHER, "--results", str(far), "--format", "html")

    assert code == 0
    page = far / "side-by-side" / "index.html"
    assert said.strip() == f"page: {page.relative_to(far.parent)}" or str(page) in said
    text = page.read_text()
    for run in (RUN, OTHER):
        assert f'href="../{run}/report/index.html"' in text
        assert (far / run / "report" / "index.html").exists()


@pytest.mark.parametrize("name", [name for name in formats_of(SIDE_BY_SIDE) if name != HTML])
def test_several_runs_can_be_written_to_a_file(command: Program, far: Path, tmp_path: Path, name: str) -> None:
    code, shown, _ = command("report", "--all", "--results", str(far), "--format", name, "-o", "out")

    assert (code, shown) == (0, "")
    assert RUN in (tmp_path / "out").read_text()


def test_one_run_named_twice_is_one_run(command: Program, far: Path) -> None:
    code, shown, _ = command("report", RUN, RUN[:12], "--results", str(far), "--format", "md")

    assert code == 0
    assert shown.startswith("# example: run ")


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("collect", "nothing", "--results", "far"), 2, "no run 'nothing'"),
        (("collect", RUN, "--all", "--results", "far"), 2, "leave out the names, or --all"),
        (
            ("collect", "--results", "far", "-o", "no/such/folder/x"),
            2,
            "there is no folder no/such/folder; create it first",
        ),
        (("collect", "--all"), 2, "no runs here"),
        (("merge", "nothing.tar.zst"), 3, "nothing.tar.zst: cannot be used: No such file or directory"),
        (("merge", "far"), 3, "far: cannot be used: Is a directory"),
        (("merge", "junk"), 2, "junk: it cannot be decompressed"),
        (("report", "--all", RUN, "--results", "far"), 2, "leave out the names, or --all"),
    ],
)
def test_a_mistake_is_one_line(command: Program, far: Path, arguments: tuple[str, ...], code: int, said: str) -> None:
    (far.parent / "junk").write_text("junk" * 100)

    ended, _, errors = command(*arguments)

    assert (ended, len(errors.splitlines())) == (code, 1)
    assert said in errors


def test_for_programs_there_is_json(command: Program, far: Path) -> None:
    collected = data_of(command("collect", "--all", "--results", str(far), "--json")[1])
    merged = data_of(command("merge", "results.tar.zst", "--json")[1])

    assert [run["run"] for run in collected["runs"]] == [RUN, OTHER]
    assert [run["host"]["hostname"] for run in merged["added"]] == ["far", "far"]
    assert merged["present"] == []
