"""Parity in a report: what does other work is shown and marked, has no rank, and never sets the mark or wins."""

import io
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from rich.console import Console

from orchestrator.analysis.comparison import Verdict
from orchestrator.analysis.parity.work import WorkParity
from orchestrator.catalog import KnownFault
from orchestrator.domain import Cell, Framework, Status
from orchestrator.planning import check_id
from orchestrator.reporting.findings.compose import compose
from orchestrator.reporting.findings.compose import report as read_report
from orchestrator.reporting.findings.groups import MOST_IN_MATRIX
from orchestrator.reporting.findings.model import Report
from orchestrator.reporting.findings.parity import NOT_ASKED, Answer, Parity
from orchestrator.reporting.findings.shared_texts import parity_lines
from orchestrator.reporting.formats import render
from orchestrator.reporting.formats.terminal import shown
from orchestrator.reporting.reports.run import RUN
from orchestrator.reporting.reports.run.value import json_value
from orchestrator.results.parity.contract import ParityOutcome, ParityResult
from orchestrator.results.store import Run
from tests.unit.reporting import synthetic
from tests.unit.reporting.synthetic import KERAS, MXNET, TENSORFLOW, TORCH, cell, ok

GOLDEN = json.loads((Path(__file__).parents[3] / "golden/contract/parity.json").read_text())


def answer(planned: Cell, **changes: Any) -> Answer:
    name = check_id(planned)
    outcome = ParityOutcome(check=name, content="0" * 16, status=Status.OK, folder=name, log=f"parity/{name}/log.txt")
    return outcome, ParityResult.model_validate(GOLDEN | {"cell": name} | changes)


def failed(planned: Cell, status: Status, reason: str) -> Answer:
    name = check_id(planned)
    return ParityOutcome(check=name, content="0" * 16, status=status, reason=reason, folder=name), None


def report(
    rates: Mapping[Cell, float],
    answers: Mapping[Cell, Answer],
    faults: tuple[KnownFault, ...] = (),
) -> Report:
    """A report on cells, each at a rate without scatter."""
    planned = replace(synthetic.plan(list(rates)), parity=True)
    stored = [item for one, rate in rates.items() for item in ok(one, [rate] * 3, spread=0.0)]
    known = Parity(planned, {check_id(one): each for one, each in answers.items()}, faults)
    return compose(synthetic.record(planned), planned, stored, judge=known.judge, checks=known.reports())


TORCHES, FLOWS, MXNETS, KERASES = (cell(framework) for framework in (TORCH, TENSORFLOW, MXNET, KERAS))
RATES = {TORCHES: 30_000.0, FLOWS: 20_000.0, MXNETS: 10_000.0}


def test_equal_work_is_said_once() -> None:
    """Equal work is said once, and the group is ranked as before."""
    found = report(RATES, {each: answer(each) for each in RATES})

    (group,) = found.groups
    assert [place.rank and place.rank.label for place in group.places] == ["1", "2", "3"]
    line, note = parity_lines(group)
    assert note == "Parity: the optimizer is not checked."  # as in every answer from before
    assert line.startswith("Parity: all 3 cells do the same work; nearest to its bar: initial values of dense_1.")
    assert line.endswith(", 0 apart of 1e-06 allowed.")
    assert [[each and each.work for each in row] for row in group.parity] == [
        [None, WorkParity.SAME, WorkParity.SAME],
        [WorkParity.SAME, None, WorkParity.SAME],
        [WorkParity.SAME, WorkParity.SAME, None],
    ]


def test_the_fastest_loses_when_its_work_differs() -> None:
    """The fastest cell does not win if it does other work than the rest."""
    answers = {each: answer(each) for each in RATES} | {TORCHES: answer(TORCHES, first_loss=0.5)}
    (group,) = report(RATES, answers).groups

    assert [place.label for place in group.places] == ["tensorflow 2.21.0", "mxnet 1.9.1", "torch 2.13.0"]
    assert [place.rank and place.rank.label for place in group.places] == ["1", "2", None]
    odd = group.places[2]
    assert odd.to_best is not None
    assert (odd.to_best.verdict, round(odd.to_best.value, 2)) == (Verdict.NOT_COMPARABLE, 1.5)
    assert group.sentence.startswith("tensorflow 2.21.0 is the fastest at 20,000 samples/s, ")
    assert group.sentence.endswith("Not comparable with tensorflow 2.21.0: torch 2.13.0.")
    assert parity_lines(group)[0].startswith("Parity: tensorflow 2.21.0 and mxnet 1.9.1 do the same work; ")
    assert parity_lines(group)[1] == (
        "Parity: torch 2.13.0 and tensorflow 2.21.0 are not comparable: first loss 0.75 in tensorflow 2.21.0, "
        "0.5 in torch 2.13.0: 0.33 apart, bar 1e-05."
    )


def test_incomparable_ratios_are_marked_both_ways() -> None:
    """Ratios of every pair that is not comparable are marked so in both directions."""
    answers = {each: answer(each) for each in RATES} | {MXNETS: answer(MXNETS, first_loss=0.5)}
    (group,) = report(RATES, answers).groups

    verdicts = [[over and over.verdict for over in row] for row in group.ratios]
    assert verdicts[2][:2] == [Verdict.NOT_COMPARABLE] * 2
    assert [row[2] for row in verdicts[:2]] == [Verdict.NOT_COMPARABLE] * 2
    assert verdicts[0][1] is Verdict.FASTER


