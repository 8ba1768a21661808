"""A night's actions on new releases, and the next night's on their results."""

import json
import os
import signal
from pathlib import Path

import pytest

from orchestrator.analysis.comparison import Verdict
from orchestrator.errors import InputError
from orchestrator.regression.nightly.decide import dropped_images, is_listed
from orchestrator.regression.nightly.files import AnotherNightError, NightFiles
from orchestrator.regression.nightly.state import Ending, Judgement
from orchestrator.regression.releases.package_index import Offered
from orchestrator.regression.releases.pages import PublishedRelease
from tests.unit.regression.nightly.night_fakes import CELL, World, judgements, pair, releases
from tests.unit.regression.nightly.night_records import a_change

SLOWER = (pair(Verdict.SLOWER, 0.9),)


def state(world: World) -> dict[str, object]:
    return json.loads((world.folder / "reports" / "state.json").read_text())  # type: ignore[no-any-return]


def test_a_newer_clean_release_is_accepted(world: World) -> None:
    """A release newer than the baseline is measured, and accepted when it is clean."""
    night = world.night()

    assert (night.ending, judgements(night), night.exit_code) == (Ending.MEASURED, {"1.6.0": Judgement.CLEAN}, 0)
    assert world.trials == [("1.6.0", "1.5.1", "")]
    assert (night.baseline, night.accepted) == ("1.5.1", "1.6.0")


def test_a_night_without_news_measures_nothing(world: World) -> None:
    """A night with nothing new measures nothing and is recorded all the same."""
    world.night()
    night = world.night()

    assert (night.ending, night.tried, night.exit_code) == (Ending.NOTHING_NEW, (), 0)
    assert [one.night for one in NightFiles(world.folder / "reports").nights()] == ["night-1", "night-2"]


def test_releases_are_compared_with_the_last_accepted(world: World) -> None:
    """Each release is compared with the one that was accepted before it."""
    world.offered = Offered(releases("1.8.0", "1.6.0", "1.7.0.post1"))
    world.night()

    assert [(release, against) for release, against, _ in world.trials] == [
        ("1.6.0", "1.5.1"), ("1.7.0.post1", "1.6.0"), ("1.8.0", "1.7.0.post1"),
    ]  # fmt: skip


def test_a_pinned_baseline_stays(world: World) -> None:
    world.asked = {"baseline": "1.5.1", "first": None}
    world.offered = Offered(releases("1.6.0", "1.8.0"))
    night = world.night()

    assert [against for _, against, _ in world.trials] == ["1.5.1", "1.5.1"]
    assert night.accepted == ""
    assert world.night().ending is Ending.NOTHING_NEW


def test_the_baselines_own_post_release_is_not_new(world: World) -> None:
    """A post-release that the pin of the baseline installs is not new."""
    world.asked = {"first": "1.7.0"}
    world.offered = Offered(releases("1.7.0.post2", "1.7.0"))

    assert world.night().ending is Ending.NOTHING_NEW


@pytest.mark.parametrize(
    ("asked", "tried"), [({}, []), ({"prereleases": True}, ["2.0.0b1"]), ({"yanked": True}, ["1.6.0"])]
)
def test_prereleases_and_yanked_ones_are_measured_by_choice(
    world: World, asked: dict[str, object], tried: list[str]
) -> None:
    world.asked = asked
    world.offered = Offered((PublishedRelease("1.6.0", yanked="wrong"), PublishedRelease("2.0.0b1")))
    world.night()

    assert [release for release, _, _ in world.trials] == tried


@pytest.mark.parametrize(
    ("version", "found"),
    [
        ("1.7.0", True),
        ("1.7", True),
        ("1.7.0.post2", True),
        ("1.9.1+cpu", True),
        ("1.7.0.post1", False),
        ("1.9", False),
    ],
)
def test_a_release_is_listed_through_its_pin(version: str, found: bool) -> None:
    """A release is listed by itself or as the post-release that its pin installs."""
    assert is_listed(version, releases("1.7.0.post2", "1.9.1")) is found


