"""Nights that measure nothing: which of them count against a release, and what becomes of it."""

import pytest

from orchestrator.analysis.comparison import Verdict
from orchestrator.catalog import UnsupportedError
from orchestrator.domain import Outcome, Status
from orchestrator.errors import HostError
from orchestrator.regression.nightly.state import Ending, Judgement
from orchestrator.regression.releases.package_index import Offered
from tests.unit.regression.nightly.night_fakes import World, judgements, pair, releases

SLOWER = (pair(Verdict.SLOWER, 0.9),)


def test_a_failed_install_is_tried_three_nights(world: World) -> None:
    """A release that does not install is tried on three nights and never accepted."""
    world.found = {"1.6.0": Status.BUILD_FAILED}
    nights = [world.night() for _ in range(4)]

    assert [judgements(night) for night in nights] == [{"1.6.0": Judgement.BUILD_FAILED}] * 3 + [{}]
    assert [night.exit_code for night in nights] == [0, 0, 0, 0]
    assert [(night.ending, night.is_clean) for night in nights[2:]] == [
        (Ending.NO_RESULT, False), (Ending.NOTHING_NEW, False),
    ]  # fmt: skip
    assert nights[2].tried[0].record.reason == "no matching distribution"
    assert nights[3].accepted == "1.5.1"
    assert [[one.version for one in night.given_up] for night in nights] == [[], [], ["1.6.0"], ["1.6.0"]]


def test_broken_hosts_cost_no_attempts(world: World) -> None:
    """Nights of a broken host cost a release none of its attempts."""
    world.asked = {"attempts": 1}
    world.found = {"1.6.0": HostError("no engine answers")}
    broken = [world.night() for _ in range(4)]
    world.found = {"1.6.0": Status.BUILD_FAILED}
    world.baseline = Status.BUILD_FAILED
    silent = world.night()
    world.found, world.baseline = {}, Status.OK
    night = world.night()

    assert [judgements(one) for one in [*broken, silent]] == [{"1.6.0": Judgement.NO_RESULT}] * 5
    assert [(one.exit_code, one.given_up) for one in [*broken, silent]] == [(3, ())] * 5
    assert silent.tried[0].record.reason == "not even the baseline installs: no matching distribution"
    assert judgements(night) == {"1.6.0": Judgement.CLEAN}


@pytest.mark.parametrize(
    "why", ["write /layer: no space left on device", "https://far/ cannot be reached: it refuses connections"]
)
def test_a_build_failure_elsewhere_costs_no_attempt(world: World, why: str) -> None:
    """A build that says nothing of the release costs it no attempt and keeps no other waiting."""
    world.asked, world.why = {"attempts": 1, "baseline": "1.5.1", "first": None}, why
    world.offered = Offered(releases("1.6.0", "1.8.0"))
    world.found = {"1.6.0": Status.BUILD_FAILED}
    nights = [world.night() for _ in range(2)]

    assert [(night.exit_code, night.tried[0].record.reason, night.given_up) for night in nights] == [(3, why, ())] * 2
    assert judgements(nights[0]) == {"1.6.0": Judgement.NO_RESULT, "1.8.0": Judgement.CLEAN}


def test_a_failing_baseline_gives_up_no_release(world: World) -> None:
    """No release is given up if the baseline does not run either."""
    world.asked, world.baseline = {"attempts": 1}, Status.FAILED
    world.found = {"1.6.0": (pair(Verdict.NOT_MEASURED, reason="both sides: failed"),)}
    nights = [world.night() for _ in range(3)]

    assert [(judgements(night), night.exit_code, night.given_up) for night in nights] == [
        ({"1.6.0": Judgement.NO_RESULT}, 3, ())
    ] * 3


def test_a_release_that_never_starts_is_given_up(
    world: World,
) -> None:
    """A release that never starts where the baseline does is given up and keeps no other waiting."""
    world.asked = {"attempts": 2, "baseline": "1.5.1", "first": None}
    world.offered = Offered(releases("1.6.0", "1.8.0"))
    world.found = {"1.6.0": (pair(Verdict.NOT_MEASURED, reason="candidate: launch_failed"),)}
    nights = [world.night() for _ in range(3)]

    assert [judgements(night) for night in nights] == [
        {"1.6.0": Judgement.NO_RESULT, "1.8.0": Judgement.CLEAN}, {"1.6.0": Judgement.NO_RESULT}, {},
    ]  # fmt: skip
    assert [one.version for one in nights[2].given_up] == ["1.6.0"]