def test_two_incomparable_cells_leave_no_comparison() -> None:
    """Two cells that are not comparable leave nothing to compare in their group."""
    rates = {TORCHES: 30_000.0, FLOWS: 20_000.0}
    (group,) = report(rates, {TORCHES: answer(TORCHES), FLOWS: answer(FLOWS, first_loss=0.5)}).groups

    assert group.conclusion.value == "not comparable"
    assert group.sentence.startswith("No two of the measured cells do the same work. ")


def test_unchecked_cells_are_ranked_with_a_reason() -> None:
    """Cells whose parity was not checked are ranked, and the report says why they were not checked."""
    answers = {TORCHES: answer(TORCHES), FLOWS: failed(FLOWS, Status.TIMEOUT, "not done within 600 s")}
    (group,) = report(RATES, answers).groups

    assert [place.rank and place.rank.label for place in group.places] == ["1", "2", "3"]
    assert parity_lines(group) == (
        "Parity: not checked: tensorflow 2.21.0: its parity check ended as timeout: not done within 600 s.",
        "Parity: not checked: mxnet 1.9.1: no outcome of its parity check was recorded.",
    )


def test_unasked_parity_check_is_said_once(tmp_path: Path) -> None:
    """A run that was not to check parity says so once."""
    planned = synthetic.plan(list(RATES))
    run = Run(tmp_path / "run")
    run.write_record(synthetic.record(planned))

    found = read_report(run)

    assert found.warnings == (NOT_ASKED,)
    assert (found.groups[0].parity, parity_lines(found.groups[0])) == ((), ())


def test_no_framework_has_nothing_to_check() -> None:
    noop = cell(Framework("noop", "1", python="3.11"))
    (group,) = report({TORCHES: 3.0, noop: 2.0}, {TORCHES: answer(TORCHES)}).groups

    assert parity_lines(group) == ("Parity: not checked: noop 1: it computes nothing that could be checked.",)


def test_a_known_fault_is_named() -> None:
    fault = KnownFault(name="x", frameworks=("torch",), explains=("first_loss",), fault="it learns too soon")
    answers = {each: answer(each) for each in RATES} | {TORCHES: answer(TORCHES, first_loss=0.5)}
    (group,) = report(RATES, answers, (fault,)).groups

    assert parity_lines(group)[1].endswith("bar 1e-05; known fault of torch 2.13.0: it learns too soon.")


def test_every_check_shows_its_ending_and_findings() -> None:
    """Every parity check is in the report with how it ended and what it found."""
    found = report(RATES, {TORCHES: answer(TORCHES), FLOWS: failed(FLOWS, Status.FAILED, "it \x1b[31mbroke")})

    checks = {check.check: (check.status, check.reason, check.first_loss, check.last_loss) for check in found.checks}
    assert checks == {
        check_id(TORCHES): (Status.OK, "", 0.75, 0.65),
        check_id(FLOWS): (Status.FAILED, "it broke", None, None),
        check_id(MXNETS): (Status.NOT_RUN, "no outcome of its parity check was recorded", None, None),
    }


def test_large_group_is_compared_with_first_place() -> None:
    """A group too large to compare every pair is compared with its first place."""
    many = [cell(Framework("torch", f"2.{number}.0", python="3.11")) for number in range(MOST_IN_MATRIX + 1)]
    rates = {each: 1000.0 * (number + 1) for number, each in enumerate(many)}
    (group,) = report(
        rates, {each: answer(each) for each in many} | {many[-1]: answer(many[-1], first_loss=9.0)}
    ).groups

    assert (group.ratios, group.parity) == ((), ())
    last = group.places[-1]
    assert (last.label, last.rank) == (f"torch 2.{MOST_IN_MATRIX}.0", None)
    assert last.to_best is not None
    assert last.to_best.verdict is Verdict.NOT_COMPARABLE
    assert group.places[0].label == f"torch 2.{MOST_IN_MATRIX - 1}.0"


def test_every_format_says_who_is_incomparable() -> None:
    """Every format says who is not comparable, and why."""
    answers = {each: answer(each) for each in RATES} | {TORCHES: answer(TORCHES, first_loss=0.5)}
    found = report(RATES, answers)

    for text in (render(RUN, found, "md"), render(RUN, found, "html"), render(RUN, found, "csv")):
        assert "not comparable" in text
        assert "first loss 0.75 in tensorflow 2.21.0" in text
    console = Console(width=300, file=io.StringIO(), no_color=True)
    console.print(shown(RUN, found))
    assert isinstance(console.file, io.StringIO)
    for text in (render(RUN, found, "md"), console.file.getvalue()):
        assert text.count("first loss 0.75 in tensorflow 2.21.0") == 1, "once, beside what else parity has to say"
    (group,) = json_value(found)["groups"]
    assert group["places"][2]["parity"]["work"] == "not comparable"
    assert group["parity"][0][1]["work"] == "same work"
    rows = [line for line in render(RUN, found, "csv").splitlines() if ",not comparable," in line]
    assert len(rows) == 3, "the three repeats of torch"
