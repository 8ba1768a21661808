"""Idle nights, on which the baseline is measured against itself under another name."""

import json
from pathlib import Path

import pytest

from orchestrator.analysis.comparison import Verdict
from orchestrator.errors import HostError
from orchestrator.regression.nightly.files import NightFiles
from orchestrator.regression.nightly.state import Ending, Night
from orchestrator.regression.releases.package_index import Offered
from orchestrator.reporting.reports.night.words import headline
from tests.unit.regression.nightly.night_fakes import World, pair, releases
from tests.unit.regression.nightly.test_night import Killed

SAME = (pair(Verdict.SAME),)


def night_of(world: World) -> Night:
    """Hold a night to its end, with its self-test."""
    holding = world.begin()
    holding.try_releases()
    night = holding.test_itself()
    holding.end(night)
    return night


@pytest.fixture
def idle(world: World) -> World:
    """An index with nothing new, and a baseline that is measured against itself."""
    world.offered, world.itself = Offered(releases("1.4.1", "1.5.1")), SAME
    return world


def test_an_idle_night_measures_the_baseline_against_itself(idle: World) -> None:
    night = night_of(idle)

    assert (night.ending, night.tried, night.exit_code) == (Ending.NOTHING_NEW, (), 0)
    assert night.self_test is not None
    assert (night.self_test.release, night.self_test.complete) == ("1.5.1", True)
    assert idle.trials == [("1.5.1+1", "1.5.1", "")]
    assert headline(night).endswith("The baseline 1.5.1 against itself: no false alarms in 1 comparison.")


def test_what_is_judged_has_the_other_name_alone(idle: World) -> None:
    """Only the night's record, which is written after the verdicts, says what was behind it."""
    night = night_of(idle)

    assert night.self_test is not None
    assert night.self_test.regression is not None
    assert idle.judged_names == ["1.5.1+1"]
    assert night.self_test.regression.candidate.text == "mxnet==1.5.1+1"
    assert night.self_test.name == "1.5.1+1"


def test_a_false_alarm_alarms_nobody(idle: World) -> None:
    """It is a finding on the rig, and no release is worse."""
    idle.itself = (pair(Verdict.SLOWER, 0.9),)
    night = night_of(idle)

    assert (night.exit_code, night.alarms) == (0, ())
    assert "1 false alarm in 1 comparison: cpu/lenet-train-b200 throughput." in headline(night)
    state = NightFiles(idle.folder / "reports").state("mxnet")
    assert (state.alarms, state.releases) == ((), ())


@pytest.mark.parametrize("reason", ["new release", "no answer", "no time"])
def test_only_an_idle_night_tests_itself(idle: World, reason: str) -> None:
    if reason == "new release":
        idle.offered = Offered(releases("1.5.1", "1.6.0"))
    elif reason == "no answer":
        idle.offered = Offered((), ("https://index/: does not answer",))
    else:
        idle.over_after = 0

    assert night_of(idle).self_test is None


def test_an_unsupported_release_leaves_a_night_idle(idle: World) -> None:
    """It is looked at every night, so that no night would be idle any more."""
    from orchestrator.catalog import UnsupportedError

    idle.offered = Offered(releases("1.5.1", "9.9"))
    idle.found = {"9.9": UnsupportedError("add a line to the catalog")}

    assert night_of(idle).self_test is not None


def test_a_host_that_cannot_measure_is_no_answer(idle: World) -> None:
    idle.itself = HostError("no engine answers")
    night = night_of(idle)

    assert night.self_test is not None
    assert (night.self_test.reason, night.exit_code) == ("no engine answers", 3)
    assert "was not measured: no engine answers." in headline(night)


def test_a_test_that_is_cut_short_goes_on(idle: World) -> None:
    """The next idle night takes up its run, under the name that it had."""
    idle.cut = True
    first = night_of(idle)
    assert first.self_test is not None
    assert (first.self_test.complete, first.exit_code) == (False, 0)

    idle.cut = False
    second = night_of(idle)
    assert idle.trials[-1] == ("1.5.1+1", "1.5.1", "run-1.5.1+1")
    assert second.self_test is not None
    assert second.self_test.complete
    assert night_of(idle).self_test is not None
    assert idle.trials[-1] == ("1.5.1+3", "1.5.1", "")


def test_another_baseline_begins_another_test(idle: World) -> None:
    idle.cut = True
    night_of(idle)
    files = NightFiles(idle.folder / "reports")
    files.write_state(files.state("mxnet").model_copy(update={"accepted": "1.5.2", "accepted_by": "hand"}))
    idle.cut = False
    night_of(idle)

    assert idle.trials[-1] == ("1.5.2+2", "1.5.2", "")


def test_a_killed_test_goes_on_in_its_night(idle: World) -> None:
    def kill() -> None:
        raise Killed

    idle.at_trial = kill
    with pytest.raises(Killed):
        night_of(idle)
    idle.at_trial = lambda: None
    night = night_of(idle)

    assert (night.night, idle.trials[-1]) == ("night-1", ("1.5.1+1", "1.5.1", "run-1.5.1+1"))
    assert night.self_test is not None
    assert night.self_test.complete


@pytest.mark.parametrize("writes", range(1, 8))
def test_a_self_test_survives_death_at_any_write(idle: World, writes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A night that is killed at any write comes to one test, and the next night begins another."""
    from orchestrator.regression.nightly import files as nightly_files

    left, write = [writes], nightly_files.write_atomically

    def dying(path: Path, text: str) -> None:
        left[0] -= 1
        if left[0] == 0:
            raise Killed
        write(path, text)

    monkeypatch.setattr(nightly_files, "write_atomically", dying)
    with pytest.raises(Killed):
        night_of(idle)
    monkeypatch.setattr(nightly_files, "write_atomically", write)
    first, second = night_of(idle), night_of(idle)

    assert first.self_test is not None
    assert second.self_test is not None
    assert (first.self_test.complete, second.self_test.complete) == (True, True)
    assert second.self_test.run != first.self_test.run
    names = [trial[0] for trial in idle.trials]
    assert names[-1] != names[0]
    assert NightFiles(idle.folder / "reports").state("mxnet").self_test is None


def test_a_killed_test_gives_way_to_a_new_release(idle: World) -> None:
    """The release is measured first, and the test waits for the next idle night."""

    def kill() -> None:
        raise Killed

    idle.at_trial = kill
    with pytest.raises(Killed):
        night_of(idle)
    idle.at_trial = lambda: None
    idle.offered = Offered(releases("1.5.1", "1.6.0"))
    night = night_of(idle)

    assert [trying.record.version for trying in night.tried] == ["1.6.0"]
    assert idle.trials[1:] == [("1.6.0", "1.5.1", "")]


def test_an_earlier_state_can_be_read(idle: World) -> None:
    """It has none of the keys that came with drifts, answers and self-tests."""
    night_of(idle)
    path: Path = idle.folder / "reports" / "state.json"
    document = json.loads(path.read_text())
    for key in ("drifts", "scores", "self_test"):
        del document[key]
    path.write_text(json.dumps(document))

    assert night_of(idle).self_test is not None
