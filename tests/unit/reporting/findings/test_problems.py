"""A reason for a bad end is said once, with every cell that it hit."""

import io
from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest
from rich.console import Console

from orchestrator.domain import Cell, Outcome, Status
from orchestrator.reporting.findings.compose import compose
from orchestrator.reporting.findings.model import Problem, Report
from orchestrator.reporting.findings.problems import MOST_LOGS, bounded
from orchestrator.reporting.formats.terminal import shown
from orchestrator.reporting.reports.run import RUN
from orchestrator.results.evidence import Stored
from tests.unit.reporting import synthetic as s

REASON = "base image python:3.11 cannot be pulled"
CELLS = [s.cell(s.Framework("mxnet", f"1.{number}", python="3.11"), repeats=2) for number in range(10)]


def found(cells: Sequence[Cell], stored: Sequence[Stored], tail: Callable[[Outcome], str]) -> tuple[Problem, ...]:
    plan = s.plan(cells)
    return compose(s.record(plan), plan, stored, tail).problems


def as_text(report: Report) -> str:
    console = Console(width=200, color_system=None, file=io.StringIO())
    console.print(shown(RUN, report))
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def failures(cells: Sequence[Cell], *, log: str | None = None) -> list[Stored]:
    ended = [s.failed(cell, repeat, Status.BUILD_FAILED, REASON) for cell in cells for repeat in range(2)]
    return [Stored(replace(each.outcome, log=log or each.outcome.log), None) for each in ended]


def test_one_reason_is_one_problem() -> None:
    """Cells that failed for one reason are one problem, and every cell is named."""
    (problem,) = found(CELLS, failures(CELLS), lambda _: "Traceback\nboom")

    assert (problem.status, problem.reason) == (Status.BUILD_FAILED, REASON)
    assert [(cell.cell_id, cell.repeats) for cell in problem.cells] == [(cell.id, (0, 1)) for cell in CELLS]


def test_terminal_counts_further_cells_of_a_reason() -> None:
    """The terminal names the first cells of a reason and counts the others."""
    skips = tuple(s.Skip(f"torch-{number}-cpu/mlp", "no release for Python 3.6") for number in range(40))
    plan = s.plan(CELLS, skips)
    report = compose(s.record(plan), plan, failures(CELLS), lambda outcome: outcome.cell_id)
    shown = as_text(report)

    assert shown.count(REASON) == 1
    assert "and 7 more cells; 20 repeats in all" in shown
    assert "torch-0-cpu/mlp, torch-1-cpu/mlp, torch-2-cpu/mlp and 37 more: no release for Python 3.6" in shown
    assert "report --format md names every cell" in shown
    assert len(shown.splitlines()) < 30


def test_unmeasured_groups_share_one_line() -> None:
    """Groups in which nothing was measured are one line."""
    cells = [s.cell(s.TORCH, replace(s.LENET, batch_size=size)) for size in range(1, 41)]
    plan = s.plan(cells)
    shown = as_text(compose(s.record(plan), plan, ()))

    assert shown.count("Nothing was measured") == 1
    assert "Nothing was measured in 40 groups: " in shown
    assert len(shown.splitlines()) < 30


def test_identical_logs_are_shown_once() -> None:
    """An identical log is shown once, and a different one next to it."""
    (problem,) = found(CELLS, failures(CELLS), lambda outcome: "other" if outcome.cell_id == CELLS[3].id else "boom")

    assert [(log.tail, len(log.cell_ids)) for log in problem.logs] == [("boom", 9), ("other", 1)]
    assert problem.logs[1].cell_ids == (CELLS[3].id,)
    assert problem.logs[1].log == problem.cells[3].log


def test_a_log_that_cells_share_is_read_once() -> None:
    asked: list[Outcome] = []

    def tail(outcome: Outcome) -> str:
        asked.append(outcome)
        return "boom"

    (problem,) = found(CELLS, failures(CELLS, log="builds/mxnet.log"), tail)

    assert [(log.log, log.tail) for log in problem.logs] == [("builds/mxnet.log", "boom")]
    assert len(asked) == 1


@pytest.mark.parametrize(
    ("reason", "tail"),
    [
        (REASON, f"{REASON}\n"),
        (REASON, f"\x1b[31m{REASON.replace(' ', '  ')}\x1b[0m\n\n"),
        (f"killed by SIGKILL; its last words: {REASON}", REASON),
        ("ERROR: No matching … 2.0, 3.0)", "ERROR: No matching version (from: 1.0, 2.0, 3.0)"),
    ],
)
def test_log_that_repeats_the_reason_is_hidden(reason: str, tail: str) -> None:
    """A log that only repeats the reason is not shown again."""
    stored = [s.failed(CELLS[0], repeat, Status.FAILED, reason) for repeat in range(2)]

    (problem,) = found(CELLS[:1], stored, lambda _: tail)

    assert [log.tail for log in problem.logs] == [""]
    assert problem.logs[0].log == problem.cells[0].log


def test_other_reasons_and_other_statuses_are_other_problems() -> None:
    stored = [
        s.failed(CELLS[0], 0, Status.FAILED, "a"),
        s.failed(CELLS[0], 1, Status.FAILED, "b"),
        s.failed(CELLS[1], 0, Status.TIMEOUT, "a"),
        s.failed(CELLS[1], 1, Status.FAILED, "a"),
    ]

    problems = found(CELLS[:2], stored, lambda _: "")

    assert [(problem.status, problem.reason, len(problem.cells)) for problem in problems] == [
        (Status.FAILED, "a", 2),
        (Status.FAILED, "b", 1),
        (Status.TIMEOUT, "a", 1),
    ]


def test_expected_failures_are_their_own_problem() -> None:
    """A failure that one cell expects is a problem apart from the same one that another does not expect."""
    expecting = replace(CELLS[0], expect=Status.OOM_DEVICE)
    stored = [s.failed(cell, repeat, Status.OOM_DEVICE, "full") for cell in CELLS[:2] for repeat in range(2)]

    problems = found([expecting, CELLS[1]], stored, lambda _: "")

    assert [(problem.expected, problem.cells[0].cell_id) for problem in problems] == [
        (True, CELLS[0].id),
        (False, CELLS[1].id),
    ]


def test_log_is_cut_and_cannot_steer() -> None:
    """A log is cut to its end and cannot steer a terminal."""
    log = (
        "".join(f"line {number}\n" for number in range(1000))
        + "\x1b]0;title\x07\x1b[31mred\x1b[0m\x1b[2J\x9b1m\u202e\n"
    )

    lines = bounded(log).splitlines()

    assert len(lines) == 40
    assert lines[-2:] == ["line 999", "red1m"]
    assert len(bounded("x" * 1_000_000)) == 4000
    assert bounded("10 %\r50 %\r100 %\r\nend") == "100 %\nend"


def test_only_first_of_many_logs_are_read() -> None:
    """Of very many logs the first are read, and every failure is listed."""
    cells = [s.cell(s.Framework("mxnet", f"1.{number}", python="3.11"), repeats=1) for number in range(MOST_LOGS + 5)]
    asked = []

    def tail(outcome: Outcome) -> str:
        asked.append(outcome.cell_id)
        return f"boom {outcome.cell_id}"

    (problem,) = found(cells, [s.failed(cell, 0, Status.FAILED, REASON) for cell in cells], tail)

    assert len(problem.cells) == len(cells)
    assert asked == [cell.id for cell in cells[:MOST_LOGS]]
    (unread,) = [log for log in problem.logs if not log.tail]
    assert unread.cell_ids == tuple(cell.id for cell in cells[MOST_LOGS:])
