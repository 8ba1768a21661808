from dataclasses import replace
from pathlib import Path

import pytest

from orchestrator.analysis.comparison import Verdict
from orchestrator.analysis.parity.work import PairParity, WorkParity
from orchestrator.analysis.ratios import Rank
from orchestrator.domain import Cell, Outcome, Skip, Status
from orchestrator.reporting.findings.cells import NO_OUTCOME, NO_RESULT
from orchestrator.reporting.findings.compose import compose, report
from orchestrator.reporting.findings.groups import MOST_IN_MATRIX, Judge
from orchestrator.reporting.findings.model import GroupFinding
from orchestrator.reporting.formats import render
from orchestrator.reporting.reports.run import RUN
from orchestrator.results.evidence import Stored
from orchestrator.results.store import Run
from tests.unit.reporting import synthetic as s


def test_every_planned_repeat_is_in_the_report() -> None:
    """Every planned repeat is in the report, whatever was recorded."""
    cells = [s.cell(s.MXNET, repeats=4), s.cell(s.TORCH, repeats=2)]
    plan = s.plan(cells, (Skip("x/y", "excluded"),))

    found = compose(s.record(plan), plan, [])

    assert [len(cell.repeats) for cell in found.cells] == [4, 2]
    assert found.statuses == ((Status.NOT_RUN, 6),)
    assert {repeat.outcome.reason for cell in found.cells for repeat in cell.repeats} == {NO_OUTCOME}
    assert found.skips == (Skip("x/y", "excluded"),)
    assert [[cell.repeats for cell in problem.cells] for problem in found.problems] == [[(0, 1, 2, 3), (0, 1)]]


def test_only_ok_outcomes_are_measured() -> None:
    """Mixed outcomes are all counted, and only those that are ok are measured."""
    found = s.example().by_id["torch-2.13.0-cpu/lenet-train-b200"]

    assert found.statuses == ((Status.OK, 2), (Status.TIMEOUT, 1))
    assert found.measurement is not None
    assert found.measurement.throughput.n == 2


def test_ok_without_a_result_is_invalid() -> None:
    """An ok outcome without its result is an invalid result."""
    cell = s.cell(s.MXNET, repeats=1)
    plan = s.plan([cell])

    found = compose(s.record(plan), plan, [Stored(Outcome(cell.id, 0, Status.OK), None)])

    (repeat,) = found.cells[0].repeats
    assert (repeat.outcome.status, repeat.outcome.reason) == (Status.INVALID_RESULT, NO_RESULT)


def test_an_infinite_rate_is_an_invalid_result() -> None:
    """A rate beyond the range of floats is an invalid result and no crash."""
    cell = s.cell(s.MXNET, repeats=1)
    plan = s.plan([cell])
    (item,) = s.ok(cell, [100.0])
    assert item.result is not None
    blocks = tuple(block.model_copy(update={"wall_s": 5e-324}) for block in item.result.blocks)

    found = compose(s.record(plan), plan, [replace(item, result=item.result.model_copy(update={"blocks": blocks}))])

    (repeat,) = found.cells[0].repeats
    assert (repeat.outcome.status, repeat.outcome.reason) == (
        Status.INVALID_RESULT, "result.json: a block has no finite rate",
    )  # fmt: skip


def test_outcomes_may_come_in_any_order() -> None:
    cells = [s.cell(s.MXNET), s.cell(s.TORCH)]
    plan = s.plan(cells)
    stored = [*s.ok(cells[0], [100.0, 101.0, 99.0]), *s.ok(cells[1], [90.0, 91.0, 89.0])]

    in_order = compose(s.record(plan), plan, stored)

    assert compose(s.record(plan), plan, [*reversed(stored)]) == in_order
    assert compose(s.record(plan), plan, [*stored, *s.ok(cells[0], [1.0])]) == in_order


