"""Published claims, judged by the cells of a run."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from orchestrator.analysis.parity.work import PairParity, WorkParity
from orchestrator.domain import Cell, Plan, Skip, Status
from orchestrator.modes.parts.settings import QUICK
from orchestrator.reporting.findings.claims.findings import ClaimFinding, ClaimVerdict
from orchestrator.reporting.findings.claims.judgement import SMOKE_RUN, ClaimJudge
from orchestrator.reporting.findings.compose import compose
from orchestrator.reporting.findings.groups import Judge, unknown
from orchestrator.results.evidence import Stored
from orchestrator.studies import Claim, PublishedValue, Study
from orchestrator.user_files import MountedData
from tests.unit.reporting import synthetic as s

FAST, SLOW = s.cell(s.MXNET), s.cell(s.TORCH)
LONG, LATE = s.cell(s.MXNET, s.MLP_EPOCHS, epochs=4), s.cell(s.TORCH, s.MLP_EPOCHS, epochs=4)
SAME_WORK = PairParity(WorkParity.SAME)


def _claim(of: Cell, over: Cell, published: float = 2.0, metric: str = "throughput", flaw: str = "") -> Claim:
    return Claim("a", "a claim", metric, of.id, over.id, PublishedValue(published), "table 1", flaw, ("one repeat",))


def _finding(
    claim: Claim,
    stored: Sequence[Stored],
    *,
    cells: Sequence[Cell] = (FAST, SLOW),
    parity: Judge = lambda one, other: SAME_WORK,
    skips: tuple[Skip, ...] = (),
) -> ClaimFinding:
    plan: Plan = replace(s.plan(cells, skips), study=Study("A study", claims=(claim,)))
    report = compose(s.record(plan), plan, stored, judge=parity)
    assert report.study is not None
    (finding,) = report.study.claims
    return finding


def _repeats(of: Sequence[float], over: Sequence[float], cells: tuple[Cell, Cell] = (FAST, SLOW)) -> list[Stored]:
    return [*s.ok(cells[0], of, spread=0.001), *s.ok(cells[1], over, spread=0.001)]


@pytest.mark.parametrize(
    ("published", "verdict"),
    [
        (3.2, ClaimVerdict.SAME_DIRECTION),
        (0.7, ClaimVerdict.OTHER_DIRECTION),
        (1.0, ClaimVerdict.OTHER_DIRECTION),
    ],
)
def test_a_claimed_ratio_meets_the_published_one(published: float, verdict: ClaimVerdict) -> None:
    """A cell that is faster is compared with what was published."""
    finding = _finding(_claim(FAST, SLOW, published), _repeats([200, 202, 198], [100, 101, 99]))

    assert finding.verdict is verdict
    assert finding.ratio == pytest.approx(2, rel=0.01)
    assert finding.low is not None
    assert 1.9 < finding.low < finding.ratio
    assert (finding.repeats, finding.caveats) == (3, ("one repeat",))


def test_a_time_has_the_direction_of_its_values() -> None:
    claim = _claim(LATE, LONG, 1.43, "total_time")

    finding = _finding(claim, _repeats([200, 202, 198], [100, 101, 99], (LONG, LATE)), cells=(LONG, LATE))

    assert (finding.verdict, finding.unit) == (ClaimVerdict.SAME_DIRECTION, "s")
    assert finding.ratio == pytest.approx(2, rel=0.01)


def test_equal_cells_agree_with_a_published_tie() -> None:
    repeats = _repeats([100, 110, 120], [100, 110, 120])

    assert _finding(_claim(FAST, SLOW, 1.0), repeats).verdict is ClaimVerdict.SAME_DIRECTION
    other = _finding(_claim(FAST, SLOW, 1.3), repeats)
    assert (other.verdict, other.reason) == (
        ClaimVerdict.OTHER_DIRECTION,
        "published: a difference; measured: no difference",
    )


def test_repeats_of_one_block_are_paired() -> None:
    finding = _finding(_claim(FAST, SLOW), _repeats([110, 220, 440], [100, 200, 400]))

    assert finding.verdict is ClaimVerdict.SAME_DIRECTION
    assert finding.ratio == pytest.approx(1.1, rel=0.01)


def test_scattered_repeats_are_undecided() -> None:
    finding = _finding(_claim(FAST, SLOW), _repeats([100, 150, 100], [110, 100, 108]))

    assert finding.verdict is ClaimVerdict.UNDECIDED
    assert finding.reason.startswith("needs about")


def test_one_repeat_is_undecided() -> None:
    finding = _finding(_claim(FAST, SLOW), _repeats([200], [100]))

    assert (finding.verdict, finding.low) == (ClaimVerdict.UNDECIDED, None)
    assert finding.reason == "one measurement says nothing about scatter"


def test_a_flaw_keeps_a_claim_from_being_judged() -> None:
    finding = _finding(_claim(FAST, SLOW, flaw="CPU time"), _repeats([200, 202, 198], [100, 101, 99]))

    assert (finding.verdict, finding.reason) == (ClaimVerdict.NOT_JUDGED, "the published value: CPU time")
    assert finding.ratio == pytest.approx(2, rel=0.01)


def test_cells_of_other_work_are_not_judged() -> None:
    apart = PairParity(WorkParity.NOT_COMPARABLE, "gradients differ", "mxnet")
    repeats = _repeats([200, 202, 198], [100, 101, 99])

    finding = _finding(_claim(FAST, SLOW), repeats, parity=lambda one, other: apart)

    reason = "not comparable: gradients differ (known fault of mxnet)"
    assert (finding.verdict, finding.reason) == (ClaimVerdict.NOT_JUDGED, reason)


def test_accuracies_of_other_work_are_not_judged() -> None:
    apart = PairParity(WorkParity.NOT_COMPARABLE, "layers differ")
    claim = _claim(LONG, LATE, 1.0, "accuracy after epoch 2")
    repeats = _repeats([200, 202], [100, 99], (LONG, LATE))

    other = _finding(claim, repeats, cells=(LONG, LATE), parity=lambda one, other: apart)
    same = _finding(claim, repeats, cells=(LONG, LATE))

    assert (other.verdict, other.reason) == (ClaimVerdict.NOT_JUDGED, "not comparable: layers differ")
    assert (same.verdict, same.of_value) == (ClaimVerdict.SAME_DIRECTION, pytest.approx(1 - 0.7 * 0.25))


def test_stand_in_accuracies_are_not_judged() -> None:
    """An accuracy on a stand-in for a dataset is not judged."""
    data = MountedData("synthetic", "idx", "/data", (1, 28, 28), 10, 60000, 10000, (), stand_in=True)
    repeats = _repeats([200, 202, 198], [100, 101, 99], (LONG, LATE))
    claims = tuple(replace(_claim(LONG, LATE, 0.5, metric), name=metric) for metric in ("accuracy", "total_time"))
    plan = replace(s.plan((LONG, LATE)), study=Study("A study", claims=claims), data=(data,))

    report = compose(s.record(plan), plan, repeats, judge=lambda one, other: SAME_WORK)

    assert report.study is not None
    accuracy, time = report.study.claims
    assert (accuracy.verdict, accuracy.reason) == (
        ClaimVerdict.NOT_JUDGED,
        "the files of synthetic were a stand-in: an accuracy says nothing of the dataset",
    )
    assert (time.verdict, time.caveats[1]) == (
        ClaimVerdict.SAME_DIRECTION,
        "the files of synthetic were a stand-in",
    )


def test_a_missing_device_is_the_reason() -> None:
    gpu = s.cell(s.MXNET, system=s.GPU)
    stored = [*s.ok(SLOW, [100]), *(s.failed(gpu, n, Status.NO_DEVICE, "needs 4 GPUs") for n in range(3))]

    finding = _finding(_claim(gpu, SLOW), stored, cells=(gpu, SLOW))

    reason = "mxnet-1.9.1-4_gpu/lenet-train-b200 ended as no_device: needs 4 GPUs"
    assert (finding.verdict, finding.reason, finding.ratio) == (ClaimVerdict.NOT_JUDGED, reason, None)


def test_a_skipped_cell_is_the_reason() -> None:
    """A cell that the plan skips is the reason why a claim is not judged."""
    old = s.cell(replace(s.MXNET, version="0.1"))

    finding = _finding(_claim(old, SLOW), s.ok(SLOW, [100]), cells=(SLOW,), skips=(Skip(old.id, "no such release"),))

    assert finding.reason == f"{old.id} is left out: no such release"


def test_a_cell_outside_the_run_is_the_reason() -> None:
    finding = _finding(_claim(FAST, SLOW), s.ok(SLOW, [100]), cells=(SLOW,))

    assert finding.reason == f"{FAST.id} is left out: it is not in this run"


def test_a_smoke_run_judges_nothing() -> None:
    claim = _claim(FAST, SLOW)
    plan = s.plan((FAST, SLOW))
    report = compose(s.record(plan), plan, _repeats([200, 202, 198], [100, 101, 99]))

    finding = ClaimJudge(report.by_id, (), unknown, smoke_run=True).claim(claim)

    assert (finding.verdict, finding.reason) == (ClaimVerdict.NOT_JUDGED, SMOKE_RUN)
    assert finding.ratio == pytest.approx(2, rel=0.01)


def test_two_cells_that_are_one_are_not_judged() -> None:
    finding = _finding(_claim(FAST, FAST), s.ok(FAST, [200, 202]), cells=(FAST,))

    assert (finding.verdict, finding.reason) == (ClaimVerdict.NOT_JUDGED, f"both are one cell here: {FAST.id}")


def test_a_profile_makes_a_smoke_run() -> None:
    """A plan with a profile is a smoke run."""
    plan = replace(s.plan((FAST, SLOW)), study=Study("A study", claims=(_claim(FAST, SLOW),)), profile=QUICK)

    report = compose(s.record(plan), plan, _repeats([200, 202], [100, 99]))

    assert report.study is not None
    assert report.study.smoke_run
    assert [each.reason for each in report.study.claims] == [SMOKE_RUN]


def test_step_runs_indicate_the_throughput_ratio() -> None:
    """A run of steps, which times no epochs, indicates the ratio by throughput."""
    finding = _finding(_claim(FAST, SLOW, metric="total_time"), _repeats([200, 202, 198], [100, 101, 99]))

    assert (finding.verdict, finding.reason) == (ClaimVerdict.NOT_JUDGED, "single steps were timed, and no epochs")
    assert finding.caveats[-1].startswith("by the throughputs, the ratio would be 0.50")


def test_a_run_with_too_few_epochs_says_so() -> None:
    claim = _claim(LONG, LATE, metric="total_time after epoch 10")

    finding = _finding(claim, _repeats([200, 202], [100, 99], (LONG, LATE)), cells=(LONG, LATE))

    assert finding.reason == "4 epochs were measured of the 10 that it needs"


def test_failed_and_disturbed_repeats_are_caveats() -> None:
    first, *others = _repeats([200, 202, 198], [100, 101, 99])
    disturbed = replace(first, outcome=replace(first.outcome, disturbance="others used 3 CPUs"))
    stored = [disturbed, *others[:-1], s.failed(SLOW, 2, Status.TIMEOUT, "too long")]

    finding = _finding(_claim(FAST, SLOW), stored)

    assert finding.repeats == 2
    assert finding.caveats[1:] == (
        f"1 of 3 repeats of {FAST.id} were disturbed, and count",
        f"1 of 3 repeats of {SLOW.id} did not end ok",
    )


@pytest.mark.parametrize(
    ("parity", "caveat"),
    [
        (None, "parity was not asked for: nothing says that both cells do the same work"),
        (PairParity(WorkParity.NOT_CHECKED, "no answer"), "parity: not checked: no answer"),
        (PairParity(WorkParity.SAME, note="half precision"), "parity: half precision"),
    ],
)
def test_parity_that_says_little_is_a_caveat(parity: PairParity | None, caveat: str) -> None:
    finding = _finding(_claim(FAST, SLOW), _repeats([200, 202], [100, 99]), parity=lambda one, other: parity)

    assert (finding.verdict, finding.caveats[1]) == (ClaimVerdict.SAME_DIRECTION, caveat)


def test_different_work_is_a_caveat() -> None:
    """Cells of different work are compared with a caveat."""
    small = s.cell(s.MXNET, s.MLP)
    repeats = _repeats([200, 202], [100, 99], (FAST, small))

    finding = _finding(_claim(FAST, small), repeats, cells=(FAST, small), parity=unknown)

    assert finding.caveats[1] == "the cells do different work: lenet-train-b200 against mlp-train-b32"


def test_other_surroundings_are_a_caveat() -> None:
    stored = _repeats([200, 202], [100, 99])
    moved = [
        replace(each, result=each.result.model_copy(update={"facts": {**each.result.facts, "python": "3.7.1"}}))
        if each.outcome.cell_id == SLOW.id and each.result
        else each
        for each in stored
    ]

    assert _finding(_claim(FAST, SLOW), moved).caveats[1] == "Python 3.11.7 against 3.7.1"


def test_other_cudnn_is_a_caveat() -> None:
    loaded = {FAST.id: 7605, SLOW.id: 8101}
    stored = [
        replace(each, result=each.result.model_copy(update={"facts": {**each.result.facts, "cudnn": loaded[cell_id]}}))
        for each in _repeats([200, 202], [100, 99])
        if each.result and (cell_id := each.outcome.cell_id)
    ]

    assert _finding(_claim(FAST, SLOW), stored).caveats[1] == "cuDNN 7605 against 8101"
