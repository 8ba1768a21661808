"""Sums of small losses next to an anchor, which alarm once."""

import pytest

from orchestrator.analysis.comparison import Verdict
from orchestrator.regression.history.acknowledged import AcknowledgedEntry
from orchestrator.regression.model import JudgedPair
from orchestrator.regression.nightly.files import NightFiles
from orchestrator.regression.nightly.records import Answer, Score
from orchestrator.regression.nightly.state import Judgement, Night
from orchestrator.regression.releases.package_index import Offered
from orchestrator.reporting.formats import render
from orchestrator.reporting.reports.night.report import NIGHT
from orchestrator.reporting.reports.night.words import headline
from tests.unit.regression.nightly.night_fakes import CELL, World, judgements, pair, releases

SAME = pair(Verdict.SAME, 0.99)
LOST = pair(Verdict.SLOWER, 0.93)


def after(world: World, *found: tuple[str, JudgedPair]) -> list[Night]:
    """Hold a night for each release, with what is found of it next to the anchor."""
    nights = []
    for version, anchored in found:
        world.offered = Offered((*world.offered.releases, *releases(version)))
        world.found.setdefault(version, (SAME,))
        world.anchored[version] = anchored
        nights.append(world.night())
    return nights


@pytest.fixture
def watched(world: World) -> World:
    world.offered = Offered(releases("1.4.1", "1.5.1"))
    return world


def test_a_sum_of_small_losses_alarms_once(watched: World) -> None:
    """The release is as good as its baseline, so that it is accepted; what was lost since the anchor alarms."""
    first, second, third = after(watched, ("1.6.0", pair(Verdict.SAME)), ("1.7.0", LOST), ("1.8.0", LOST))

    assert [night.exit_code for night in (first, second, third)] == [0, 1, 0]
    (drift,) = second.drifts
    assert (drift.release, drift.anchor, drift.cell, drift.metric, drift.ratio) == (
        "1.7.0", "1.4.1", CELL, "throughput", 0.93,
    )  # fmt: skip
    assert (judgements(second), second.accepted) == ({"1.7.0": Judgement.CLEAN}, "1.7.0")


def test_a_drift_names_the_releases_that_make_it_up(watched: World) -> None:
    *_, last = after(watched, ("1.6.0", pair(Verdict.SAME)), ("1.7.0", pair(Verdict.SAME)), ("1.8.0", LOST))

    (drift,) = last.drifts
    assert [(step.release, step.since, step.ratio) for step in drift.steps] == [
        ("1.6.0", "1.5.1", 0.99), ("1.7.0", "1.6.0", 0.99), ("1.8.0", "1.7.0", 0.99),
    ]  # fmt: skip
    assert [step.night for step in drift.steps] == ["night-1", "night-2", ""]
    assert drift.unknown_until == "1.5.1"
    assert headline(last).startswith(
        "Drift in mxnet 1.8.0 since 1.4.1: cpu/lenet-train-b200 throughput × 0.930, made up by what came until 1.5.1, "
        "1.6.0 × 0.990, 1.7.0 × 0.990 and 1.8.0 × 0.990."
    )


def test_a_series_alarms_again_after_it_recovered(watched: World) -> None:
    nights = after(watched, ("1.6.0", LOST), ("1.7.0", pair(Verdict.SAME)), ("1.8.0", LOST))

    assert [len(night.drifts) for night in nights] == [1, 0, 1]
    drifts = NightFiles(watched.folder / "reports").state("mxnet").drifts
    assert [(each.release, each.recovered) for each in drifts] == [("1.6.0", "1.7.0"), ("1.8.0", "")]


@pytest.mark.parametrize(
    ("answer", "ratio", "alarms"),
    [
        (None, 0.80, 0),
        (Answer.WRONG, 0.93, 1),
        (Answer.RIGHT, 0.93, 0),
        (Answer.KNOWN, 0.90, 0),
        (Answer.KNOWN, 0.87, 1),
        (Answer.RIGHT, 0.87, 1),
    ],
)
def test_an_answer_says_when_a_series_alarms_again(
    watched: World, answer: Answer | None, ratio: float, alarms: int
) -> None:
    """A wrong alarm may come again; a right or known one takes a further loss beyond the tolerance."""
    after(watched, ("1.6.0", LOST))
    files = NightFiles(watched.folder / "reports")
    if answer is not None:
        score = Score(release="1.6.0", cell=CELL, metric="throughput", anchor="1.4.1", answer=answer, at="2026-11-22")
        files.write_state(files.state("mxnet").model_copy(update={"scores": (score,)}))
    (night,) = after(watched, ("1.7.0", pair(Verdict.SLOWER, ratio)))

    assert len(night.drifts) == alarms


def test_a_regression_is_no_sum_of_small_losses(watched: World) -> None:
    watched.found = {"1.6.0": (pair(Verdict.SLOWER, 0.9),)}
    (night,) = after(watched, ("1.6.0", LOST))

    assert (len(night.alarms), night.drifts) == (1, ())
    assert NightFiles(watched.folder / "reports").state("mxnet").drifts == ()


def test_an_acknowledged_change_is_no_drift(watched: World) -> None:
    known = {"cell": "cpu/*", "metric": "throughput", "release": "1.6.0", "up_to": 0.08, "reason": "agreed"}
    watched.known = (AcknowledgedEntry.model_validate(known),)
    first, second = after(watched, ("1.6.0", LOST), ("1.7.0", pair(Verdict.SLOWER, 0.85)))

    assert (first.drifts, first.exit_code) == ((), 0)
    assert [drift.acknowledged for drift in first.tried[0].drifts] == ["agreed"]
    assert "acknowledged: agreed" in render(NIGHT, first, "md")
    assert (len(second.drifts), second.exit_code) == (1, 1)


def test_unconfirmed_losses_are_no_drift(watched: World) -> None:
    (metric,) = LOST.metrics
    unconfirmed = metric.model_copy(
        update={"confirmation": metric.confirmation.model_copy(update={"confirmed": False})}
    )
    (night,) = after(watched, ("1.6.0", LOST.model_copy(update={"metrics": (unconfirmed,)})))

    assert night.drifts == ()


def test_a_drift_is_in_every_report(watched: World) -> None:
    *_, night = after(watched, ("1.6.0", pair(Verdict.SAME)), ("1.7.0", LOST))

    row = "| 1.7.0 | 1.4.1 | cpu/lenet-train-b200 | throughput | 0.930 | 0.921–0.939 | 5 % |"
    assert row in render(NIGHT, night, "md")
    assert 'id="drifts"' in render(NIGHT, night, "html")
    junit = render(NIGHT, night, "junit")
    assert 'type="drift"' in junit
    assert "throughput since 1.4.1" in junit