def test_a_large_group_is_ranked_by_intervals() -> None:
    """A large group is compared with its best cell only and ranked by intervals."""
    cells = [s.cell(s.Framework("mxnet", f"1.{number}", python="3.11")) for number in range(MOST_IN_MATRIX + 1)]
    plan = s.plan(cells)
    stored = [
        item
        for number, cell in enumerate(cells)
        for item in s.ok(cell, [1000 * 1.05**number * r for r in (1, 1.0001)], spread=0)
    ]

    found = compose(s.record(plan), plan, stored).groups[0]

    assert found.ratios == ()
    assert [place.rank for place in found.places[:2]] == [Rank(1, 1), Rank(2, 2)]
    assert found.places[0].to_best is None
    assert {place.to_best.verdict for place in found.places[1:] if place.to_best} == {Verdict.SLOWER}
    assert found.sentence.startswith("mxnet 1.60 is the fastest at 18,680 samples/s, 1.05 × as fast as the next")


def test_unplanned_outcomes_are_left_out() -> None:
    """Outcomes that the plan does not hold are left out."""
    cell = s.cell(s.MXNET, repeats=1)
    plan = s.plan([cell])
    strangers = [*s.ok(s.cell(s.TORCH), [1.0]), *s.ok(cell, [100.0, 200.0])]

    found = compose(s.record(plan), plan, strangers)

    assert found.statuses == ((Status.OK, 1),)


def test_groups_hold_same_work_on_one_system() -> None:
    """Only cells of the same work on the same system are compared."""
    found = s.example()

    assert [(group.label, len(group.places)) for group in found.groups] == [
        ("lenet-train-b200 on cpu", 5),
        ("mlp-train-b32 on cpu", 2),
        ("mlp-train-b256 on cpu", 3),
        ("lenet-train-b200 on 4_gpu", 1),
    ]


def test_a_group_is_ranked_by_throughput() -> None:
    """A group is ranked by throughput, with the cells that were not measured last."""
    group = s.example().groups[0]

    assert [(place.label, place.rank) for place in group.places] == [
        ("mxnet 1.9.1 · hybridize=true", Rank(1, 1)),
        ("mxnet 1.9.1 · hybridize=false", Rank(2, 2)),
        ("tensorflow 2.21.0", Rank(3, 4)),
        ("torch 2.13.0", Rank(3, 4)),
        ("keras-mxnet 2.2.4.3 on mxnet 1.5.1", None),
    ]
    assert group.places[0].to_best is None
    assert group.places[1].to_best is not None
    assert group.places[1].to_best.verdict is Verdict.SLOWER
    assert group.places[1].to_best == group.ratios[1][0]


@pytest.mark.parametrize(
    ("rates", "expected"),
    [
        (([200.0, 201.0], [100.0, 100.5]), "torch 2.13.0 is the fastest at 200 samples/s, 2.00 × as fast as the"),
        (([200.0, 260.0], [190.0, 250.0]), "Inconclusive: torch 2.13.0 came out highest at 228 samples/s, but the"),
        (([100.2, 100.1, 100.0], [100.0, 100.1, 99.9]), "torch 2.13.0 and mxnet 1.9.1 are equally fast, within 2 %"),
        (([200.0], [100.0]), "Inconclusive: torch 2.13.0 came out highest at 200 samples/s, 2.00 × mxnet 1.9.1, but"),
        (([200.0, 201.0], []), "torch 2.13.0 reached 200 samples/s; there is nothing to compare it with. Not"),
        (([], []), "Nothing was measured: 6 not_run."),
    ],
)  # fmt: skip
def test_the_sentence_names_winner_and_certainty(rates: tuple[list[float], list[float]], expected: str) -> None:
    """The sentence of a group says who won and how sure that is."""
    cells = [s.cell(s.TORCH), s.cell(s.MXNET)]
    plan = s.plan(cells)
    stored = [item for cell, some in zip(cells, rates, strict=True) for item in s.ok(cell, some, spread=0)]

    found = compose(s.record(plan), plan, stored)

    assert found.groups[0].sentence.startswith(expected)


def test_a_different_thread_count_is_a_warning() -> None:
    """A framework that ran another number of threads than was asked for gives a warning."""
    kept, strayed, silent = (s.cell(framework) for framework in (s.MXNET, s.TORCH, s.TENSORFLOW))
    plan = s.plan([kept, strayed, silent])
    stored = []
    for cell, threads in ((kept, 2), (strayed, 4), (silent, None)):
        (one,) = s.ok(cell, [100.0])
        assert one.result is not None
        facts = {**one.result.facts, "threads": threads, "threads_asked": 2}
        stored.append(replace(one, result=one.result.model_copy(update={"facts": facts})))

    (warning,) = compose(s.record(plan), plan, stored).warnings

    assert warning.startswith(f"{strayed.id}: the framework ran 4 threads where 2 were asked for")


