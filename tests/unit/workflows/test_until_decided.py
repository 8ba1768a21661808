"""A run until decided: who goes on, when it ends, what it records and what its report says."""

import json
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from orchestrator.analysis.comparison import Verdict
from orchestrator.domain import Status
from orchestrator.errors import InputError
from orchestrator.reporting.findings.groups import MOST_IN_MATRIX
from orchestrator.reporting.formats import render
from orchestrator.reporting.reports.run import RUN
from orchestrator.results.store import Run
from orchestrator.workflows.measure.until_decided import first_plan
from tests.unit.regression.trials.bench_trials import Bench, at, crash, steady
from tests.unit.running.running_fakes import a_cell, a_plan
from tests.unit.workflows.ranked_runs import RankedRun, asked

FAR = steady(**{"/a": 1.0, "/b": 1.3, "/c": 1.7})
CLOSE = steady(**{"/a": 1.0, "/b": 1.012, "/c": 1.7})
"""A pair that differs by 1.2 %, which takes many blocks, and a third cell that is far ahead."""


def test_cells_far_apart_end_at_the_first_look(tmp_path: Path) -> None:
    ranked = RankedRun(tmp_path / "run", "abc", Bench(rate=FAR))
    ranked.begin(asked())

    decisions = ranked.go_on()

    assert (decisions.ended, decisions.taken) == ("decided", (6,))
    assert ranked.repeats() == {"a": 6, "b": 6, "c": 6}
    assert {pair.verdict for pair in decisions.looks[0].decided} == {"slower"}
    assert len(decisions.looks[0].decided) == 3


def test_only_what_is_open_goes_on(tmp_path: Path) -> None:
    """A cell whose place is decided is measured no further, and every planned repeat has an outcome."""
    ranked = RankedRun(tmp_path / "run", "abc", Bench(rate=CLOSE))
    ranked.begin(asked())

    decisions = ranked.go_on()
    repeats, report = ranked.repeats(), ranked.report

    assert decisions.looks[0].open == ("fake-1-cpu/a", "fake-1-cpu/b")
    assert repeats["c"] == 6
    assert repeats["a"] == repeats["b"] == decisions.taken[-1] > 6
    assert report.statuses == ((Status.OK, sum(repeats.values())),)


def test_each_block_holds_every_open_cell_once(tmp_path: Path) -> None:
    ranked = RankedRun(tmp_path / "run", "abc", Bench(rate=CLOSE))
    ranked.begin(asked(most_blocks=12))
    ranked.go_on()

    order = ranked.bench.measured
    first, later = order[:18], order[18:]

    assert [repeat for _, repeat in first] == [block for block in range(6) for _ in range(3)]
    assert all({cell for cell, _ in later[place : place + 2]} == {"fake-1-cpu/a", "fake-1-cpu/b"}
               for place in range(0, len(later), 2))  # fmt: skip


def test_no_look_is_left(tmp_path: Path) -> None:
    """Equal cells that scatter too much end undecided at the last look, and the report says what more would cost."""
    ranked = RankedRun(tmp_path / "run", "ab", Bench(rate=noisy))
    ranked.begin(asked(most_blocks=8))

    decisions = ranked.go_on()
    (group,) = ranked.report.groups

    assert (decisions.ended, decisions.taken) == ("most_blocks", (6, 8))
    assert group.looks is not None
    (pair,) = group.looks.open
    assert pair.more_repeats
    assert pair.cost_s == pytest.approx(pair.more_repeats * 2 * 1.0)  # a launch takes a second