def test_bad_input_is_blamed_on_no_release(world: World) -> None:
    """Bad input ends the night and is not put down to a release."""
    world.found = {"1.6.0": InputError("matrix.yaml: no data")}
    with pytest.raises(InputError, match="no data"):
        world.night()
    world.found = {}

    assert (world.night().night, state(world)["tonight"]) == ("night-1", None)


def test_a_change_in_history_raises_no_alarm(world: World) -> None:
    """A change of the history is reported once and alarms nobody."""
    holding = world.begin()
    night = holding.try_releases().model_copy(update={"changes": (a_change(),)})
    holding.end(night)

    assert night.exit_code == 0
    assert state(world)["changes"] == [a_change().model_dump()]


def test_a_silent_index_is_no_verdict(world: World) -> None:
    """A package index that is silent shows neither health nor a regression."""
    world.offered = Offered((), ("https://index/mxnet/: does not answer",))
    night = world.night()

    assert (night.ending, night.exit_code, night.alarms) == (Ending.INDEX_SILENT, 3, ())
    assert night.problems == ("https://index/mxnet/: does not answer",)


def test_unreached_releases_wait_for_the_next_night(world: World) -> None:
    """Releases that a night does not reach are measured in the next one."""
    world.offered = Offered(releases("1.6.0", "1.7.0", "1.8.0"))
    world.over_after = 1
    first, second = world.night(), world.night()

    assert (list(judgements(first)), first.waiting) == (["1.6.0"], ("1.7.0", "1.8.0"))
    assert (list(judgements(second)), second.waiting) == (["1.7.0"], ("1.8.0",))


def test_a_cut_trial_goes_on_without_alarm(world: World) -> None:
    """A trial that is cut short alarms nobody and goes on in its run."""
    world.over_after, world.cut = 1, True
    world.found = {"1.6.0": SLOWER}
    night = world.night()
    assert (judgements(night), night.exit_code) == ({"1.6.0": Judgement.NOT_RUN}, 0)

    world.over_after, world.cut = None, False
    night = world.night()
    assert world.trials[-1] == ("1.6.0", "1.5.1", "run-1.6.0")
    assert (judgements(night), night.exit_code) == ({"1.6.0": Judgement.REGRESSED}, 1)
    assert night.tried[0].record.attempts == 1


@pytest.mark.parametrize("killed", [False, True])
def test_a_changed_baseline_restarts_a_trial(world: World, killed: bool) -> None:
    """A trial begins anew if another release has become the baseline by now."""

    def kill() -> None:
        raise Killed

    world.over_after, world.cut = 1, True
    if killed:
        world.at_trial = kill
        with pytest.raises(Killed):
            world.night()
    else:
        world.night()
    files = NightFiles(world.folder / "reports")
    files.write_state(files.state("mxnet").model_copy(update={"accepted": "1.5.2", "accepted_by": "hand"}))
    world.over_after, world.cut, world.at_trial = None, False, lambda: None
    night = world.night()

    assert world.trials == [("1.6.0", "1.5.1", ""), ("1.6.0", "1.5.2", "")]
    assert (night.tried[0].record.baseline, judgements(night)) == ("1.5.2", {"1.6.0": Judgement.CLEAN})
    assert world.said[-2:] == [
        "mxnet 1.6.0 starts again: run-1.6.0 compares it with 1.5.1, and stays as it is", "mxnet 1.6.0 against 1.5.2",
    ]  # fmt: skip


class Killed(BaseException):
    """An end like `kill -9` to a night: no handler of ours runs."""


def test_a_killed_night_resumes_under_its_name(world: World) -> None:
    """A night that is killed in a trial goes on in that trial under its own name."""

    def kill() -> None:
        raise Killed

    world.at_trial = kill
    with pytest.raises(Killed):
        world.night()

    world.at_trial = lambda: None
    night = world.night()

    assert (night.night, world.trials) == ("night-1", [("1.6.0", "1.5.1", ""), ("1.6.0", "1.5.1", "run-1.6.0")])
    assert (night.accepted, state(world)["tonight"]) == ("1.6.0", None)