def test_a_repeat_that_compiled_anew_is_named() -> None:
    cold, warm = s.cell(s.MXNET, repeats=2), s.cell(s.TORCH, repeats=2)
    plan = s.plan([cold, warm])
    stored = []
    for cell, states in ((cold, ("cold", "warm")), (warm, ("warm", "warm"))):
        for one, state in zip(s.ok(cell, [100.0, 101.0]), states, strict=True):
            assert one.result is not None
            facts = {**one.result.facts, "compile_cache": state}
            stored.append(replace(one, result=one.result.model_copy(update={"facts": facts})))

    (warning,) = compose(s.record(plan), plan, stored).warnings

    assert warning.startswith(f"{cold.id}: a repeat compiled (compile_cache: cold)")


def test_disagreeing_containers_show_both_values() -> None:
    """Containers that disagree about a fact show both values."""
    cell = s.cell(s.MXNET, repeats=2)
    plan = s.plan([cell])
    stored = s.ok(cell, [100.0, 101.0])
    other = stored[1].result
    assert other is not None
    stored[1] = replace(
        stored[1], result=other.model_copy(update={"facts": {**other.facts, "threads": 4}, "measurement_version": 2})
    )

    found = compose(s.record(plan), plan, stored)

    assert dict(found.images[0].facts)["threads"] == "2 | 4"
    assert found.images[0].measurement_versions == (1, 2)
    assert found.warnings[0].startswith("measured in 2 different ways")


def test_an_unmeasured_image_shows_its_ingredients() -> None:
    """An image shows what it was made of, even if nothing was measured in it."""
    cell = s.cell(s.MXNET, repeats=1)
    plan = s.plan([cell])

    (image,) = compose(s.record(plan), plan, [], environments=s.environments(plan)).images

    assert image.references == ("bench/mxnet:1.9.1-cpu-0123456789ab",)
    assert image.base_digests == ("python@sha256:" + "cd" * 32,)
    assert image.image_ids == ("sha256:" + "ab" * 32,)
    assert image.versions == ("mxnet 1.9.1", "numpy 1.23.5")
    assert image.measurement_versions == ()


def test_a_rebuilt_image_shows_all_its_ingredients() -> None:
    """An image that was made anew shows all that it was made of."""
    plan = s.plan([s.cell(s.MXNET, repeats=1)])
    (first,) = s.environments(plan)
    again = first.model_copy(update={"base_digest": "python@sha256:newer", "image_id": "sha256:newer"})

    (image,) = compose(s.record(plan), plan, [], environments=[first, again]).images

    assert image.base_digests == (first.base_digest, "python@sha256:newer")
    assert image.image_ids == (first.image_id, "sha256:newer")


def test_a_report_is_read_from_a_runs_files(tmp_path: Path) -> None:
    cell, other = s.cell(s.MXNET, repeats=2), s.cell(s.TORCH, repeats=2)
    plan = s.plan([cell, other])
    run = Run(tmp_path / "20260102T030405Z-abcd")
    run.write_record(s.record(plan))
    for item in s.ok(cell, [100.0, 101.0]):
        run.write_outcome(item.outcome)
        assert item.result is not None
        (run.repeat_folder(cell.id, item.outcome.repeat) / "result.json").write_text(
            item.result.model_dump_json(by_alias=True)
        )
    (run.repeat_folder(cell.id, 1) / "result.json").write_text("{")
    run.write_outcome(s.failed(other, 0, Status.FAILED, "exit status 1").outcome)
    (run.repeat_folder(other.id, 0) / "log.txt").write_bytes(b"x" * 100_000 + b"\nthe last line \xff\n")
    run.write_outcome(replace(s.failed(other, 1, Status.FAILED, "escaped").outcome, log="../secret.txt"))

    run.write_environments(s.environments(plan)[:1])
    (tmp_path / "secret.txt").write_text("not of this run")

    found = report(run)

    assert found.statuses == ((Status.OK, 1), (Status.FAILED, 2), (Status.INVALID_RESULT, 1))
    assert found.problems[0].reason.startswith("result.json")
    assert found.problems[1].logs[0].tail.endswith("the last line \ufffd")
    assert found.problems[2].logs[0].tail == ""
    assert [image.references for image in found.images] == [("bench/mxnet:1.9.1-cpu-0123456789ab",), ()]