def noisy(cell: str, repeat: int) -> float:
    """Rates 5 % up and down, not in step."""
    return 1000 * (1.05 if (repeat // (1 if "/a" in cell else 2)) % 2 else 0.95)


def test_a_budget_ends_the_run_before_the_next_block(tmp_path: Path) -> None:
    """Blocks of two launches of a second each: seven of them fit into 15 s, and the last look is at seven."""
    ranked = RankedRun(tmp_path / "run", "ab", Bench(rate=noisy))
    ranked.begin(asked(budget_s=15.0))

    decisions = ranked.go_on()

    assert (decisions.ended, decisions.taken) == ("budget", (6, 7))
    assert (ranked.repeats(), decisions.spent_s) == ({"a": 7, "b": 7}, 14.0)


def test_a_larger_budget_goes_on(tmp_path: Path) -> None:
    """The α that the early look at seven blocks did not spend is left for the looks to come."""
    ranked = RankedRun(tmp_path / "run", "ab", Bench(rate=noisy))
    ranked.begin(asked(most_blocks=12, budget_s=15.0))
    ranked.go_on()

    decisions = ranked.go_on(budget_s=100.0)

    assert (decisions.ended, decisions.taken) == ("most_blocks", (6, 7, 8, 12))
    (group,) = ranked.report.groups
    over = group.ratios[0][1]
    assert over is not None
    assert over.confidence == pytest.approx(1 - 0.05 * (1 - (8 / 12) ** 2))


def test_a_budget_without_time_for_a_second_block_takes_no_look(tmp_path: Path) -> None:
    ranked = RankedRun(tmp_path / "run", "ab", Bench(rate=FAR))
    ranked.begin(asked(budget_s=2.5))

    assert ranked.go_on().ended == "budget"
    (group,) = ranked.report.groups
    assert ranked.repeats() == {"a": 1, "b": 1}
    assert [over.verdict for row in group.ratios for over in row if over] == [Verdict.INCONCLUSIVE] * 2
    assert {place.rank.label for place in group.places if place.rank} == {"1–2"}


@pytest.mark.parametrize("stop_after", [3, 19, 21])
def test_a_stopped_run_comes_to_the_same_end(tmp_path: Path, stop_after: int) -> None:
    whole = RankedRun(tmp_path / "whole", "abc", Bench(rate=CLOSE))
    whole.begin(asked())
    expected = whole.go_on()
    ranked = RankedRun(tmp_path / "run", "abc", Bench(rate=CLOSE, stop_after=stop_after))
    ranked.begin(asked())

    assert ranked.go_on().ended is None
    ranked.bench = Bench(rate=CLOSE)
    decisions = ranked.go_on()

    assert [look.model_copy(update={"spent_s": 0.0}) for look in decisions.looks] == [
        look.model_copy(update={"spent_s": 0.0}) for look in expected.looks
    ]
    assert ranked.repeats() == whole.repeats()
    assert ranked.report.groups == whole.report.groups


def test_an_ended_run_measures_nothing_more(tmp_path: Path) -> None:
    ranked = RankedRun(tmp_path / "run", "abc", Bench(rate=FAR))
    ranked.begin(asked())
    before = ranked.go_on()
    launched = len(ranked.bench.measured)

    assert ranked.go_on().looks == before.looks
    assert len(ranked.bench.measured) == launched


def test_a_cell_that_fails_leaves_the_blocks(tmp_path: Path) -> None:
    """Nothing can be decided of it, and the others go on without it."""
    bench = Bench(rate=CLOSE, ends={"/c": crash})
    ranked = RankedRun(tmp_path / "run", "abc", bench)
    ranked.begin(asked())

    decisions = ranked.go_on()

    assert ranked.repeats()["c"] == 6
    assert decisions.ended == "decided"
    assert dict(ranked.report.statuses)[Status.FAILED] == 6


def test_a_cell_that_fails_now_and_then_goes_on(tmp_path: Path) -> None:
    ranked = RankedRun(tmp_path / "run", "ab", Bench(rate=CLOSE, ends={"/a": at(crash, 1, 4)}))
    ranked.begin(asked())

    assert ranked.go_on().ended == "decided"


def test_cells_that_are_compared_with_none_keep_their_repeats(tmp_path: Path) -> None:
    ranked = RankedRun(tmp_path / "run", "ab", Bench(rate=FAR))
    ranked.begin(asked(), "alone")
    ranked.go_on()

    alone = ranked.report.by_id["fake-1-cpu/alone"].measurement

    assert ranked.repeats() == {"a": 6, "b": 6, "alone": 3}
    assert alone is not None
    assert (alone.throughput.confidence, alone.throughput.n) == (0.95, 3)


def test_the_report_is_at_the_level_of_the_look(tmp_path: Path) -> None:
    """No interval of what the looks go by is a plain one."""
    ranked = RankedRun(tmp_path / "run", "abc", Bench(rate=CLOSE))
    ranked.begin(asked())
    decisions = ranked.go_on()
    report = ranked.report
    (group,) = report.groups

    decided = {tuple(sorted((pair.one, pair.other))): pair for look in decisions.looks for pair in look.decided}
    for one, row in zip(group.places, group.ratios, strict=True):
        for other, over in zip(group.places, row, strict=True):
            if over is not None:
                pair = decided[tuple(sorted((one.cell_id, other.cell_id)))]
                assert over.confidence == pair.confidence
                assert pytest.approx(pair.ratio) in (over.value, 1 / over.value)
    shares = [(6 / 64) ** 2, *((after / 64) ** 2 - (before / 64) ** 2 for before, after in pairwise(decisions.taken))]
    for place in group.places:
        measured = report.by_id[place.cell_id].measurement
        assert measured is not None
        look = decisions.taken.index(measured.throughput.n)
        assert measured.throughput.confidence == pytest.approx(1 - 0.05 * shares[look])
        assert measured.throughput.next_low is None


@pytest.mark.parametrize("name", ["table", "md", "html", "csv", "json", "junit"])
def test_every_format_shows_a_run_until_decided(tmp_path: Path, name: str) -> None:
    ranked = RankedRun(tmp_path / "run", "ab", Bench(rate=noisy))
    ranked.begin(asked(most_blocks=8))
    ranked.go_on()

    shown = render(RUN, ranked.report, name)
    text = shown if isinstance(shown, str) else json.dumps([*map(str, shown.values())])

    assert "95 % interval" not in text.replace("\N{NO-BREAK SPACE}", " ")
    if name in {"table", "md", "html"}:
        words = " ".join(text.split())
        assert "Measured until decided: at most 8 blocks" in words
        assert "more repeats of each" in words


def test_a_group_too_large_is_refused() -> None:
    plan = a_plan(*(a_cell(f"c{number}") for number in range(MOST_IN_MATRIX + 1)))

    with pytest.raises(InputError, match="of at most 60 cells: lenet-train-b10 on cpu has 61"):
        first_plan(plan, [plan.cells], asked())


def test_a_plan_with_nothing_to_compare_is_refused() -> None:
    with pytest.raises(InputError, match="no two cells of this plan are compared"):
        first_plan(a_plan(a_cell()), [], asked())


def test_first_blocks_take_the_place_of_planned_repeats() -> None:
    cell = replace(a_cell("a"), repeats=10)
    plan = a_plan(cell, replace(a_cell("b"), repeats=3))

    assert [each.repeats for each in first_plan(plan, [plan.cells], asked()).cells] == [6, 6]
    assert [each.repeats for each in first_plan(plan, [plan.cells], asked(budget_s=9.0)).cells] == [1, 1]
    assert [each.repeats for each in first_plan(plan, [plan.cells], asked(most_blocks=4)).cells] == [4, 4]


def test_a_broken_record_is_refused(tmp_path: Path) -> None:
    ranked = RankedRun(tmp_path / "run", "ab", Bench(rate=FAR))
    ranked.begin(asked())
    (Run(tmp_path / "run").folder / "decisions.json").write_text("{}")

    with pytest.raises(InputError, match="not the decisions of a run"):
        ranked.report  # noqa: B018 - it is read