GPU = "1_gpu/lenet-train-b200"
FAR = "https://far/ cannot be reached: its name is not known to the resolver"


@pytest.mark.parametrize(
    ("status", "why", "attempts"),
    [
        (Status.BUILD_FAILED, FAR, [0, 0, 0]),
        (Status.BUILD_FAILED, "no matching distribution", [1, 2]),
        (Status.LAUNCH_FAILED, "write /layer: no space left on device", [0, 0, 0]),
        (Status.LAUNCH_FAILED, "no runtime nvidia", [1, 2]),
        (Status.NO_DEVICE, "1_gpu needs 1 GPU; this host has none", [1, 2]),
    ],
)
def test_a_partly_run_release_is_not_judged(world: World, status: Status, why: str, attempts: list[int]) -> None:
    """A release of which some part never ran is neither judged nor accepted."""
    world.asked = {"attempts": 2, "accept": "unless_worse"}
    world.lacking = {GPU: Outcome(GPU, 0, status, reason=why)}
    world.found = {"1.6.0": (pair(Verdict.SAME), pair(Verdict.NOT_MEASURED, cell=GPU, reason=f"candidate: {why}"))}
    nights = [world.night() for _ in range(3)]

    records = [trying.record for night in nights for trying in night.tried]
    assert [(record.judgement, record.attempts) for record in records] == [
        (Judgement.NO_RESULT, each) for each in attempts
    ]
    assert {record.reason for record in records} == {f"{GPU}: candidate: {why}"}
    assert ({night.accepted for night in nights}, nights[0].exit_code) == ({"1.5.1"}, 3)

    world.asked, world.lacking, world.found = world.asked | {"attempts": 3}, {}, {}
    assert judgements(world.night()) == {"1.6.0": Judgement.CLEAN}


def test_a_regression_alarms_despite_unrun_parts(world: World) -> None:
    """A part that is worse alarms even if another part never ran."""
    world.lacking = {GPU: Outcome(GPU, 0, Status.BUILD_FAILED, reason=FAR)}
    world.found = {"1.6.0": (*SLOWER, pair(Verdict.NOT_MEASURED, cell=GPU, reason=FAR))}
    night = world.night()

    assert (judgements(night), night.exit_code) == ({"1.6.0": Judgement.REGRESSED}, 1)


@pytest.mark.parametrize(("verdict", "accepted"), [(Verdict.NOT_MEASURED, "1.5.1"), (Verdict.INCONCLUSIVE, "1.6.0")])
def test_undecided_releases_are_accepted_by_choice(world: World, verdict: Verdict, accepted: str) -> None:
    """An undecided release is accepted by choice, and one that was not measured is not."""
    world.asked = {"accept": "unless_worse"}
    world.found = {"1.6.0": (pair(Verdict.SAME), pair(verdict, cell=GPU, reason="neither side runs: oom"))}
    night = world.night()

    assert (judgements(night), night.accepted) == ({"1.6.0": Judgement.INCONCLUSIVE}, accepted)


def test_a_new_catalog_line_leaves_all_attempts(world: World) -> None:
    """A line that is added to the catalog leaves a release all its attempts."""
    world.found = {"1.6.0": UnsupportedError("the catalog knows mxnet <1.6")}
    for _ in range(4):
        world.night()
    world.found = {"1.6.0": Status.BUILD_FAILED}
    nights = [world.night() for _ in range(4)]

    assert [bool(night.tried) for night in nights] == [True, True, True, False]


def test_unknown_releases_are_tried_every_night(world: World) -> None:
    """A release that the catalog lacks is tried every night."""
    world.found = {"1.6.0": UnsupportedError("the catalog knows mxnet <1.6")}
    nights = [world.night() for _ in range(5)]

    assert {judgements(night)["1.6.0"] for night in nights} == {Judgement.UNSUPPORTED}


def test_a_night_without_result_leaves_the_rest(world: World) -> None:
    """A night without a result says so and leaves the remaining releases waiting."""
    world.found = {"1.6.0": HostError("no engine answers")}
    world.offered = Offered(releases("1.6.0", "1.8.0"))
    night = world.night()

    assert (night.ending, night.exit_code, night.waiting) == (Ending.NO_RESULT, 3, ("1.8.0",))
    assert judgements(night) == {"1.6.0": Judgement.NO_RESULT}