@pytest.mark.parametrize("writes", range(1, 9))
def test_a_night_survives_death_at_any_write(world: World, writes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A night that is killed at any write reports each alarm once and comes to the same end."""
    world.asked = {"baseline": "1.5.1", "first": None}  # an older release stays new until it is known
    world.offered = Offered(releases("1.6.0", "1.7.0"))
    world.found = {"1.6.0": SLOWER}
    left = [writes]
    from orchestrator.regression.nightly import files as nightly_files

    write = nightly_files.write_atomically

    def dying(path: Path, text: str) -> None:
        left[0] -= 1
        if left[0] == 0:
            raise Killed
        write(path, text)

    monkeypatch.setattr(nightly_files, "write_atomically", dying)
    with pytest.raises(Killed):
        world.night()
    monkeypatch.setattr(nightly_files, "write_atomically", write)
    night = world.night()

    recorded = NightFiles(world.folder / "reports").nights()
    alarms = [alarm.key for one in recorded for alarm in one.alarms]
    assert alarms == [("1.6.0", CELL, "throughput")]
    assert {key: value for one in recorded for key, value in judgements(one).items()} == {
        "1.6.0": Judgement.REGRESSED, "1.7.0": Judgement.CLEAN,
    }  # fmt: skip
    assert (night.ending, state(world)["tonight"], len(recorded)) == (Ending.MEASURED, None, 1)
    tried = len(world.trials)
    assert (world.night().ending, len(world.trials)) == (Ending.NOTHING_NEW, tried)


def test_a_second_night_is_kept_out(world: World) -> None:
    files = NightFiles(world.folder / "reports")
    with files.held(), pytest.raises(AnotherNightError, match="another night is under way"), files.held():
        pass


def test_without_an_accepted_release_the_remedy_is_said(world: World) -> None:
    world.asked = {"first": None}
    with pytest.raises(InputError, match="orchestrator nightly accept mxnet==VERSION"):
        world.night()


def test_the_state_of_something_else_is_refused(world: World) -> None:
    world.night()
    world.asked = {"watch": "torch", "first": "2.0.0"}
    with pytest.raises(InputError, match="is the state of 'mxnet', not of 'torch'"):
        world.night()


def test_a_broken_state_is_one_clear_error(world: World) -> None:
    world.night()
    (world.folder / "reports" / "state.json").write_text('{"schema": 1')
    with pytest.raises(InputError, match=r"state\.json: not a record of a nightly: Invalid JSON: .*; move it away"):
        world.night()


@pytest.mark.parametrize("planted", ["pipe", "link"])
def test_a_state_must_be_a_plain_file(world: World, planted: str) -> None:
    """Reading a pipe would wait for ever, and a link could lead anywhere."""
    world.night()
    path = world.folder / "reports" / "state.json"
    path.unlink()
    if planted == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to(world.folder / "elsewhere.json")
    signal.signal(signal.SIGALRM, _waits)
    signal.alarm(10)
    try:
        with pytest.raises(InputError, match=r"state\.json: is no plain file; move it away"):
            world.night()
    finally:
        signal.alarm(0)


def _waits(*_: object) -> None:
    raise AssertionError("the file was opened and waited for")


def test_newest_and_baseline_images_stay(world: World) -> None:
    """The images of the newest measured releases and of the baseline stay."""
    world.asked = {"keep_images": 1}
    world.offered = Offered(releases("1.6.0", "1.7.0", "1.8.0"))
    world.found = {"1.8.0": SLOWER}
    holding = world.begin()
    holding.try_releases()

    assert dropped_images(holding.nightly.settings, holding.state) == ("bench/mxnet:1.6.0",)
