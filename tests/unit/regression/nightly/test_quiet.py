"""The noise of a rig, from nights of the baseline against itself."""

import pytest

from orchestrator.analysis.comparison import Verdict
from orchestrator.regression.model import JudgedPair
from orchestrator.regression.nightly.notify import message
from orchestrator.regression.nightly.state import Night
from orchestrator.regression.nightly.watch.quiet import quiet, self_night
from orchestrator.regression.nightly.watch.whole import with_watch
from orchestrator.reporting.reports.night.words import headline
from tests.unit.regression.nightly.watch_records import idle_night, scattering, self_tested


def nights(*deviations: float) -> list[Night]:
    return [self_tested(day, scattering(deviation)) for day, deviation in enumerate(deviations)]


STEADY = (0.020, 0.021, 0.019, 0.020, 0.022, 0.020, 0.019, 0.021)


def test_the_scatter_is_that_of_a_blocks_ratio() -> None:
    found = self_night(self_tested(1, scattering(0.02)))

    assert found is not None
    (cell,) = found.cells
    assert (cell.deviation, cell.blocks) == (pytest.approx(0.02), 12)


def test_the_floor_grows_with_the_scatter() -> None:
    """It is that of a trial with all its blocks, and never below the tolerance."""
    floors = [found.floor for night in nights(0.001, 0.02, 0.04) if (found := self_night(night))]

    assert 0.02 < floors[0] < floors[1] < floors[2]


def test_false_alarms_have_an_exact_interval() -> None:
    tested = [*nights(*STEADY), self_tested(8, scattering(0.02, Verdict.SLOWER))]
    found = quiet(tested)

    assert (found.by_night.hits, found.by_night.draws) == (1, 9)
    low, high = found.by_night.interval
    assert 0 < low < 1 / 9 < high < 0.49
    assert found.nights[-1].alarms == ("cpu/lenet-train-b200 throughput",)


def test_a_withdrawn_alarm_is_no_false_alarm() -> None:
    pair = scattering(0.02, Verdict.SLOWER)
    (metric,) = pair.metrics
    assert metric.confirmation is not None
    withdrawn = metric.model_copy(
        update={
            "verdict": Verdict.INCONCLUSIVE,
            "confirmation": metric.confirmation.model_copy(update={"confirmed": False}),
        }
    )
    found = self_night(self_tested(1, pair.model_copy(update={"metrics": (withdrawn,)})))

    assert found is not None
    assert (found.alarms, found.withdrawn) == ((), 1)


def test_a_broken_side_is_a_false_alarm() -> None:
    broke = JudgedPair(id="cpu/mlp", baseline_cell="a", candidate_cell="b", verdict=Verdict.BROKE, reason="failed")
    found = self_night(self_tested(1, broke))

    assert found is not None
    assert (found.alarms, found.comparisons) == (("cpu/mlp broke",), 1)


def test_a_noisier_rig_is_told_once_and_stays_known() -> None:
    """It shows from its third night on, and later nights say that they rest on it."""
    recorded: list[Night] = []
    for night in nights(*STEADY, 0.045, 0.046, 0.044, 0.045, 0.047):
        recorded.append(with_watch(night, recorded, 3))

    told = [night.noise for night in recorded]
    assert told[:10] == [None] * 10
    first, second = told[10], told[11]
    assert first is not None
    assert second is not None
    assert (first.since, first.is_new, second.is_new) == ("2026-11-09", True, False)
    assert first.after > 2 * first.before
    assert first.floor > first.floor_before
    measured = with_watch(idle_night(14), recorded, 3)
    assert "This rig is noisier since 2026-11-09: a block's ratio scatters by 4.5" in headline(measured)
    assert message(measured, "")["noise"] == measured.noise.model_dump(mode="json") if measured.noise else False


def test_a_rig_that_is_quiet_again_is_not_noisy() -> None:
    assert quiet(nights(*STEADY, *(2.2 * each for each in STEADY))).noise is not None
    assert quiet(nights(*STEADY, *(2.2 * each for each in STEADY), *STEADY)).noise is None


def test_other_cells_begin_a_new_course() -> None:
    """A matrix with a noisier cell is not a noisier rig."""
    more = [self_tested(day, scattering(0.08, cell="cpu/other")) for day in range(8, 16)]
    found = quiet([*nights(*STEADY), *more])

    assert (len(found.nights), len(found.course), found.noise) == (16, 8, None)


def test_a_test_that_was_cut_short_does_not_count() -> None:
    night = self_tested(1, scattering(0.02))
    assert night.self_test is not None
    cut = night.model_copy(update={"self_test": night.self_test.model_copy(update={"complete": False})})

    assert self_night(cut) is None
    assert quiet([cut, idle_night(2)]).nights == ()
