"""`--select` and `--exclude` of the commands that show cells of stored runs."""

from pathlib import Path
from typing import Any

import pytest

from tests.envelopes import data_of
from tests.unit.cli.conftest import Program
from tests.unit.cli.stored_runs import stored_run
from tests.unit.regression.stored_runs.measured_runs import NEW, OLD, Made, stored
from tests.unit.reporting import synthetic as s

ONE, OTHER = "20260102T030405Z-aaaa", "20260103T030405Z-bbbb"
TORCH, MXNET = (s.cell(framework, repeats=2) for framework in (s.TORCH, s.MXNET))
BOTH = (f"{ONE}:mxnet==1.9.1", OTHER)


@pytest.fixture(autouse=True)
def results(tmp_path: Path) -> Path:
    """Two runs, of which both have both cells."""
    folder = tmp_path / "results"
    for name in (ONE, OTHER):
        stored_run(folder, name, (TORCH, MXNET))
    return folder


@pytest.mark.parametrize(
    "line",
    [
        ("report", ONE),
        ("report", "--all"),
        ("report", ONE, "--format", "csv"),
        ("report", "--all", "--format", "md"),
        ("show",),
        ("show", "--json"),
        ("compare", ONE, OTHER),
        ("compare", ONE, OTHER, "--format", "csv"),
    ],
    ids=" ".join,
)
@pytest.mark.parametrize(
    "options", [("--select", "mxnet-*"), ("--exclude", "torch-*"), ("--select", "*-cpu/*", "--exclude", "torch-*")]
)
def test_only_matching_cells_are_shown(line: tuple[str, ...], options: tuple[str, ...], command: Program) -> None:
    whole, part = command(*line)[1], command(*line, *options)[1]

    assert "torch" in whole.lower()
    assert "mxnet" in part.lower()
    about_all = ("left out by", "→", "regression")  # which name what was compared
    rows = [row for row in part.lower().splitlines() if not any(words in row for words in about_all)]
    assert "torch" not in "\n".join(rows)


def test_runs_with_a_matching_cell_are_listed(command: Program, results: Path) -> None:
    stored_run(results, "20260104T030405Z-cccc", (TORCH,))
    (results / "20260105T030405Z-dddd").mkdir()
    (results / "20260105T030405Z-dddd" / "run.json").write_text("{")

    listed = data_of(command("runs", "--json", "--select", "mxnet-*")[1])

    assert [run["name"] for run in listed] == [ONE, OTHER]


@pytest.mark.parametrize(
    "line", [("report",), ("report", "--all"), ("show",), ("compare", ONE, OTHER), ("history",), ("runs",)]
)
def test_a_glob_without_a_match_is_refused(line: tuple[str, ...], command: Program) -> None:
    for name in ("20260104T030405Z-cccc", "20260105T030405Z-dddd"):
        stored_run(Path("results"), name, (TORCH, MXNET))

    code, out, error = command(*line, "--select", "mxnt-1.9.1-cpu/lenet-train-b200")

    assert (code, out) == (2, "")
    assert error.startswith("--select 'mxnt-1.9.1-cpu/lenet-train-b200' matches no ")
    assert "did you mean" in error


@pytest.mark.parametrize("line", [("report",), ("show",), ("compare", ONE, OTHER)])
def test_nothing_left_is_refused(line: tuple[str, ...], command: Program) -> None:
    code, out, error = command(*line, "--exclude", "*")

    assert (code, out) == (2, "")
    assert "leaves nothing to show" in error


def test_an_exclusion_of_nothing_is_told(command: Program) -> None:
    code, _, error = command("show", "--exclude", "jax-*")

    assert (code, error) == (0, "warning: --exclude 'jax-*' matches nothing\n")


def test_the_page_of_a_run_stays_whole(command: Program, results: Path) -> None:
    code, out, _ = command("report", ONE, "--select", "mxnet-*")
    page = results / ONE / "report" / "index.html"

    assert code == 0
    assert f"page: results/{ONE}/report/index.html" in out
    assert TORCH.id in page.read_text()
    assert command("report", ONE, "--select", "mxnet-*", "--format", "html")[0] == 2
    assert command("report", ONE, "--select", "mxnet-*", "--format", "html", "-o", "part")[0] == 0
    assert TORCH.id not in Path("part/index.html").read_text()


@pytest.fixture
def tested(results: Path) -> tuple[str, ...]:
    """A run of two releases with two cells each, of which one got slower."""
    made = [Made(release, rates, work) for work, rates_of in WORK.items() for release, rates in rates_of.items()]
    run = stored(results, 1, *made)
    return tuple(f"{run.name}:mxnet=={release.version}" for release in (OLD, NEW))


WORK: dict[Any, dict[Any, tuple[float, ...]]] = {
    s.LENET: {OLD: (100, 100.1, 99.9), NEW: (90, 90.1, 89.9)},
    s.MLP: {OLD: (100, 100.1, 99.9), NEW: (100, 99.9, 100.1)},
}


def test_verdicts_of_shown_pairs_stay(command: Program, tested: tuple[str, ...]) -> None:
    whole = data_of(command("compare", *tested, "--json")[1])
    code, out, _ = command("compare", *tested, "--json", "--select", "mlp-*")
    part = data_of(out)

    assert code == 0, "the pair that is slower is not shown"
    assert command("compare", *tested, "--select", "lenet-*")[0] == 1
    assert len(whole["pairs"]) == 2
    assert part["pairs"] == [pair for pair in whole["pairs"] if pair["model"] == "mlp"]
    assert (part["family"], part["alpha"]) == (whole["family"], whole["alpha"])
    assert part["warnings"][-1].startswith("1 of 2 pairs left out by --select")


def test_a_glob_of_either_side_takes_the_pair(command: Program, tested: tuple[str, ...]) -> None:
    old, new = (data_of(command("compare", *tested, "--json", "--select", f"mxnet-{one}*")[1]) for one in (1, "1.9"))

    assert len(old["pairs"]) == len(new["pairs"]) == 2


def test_series_can_be_excluded(command: Program, results: Path) -> None:
    stored_run(results, "20260104T030405Z-cccc", (TORCH, MXNET))
    stored_run(results, "20260105T030405Z-dddd", (TORCH, MXNET))

    whole, part = (command("history", "--json", *options)[1] for options in ((), ("--exclude", "torch-*")))

    assert "torch" in whole
    assert "mxnet" in part
    assert "torch" not in part