def judge_with(*odd: str) -> Judge:
    """Cells of these frameworks do work of their own; all others do the same."""

    def judge(one: Cell, other: Cell) -> PairParity:
        names = {one.framework.name, other.framework.name}
        if len(names) > 1 and names & {*odd}:
            return PairParity(WorkParity.NOT_COMPARABLE, "conv2d_1 yields 7×24×24", known_fault="a fault")
        return PairParity(WorkParity.SAME)

    return judge


def test_other_work_never_wins() -> None:
    """A cell that does other work never wins and is named."""
    cells = [s.cell(s.MXNET), s.cell(s.TORCH), s.cell(s.TENSORFLOW)]
    plan = s.plan(cells)
    rates = ([500.0, 501.0], [100.0, 100.5], [200.0, 201.0])
    stored = [item for cell, some in zip(cells, rates, strict=True) for item in s.ok(cell, some, spread=0)]

    found = compose(s.record(plan), plan, stored, judge=judge_with("mxnet")).groups[0]

    assert found.sentence.startswith("tensorflow 2.21.0 is the fastest at 200 samples/s, 2.00 × as fast as the next")
    assert found.sentence.endswith("Not comparable with tensorflow 2.21.0: mxnet 1.9.1.")
    assert found.conclusion is GroupFinding.DECIDED
    assert [(place.label, place.rank) for place in found.places] == [
        ("tensorflow 2.21.0", Rank(1, 1)), ("torch 2.13.0", Rank(2, 2)), ("mxnet 1.9.1", None),
    ]  # fmt: skip
    over = found.places[2].to_best
    assert over is not None
    assert (over.verdict, round(over.value, 1)) == (Verdict.NOT_COMPARABLE, 2.5)


def test_no_cell_wins_without_equal_work() -> None:
    """Of two cells that do not do the same work, none wins."""
    cells = [s.cell(s.MXNET), s.cell(s.TORCH)]
    plan = s.plan(cells)
    stored = [*s.ok(cells[0], [500.0, 501.0]), *s.ok(cells[1], [100.0, 100.5])]

    report = compose(s.record(plan), plan, stored, judge=judge_with("mxnet"))

    assert report.groups[0].conclusion is GroupFinding.NOT_COMPARABLE
    assert report.groups[0].sentence.startswith("No two of the measured cells do the same work. Not comparable with")
    assert report.headline == "In 1 group no two cells do the same work."
    for name in ("html", "md"):
        assert "not comparable" in render(RUN, report, name)
    assert "conv2d_1 yields 7×24×24" in render(RUN, report, "html")


def test_the_headline_counts_who_won_at_which_confidence() -> None:
    work = (s.LENET, s.MLP, s.MLP_EPOCHS)
    cells = [s.cell(framework, each) for each in work for framework in (s.MXNET, s.TORCH)]
    plan = s.plan(cells)
    rates = ([200.0, 201.0], [100.0, 100.5], [90.0, 90.1], [300.0, 301.0], [300.0, 301.0], [90.0, 90.1])
    stored = [item for cell, some in zip(cells, rates, strict=True) for item in s.ok(cell, some, spread=0)]

    assert compose(s.record(plan), plan, stored).headline == (
        "Of 3 comparisons, mxnet 1.9.1 is the fastest in 2 and torch 2.13.0 in 1 (each pair at 95 % confidence)."
    )


def test_every_chart_marks_other_work() -> None:
    """A cell that does other work is marked in every chart."""
    cells = [s.cell(s.MXNET), s.cell(s.TORCH), s.cell(s.TENSORFLOW)]
    plan = s.plan(cells)
    rates = ([500.0, 501.0], [100.0, 100.5], [200.0, 201.0])
    stored = [item for cell, some in zip(cells, rates, strict=True) for item in s.ok(cell, some, spread=0)]

    page = render(RUN, compose(s.record(plan), plan, stored, judge=judge_with("mxnet")), "html")

    assert page.count('<div class="row apart"') == page.count("<figure") == 4
    assert page.count("mxnet 1.9.1<small>not comparable</small>") == 4
    assert 'class="row apart"' not in render(RUN, compose(s.record(plan), plan, stored), "html")
