"""Alarms of a night: new changes alarm, known ones do not, and some nobody may hide."""

import pytest

from orchestrator.analysis.comparison import Verdict
from orchestrator.regression.history.acknowledged import AcknowledgedEntry
from orchestrator.regression.model import JudgedPair
from orchestrator.regression.nightly.decide import TrialOutcomes, decide
from orchestrator.regression.nightly.state import Ending, Judgement, Tonight
from orchestrator.regression.releases.package_index import Offered
from tests.unit.regression.nightly.night_fakes import CELL, World, judgements, pair, regression, releases
from tests.unit.regression.nightly.night_fakes import judged as night_judged

SLOWER = (pair(Verdict.SLOWER, 0.9),)


def test_a_regression_alarms_once_and_is_not_accepted(world: World) -> None:
    world.found = {"1.6.0": SLOWER}
    night = world.night()

    assert (judgements(night), night.exit_code, night.accepted) == ({"1.6.0": Judgement.REGRESSED}, 1, "1.5.1")
    assert [(alarm.release, alarm.cell, alarm.metric) for alarm in night.alarms] == [("1.6.0", CELL, "throughput")]
    again = world.night()
    assert (again.ending, again.exit_code) == (Ending.NOTHING_NEW, 0)


def test_a_releases_alarm_is_not_repeated() -> None:
    """An alarm that was raised for a release is not raised again, whoever measures it."""
    found = regression(Tonight(night="n", release="1.6.0", baseline="1.5.1"), *SLOWER)
    first = decide(found, TrialOutcomes((), ()), (), ())
    again = decide(found, TrialOutcomes((), ()), (), first.alarms)

    assert (len(first.alarms), first.known) == (1, ())
    assert (again.judgement, again.alarms, again.known) == (Judgement.REGRESSED, (), first.alarms)


def test_an_unmeasured_deciding_metric_is_not_clean() -> None:
    """A pair of which nothing that decides was measured does not count as clean."""
    shown = night_judged(Verdict.SAME).model_copy(update={"gates": False})
    other = pair(Verdict.NOT_MEASURED, cell="cpu/mlp-train-b200").model_copy(update={"metrics": (shown,)})
    found = regression(Tonight(night="n", release="1.6.0", baseline="1.5.1"), pair(Verdict.SAME), other)

    said = decide(found, TrialOutcomes((), ()), (), ())
    assert (said.judgement, said.reason) == (Judgement.INCONCLUSIVE, "not measured: cpu/mlp-train-b200")


def test_a_fall_to_0_alarms_in_words(world: World) -> None:
    """A metric that fell to 0 alarms in words and is within no known change."""
    world.known = (acknowledged(metric="throughput", up_to="12%"),)
    (slower,) = SLOWER
    fell = {"ratio": None, "low": None, "high": None, "reason": "the candidate is 0 in 6 of 6 measurements"}
    metric = slower.metrics[0].model_copy(update=fell)
    world.found = {"1.6.0": (slower.model_copy(update={"metrics": (metric,)}),)}
    night = world.night()

    assert night.exit_code == 1
    assert night.alarms[0].reason == "throughput: the candidate is 0 in 6 of 6 measurements"


def test_a_release_that_cannot_run_is_a_regression(world: World) -> None:
    """A release that no longer runs is a regression, and the alarm gives the reason."""
    world.found = {"1.6.0": (pair(Verdict.BROKE, reason="import_failed: no libgomp"),)}
    night = world.night()

    assert night.exit_code == 1
    assert (night.alarms[0].metric, night.alarms[0].reason) == ("", "import_failed: no libgomp")


def test_a_known_change_alarms_nobody(world: World) -> None:
    """A known change is shown, alarms nobody and does not keep a release from being accepted."""
    world.known = (acknowledged(metric="throughput", up_to="12%"),)
    world.found = {"1.6.0": SLOWER}
    night = world.night()

    assert (night.exit_code, night.alarms, night.accepted) == (0, (), "1.6.0")
    assert night.tried[0].known[0].acknowledged == "agreed"
    assert night.tried[0].record.reason == "the one pair is the same or better, 1 acknowledged"


@pytest.mark.parametrize("metric", ["throughput", "*"])
@pytest.mark.parametrize("found", [(pair(Verdict.BROKE, reason="import_failed"),), (pair(Verdict.SLOWER, 0.4),)])
def test_acknowledged_changes_hide_no_larger_loss(world: World, metric: str, found: tuple[JudgedPair, ...]) -> None:
    """An acknowledged change hides neither a crash nor a larger loss."""
    world.known = (acknowledged(metric=metric, up_to="12%"),)
    world.offered = Offered(releases("1.6.0", "1.7.0"))
    world.found = {"1.6.0": SLOWER, "1.7.0": found}
    world.asked = {"baseline": "1.5.1", "first": None}
    night = world.night()

    assert judgements(night) == {"1.6.0": Judgement.CLEAN, "1.7.0": Judgement.REGRESSED}
    assert (night.exit_code, [alarm.release for alarm in night.alarms]) == (1, ["1.7.0"])


def test_the_reason_counts_acknowledged_changes_too(world: World) -> None:
    """Next to a regression the reason says how many changes are acknowledged."""
    world.known = (acknowledged(metric="throughput", up_to="12%"),)
    world.found = {"1.6.0": (*SLOWER, pair(Verdict.SLOWER, 0.9, cell="gpu/mlp"))}

    assert world.night().tried[0].record.reason == "gpu/mlp: throughput × 0.900, 1 acknowledged"


def test_a_crash_is_acknowledged_by_name(world: World) -> None:
    """That a release no longer runs is acknowledged under the name of broke."""
    world.known = (acknowledged(metric="broke"),)
    world.found = {"1.6.0": (pair(Verdict.BROKE, reason="import_failed"), pair(Verdict.SAME, cell="cpu/mlp"))}
    night = world.night()

    assert (night.exit_code, judgements(night)) == (0, {"1.6.0": Judgement.CLEAN})
    assert night.tried[0].record.reason == "all 2 pairs are the same or better, 1 acknowledged"


def acknowledged(**more: object) -> AcknowledgedEntry:
    return AcknowledgedEntry.model_validate({"cell": "cpu/*", "release": "1.6.0", "reason": "agreed"} | more)


@pytest.mark.parametrize(("blocks", "confirmed"), [(6, True), (0, False)])
def test_an_alarm_says_if_it_was_confirmed(blocks: int, confirmed: bool) -> None:
    """An alarm says whether fresh blocks have confirmed it."""
    judged_metric = SLOWER[0].metrics[0]
    exact = judged_metric.model_copy(update={"confirmation": None, "metric": "loss", "blocks": 0})
    found = SLOWER[0].model_copy(update={"metrics": (judged_metric if blocks else exact,)})
    tonight = Tonight(night="n", release="1.6.0", baseline="1.5.1")

    assert decide(regression(tonight, found), TrialOutcomes((), ()), (), ()).alarms[0].confirmed is confirmed
