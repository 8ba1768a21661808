"""The search algorithm on simulated hosts: what it names, what it measures, and how sure that is."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.analysis.comparison import Verdict
from orchestrator.regression.search.algorithm import Question, Search, carried_out
from orchestrator.regression.search.blocks import Round, RoundAnswer, Untestable
from orchestrator.regression.search.candidates import stages
from orchestrator.regression.search.conclusion import Conclusion
from orchestrator.regression.search.steps import CHANGED, MOST_BLOCKS, look_numbers

RELEASES = tuple(f"1.{number}" for number in range(13))
LOOKS = look_numbers(MOST_BLOCKS)
TOLERANCE = 0.02


@dataclass
class SimulatedHost:
    """A host on which each release takes its time, give or take, and a block all of its releases alike."""

    times: Mapping[str, float]
    deviation: float = 0.003
    broken: Sequence[str] = ()
    failing: Mapping[str, int] = field(default_factory=dict)
    """Releases of which every so many repeats one fails."""
    deviations: Mapping[str, float] = field(default_factory=dict)
    """Of releases that scatter otherwise."""
    seed: int = 1
    asked: list[Round] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.draw = np.random.default_rng(self.seed)

    def ask(self, wanted: Round) -> RoundAnswer:
        self.asked.append(wanted)
        tested = [release for release in wanted.releases if release not in self.broken]
        before = sum(each.blocks for each in self.asked[:-1])
        blocks = tuple(self.block(tested, before + number) for number in range(wanted.blocks))
        return RoundAnswer(
            blocks, tuple(Untestable(each, "no wheel") for each in wanted.releases if each in self.broken)
        )

    def block(self, releases: Sequence[str], number: int) -> dict[str, float | None]:
        common = 0.01 * self.draw.standard_normal()
        block: dict[str, float | None] = {}
        for release in releases:
            scatter = self.deviations.get(release, self.deviation) * self.draw.standard_normal()
            fails = release in self.failing and number % self.failing[release] == 0
            block[release] = None if fails else self.times[release] * math.exp(common + scatter)
        return block

    @property
    def launches(self) -> int:
        return sum(each.launches for each in self.asked)


def asked(*, every: bool = False, releases: tuple[str, ...] = RELEASES, looks: tuple[int, ...] = LOOKS) -> Question:
    return Question(releases, TOLERANCE, looks, higher_is_better=False, every=every)


def stepping(steps: Mapping[str, float], releases: Sequence[str] = RELEASES) -> dict[str, float]:
    """Times of releases of which some take longer than the one before by a factor."""
    time, times = 1.0, {}
    for release in releases:
        time *= steps.get(release, 1.0)
        times[release] = time
    return times


def searched(host: SimulatedHost, *, every: bool = False) -> Conclusion:
    return carried_out(Search(asked(every=every)), host.ask)


def names(conclusion: Conclusion) -> list[str]:
    return [change.after for change in conclusion.changes]


@pytest.mark.parametrize("changed", RELEASES[1:])
def test_the_changing_release_is_named(changed: str) -> None:
    """The release that changed the metric is named with its neighbour and its ratio."""
    conclusion = searched(SimulatedHost(stepping({changed: 1.1})))

    (change,) = conclusion.changes
    assert (change.before, change.after) == (RELEASES[RELEASES.index(changed) - 1], changed)
    assert change.comparison is not None
    assert change.comparison.verdict is Verdict.SLOWER
    assert change.comparison.ratio == pytest.approx(1.1, rel=0.01)
    assert not conclusion.several
    assert (conclusion.further, conclusion.gradual, conclusion.unsettled, conclusion.untestable) == ((), (), (), ())


def test_first_blocks_hold_every_release() -> None:
    host = SimulatedHost(stepping({"1.7": 1.05}), deviation=0.02)
    searched(host)

    assert host.asked[0] == Round(RELEASES, 4)
    assert all(len(each.releases) == 2 for each in host.asked[1:])


def test_settled_releases_leave_the_blocks() -> None:
    """With every step wanted, the releases that go on are those next to a step that is not decided."""
    host = SimulatedHost(stepping({"1.5": 1.02}), deviation=0.002)
    conclusion = searched(host, every=True)

    assert {release for each in host.asked[2:] for release in each.releases} == {"1.4", "1.5"}
    assert [span.after for span in conclusion.unsettled] == ["1.5"]


@pytest.mark.parametrize(
    "steps",
    [
        {"1.7": 1.1},
        {"1.2": 1.08, "1.9": 1.1},
        {"1.1": 1.1, "1.2": 1.1, "1.12": 1.1},
        {"1.2": 0.9, "1.9": 1.3},
        {"1.3": 1.1, "1.8": 1 / 1.1},
        {"1.2": 1.1, "1.4": 1 / 1.1, "1.9": 1.1},
        dict.fromkeys(RELEASES[1:], 1.05),
    ],
)
def test_every_change_is_named_on_request(steps: dict[str, float]) -> None:
    """Every change is named if every one is asked for."""
    conclusion = searched(SimulatedHost(stepping(steps)), every=True)

    assert names(conclusion) == list(steps)
    assert (conclusion.further, conclusion.unsettled) == ((), ())


def test_an_improvement_on_the_way_is_passed_over() -> None:
    """A change for the better on the way is not the one that was asked for."""
    conclusion = searched(SimulatedHost(stepping({"1.2": 0.9, "1.9": 1.3})))

    assert names(conclusion) == ["1.9"]
    assert [span.after for span in conclusion.further] == ["1.2"]
    assert conclusion.several


def test_a_search_without_a_change_says_its_limit() -> None:
    host = SimulatedHost(stepping({}), deviation=0.02)
    search = Search(asked())
    conclusion = carried_out(search, host.ask)

    assert (conclusion.changes, conclusion.unsettled) == ((), ())
    assert max(step.excluded or 9 for step in search.steps) <= 2.5 * math.log1p(TOLERANCE)


def test_small_steps_that_add_up_are_gradual() -> None:
    """Small steps that add up to a change are reported as such."""
    conclusion = searched(SimulatedHost(stepping(dict.fromkeys(RELEASES[1:], 1.005)), deviation=0.001))

    assert conclusion.changes == ()
    assert [(span.before, span.after) for span in conclusion.gradual] == [("1.0", "1.12")]


def test_an_untestable_release_is_stepped_over_and_named() -> None:
    conclusion = searched(SimulatedHost(stepping({"1.7": 1.1}), broken=["1.6", "1.3"]))

    (change,) = conclusion.changes
    assert (change.before, change.between, change.after) == ("1.5", ("1.6",), "1.7")
    assert conclusion.untestable == (Untestable("1.3", "no wheel"), Untestable("1.6", "no wheel"))


@pytest.mark.parametrize("end", [RELEASES[0], RELEASES[-1]])
def test_an_end_that_is_untestable_ends_the_search(end: str) -> None:
    host = SimulatedHost(stepping({"1.7": 1.1}), broken=[end])
    conclusion = searched(host)

    assert (conclusion.ends, conclusion.changes, len(host.asked)) == (None, (), 1)
    assert [each.release for each in conclusion.untestable] == [end]


def test_blocks_with_a_failed_repeat_do_not_count() -> None:
    """A release that fails now and then takes more blocks, and comes to its answer."""
    host = SimulatedHost(stepping({"1.7": 1.1}), failing={"1.7": 2}, deviation=0.01)
    conclusion = searched(host)

    assert names(conclusion) == ["1.7"]
    assert sum(each.blocks for each in host.asked if "1.7" in each.releases) > 4
    assert min(each.blocks for each in host.asked) >= 2


def test_a_release_that_always_fails_later_ends_undecided() -> None:
    """Blocks without a value for one release are not tried for ever."""
    host = SimulatedHost(stepping({"1.7": 1.05}), deviation=0.02)
    search = Search(asked())
    search.measured.add(host.ask(Round(RELEASES, 4)))
    host.failing = {"1.7": 1}
    conclusion = carried_out(search, host.ask)

    longest = max(after - before for before, after in pairwise(LOOKS))
    assert max(search.measured.tried(step.before, step.after) for step in search.steps) < 2 * LOOKS[-1] + longest
    assert "1.7" in {span.after for span in conclusion.unsettled}


@given(
    st.dictionaries(st.sampled_from(RELEASES[1:]), st.sampled_from([0.9, 1.04, 1.2]), max_size=4),
    st.sets(st.sampled_from(RELEASES), max_size=4),
    st.booleans(),
    st.integers(0, 12),
)
def test_a_stopped_search_asks_the_same_next(
    steps: dict[str, float], broken: set[str], every: bool, stopped_after: int
) -> None:
    """The next question follows from the answers alone."""
    host = SimulatedHost(stepping(steps), broken=sorted(broken), deviation=0.01)
    answers: list[RoundAnswer] = []

    def recorded(wanted: Round) -> RoundAnswer:
        answers.append(host.ask(wanted))
        return answers[-1]

    whole = carried_out(Search(asked(every=every)), recorded)
    again = Search(asked(every=every))
    for answer in answers[:stopped_after]:
        again.measured.add(answer)

    rest = iter(zip(host.asked[stopped_after:], answers[stopped_after:], strict=True))

    def replayed(wanted: Round) -> RoundAnswer:
        before, answer = next(rest)
        assert wanted == before
        return answer

    assert carried_out(again, replayed) == whole


@given(
    st.lists(st.sampled_from([0.9, 1.0, 1.015, 1.1]), min_size=13, max_size=13),
    st.sets(st.sampled_from(RELEASES[1:-1]), max_size=6),
)
def test_searching_every_change_equals_comparing_testable_neighbours(levels: list[float], broken: set[str]) -> None:
    """On a host almost without noise; dips that come and go among them."""
    times = dict(zip(RELEASES, levels, strict=True))
    tested = [release for release in RELEASES if release not in broken]
    wanted = [(one, other) for one, other in pairwise(tested) if not 1 / 1.02 <= times[other] / times[one] <= 1.02]

    conclusion = searched(SimulatedHost(times, broken=sorted(broken), deviation=0.0001), every=True)

    assert [(change.before, change.after) for change in conclusion.changes] == wanted
    assert (conclusion.further, conclusion.unsettled) == ((), ())


@given(
    st.dictionaries(st.sampled_from(RELEASES[1:]), st.sampled_from([0.95, 1.02, 1.05]), max_size=4),
    st.booleans(),
    st.integers(1, 10_000),
)
def test_no_search_is_dearer_than_brute_force(steps: dict[str, float], every: bool, seed: int) -> None:
    """Brute force launches two containers for each block that a step takes at the same looks."""
    host = SimulatedHost(stepping(steps), deviation=0.02, seed=seed)
    search = Search(asked(every=every))
    carried_out(search, host.ask)

    assert host.launches <= sum(2 * step.blocks for step in search.steps)
    assert all(step.blocks <= LOOKS[-1] or not step.is_open for step in search.steps)


@pytest.mark.parametrize("releases", [[], ["1.0"], ["1.0", "1.1", "1.0"]])
def test_releases_that_cannot_be_searched_are_refused(releases: list[str]) -> None:
    with pytest.raises(ValueError, match="two releases or more, each once"):
        Question(tuple(releases), TOLERANCE, LOOKS)


def share(holds: Callable[[Conclusion], bool], hosts: Sequence[SimulatedHost]) -> float:
    return float(np.mean([holds(searched(host)) for host in hosts]))


def test_a_change_of_5_percent_is_found_in_few_launches() -> None:
    """Runs that scatter by 2 %, at a tolerance of 2 %."""
    hosts = [SimulatedHost(stepping({"1.7": 1.05}), deviation=0.02, seed=seed) for seed in range(100)]

    assert share(lambda conclusion: names(conclusion) == ["1.7"], hosts) >= 0.92
    assert np.mean([host.launches for host in hosts]) <= 120


def test_small_steps_in_one_direction_name_no_release() -> None:
    """Every step at 0.9 tolerances, which a model of pooled levels takes for changes."""
    small = stepping(dict.fromkeys(RELEASES[1:], math.exp(0.9 * math.log1p(TOLERANCE))))
    hosts = [SimulatedHost(small, deviation=0.02, seed=seed) for seed in range(40)]

    assert share(lambda conclusion: bool(conclusion.changes), hosts) <= 0.05


def test_a_release_that_scatters_more_is_not_named() -> None:
    """The common scatter would call its chance deviations changes; its own one does not."""
    hosts = [SimulatedHost(stepping({}), deviation=0.005, deviations={"1.6": 0.04}, seed=seed) for seed in range(100)]

    assert share(lambda conclusion: bool(conclusion.changes), hosts) <= 0.05


def test_a_verdict_of_an_early_look_stays() -> None:
    host = SimulatedHost(stepping({"1.5": 1.1}))
    search = Search(asked())
    search.measured.add(host.ask(Round(RELEASES, 4)))
    host.times = stepping({})
    named = [step for step in search.steps if step.verdict in CHANGED]
    search.measured.add(host.ask(Round(RELEASES, LOOKS[-1] - 4)))

    assert [step.after for step in named] == ["1.5"]
    assert [step.after for step in search.steps if step.verdict in CHANGED] == ["1.5"]


def test_looks_go_up_to_the_most_blocks_allowed() -> None:
    assert look_numbers(MOST_BLOCKS) == (4, 6, 8, 12, 20, 30, 40, 52)
    assert look_numbers(24) == (4, 6, 8, 12, 20, 24)
    assert look_numbers(3) == (3,)
    assert look_numbers(200) == (4, 6, 8, 12, 20, 30, 40, 52, 78, 117, 175, 200)


def test_each_stage_moves_one_package() -> None:
    """The way between two environments moves one package at a time."""
    before = {"mxnet": "1.5.1", "numpy": "1.16.6", "requests": "2.20", "graphviz": "0.8"}
    after = {"mxnet": "1.6.0", "numpy": "1.17.5", "requests": "2.20", "urllib3": "1.25"}

    way = stages(before, after, last="mxnet")

    assert [stage.name for stage in way] == [
        "as before", "graphviz 0.8 removed", "numpy 1.16.6 → 1.17.5", "urllib3 1.25 added", "mxnet 1.5.1 → 1.6.0",
    ]  # fmt: skip
    assert way[0].packages == before
    assert way[-1].packages == after
    assert way[2].packages == {"mxnet": "1.5.1", "numpy": "1.17.5", "requests": "2.20"}
    assert [stage.moved and stage.moved.package for stage in way] == [None, "graphviz", "numpy", "urllib3", "mxnet"]


def test_the_changing_dependency_is_found() -> None:
    """The dependency that changed the metric is found in the way that a release is."""
    before = {"mxnet": "1.5.1", "numpy": "1.16.6", "requests": "2.20", "urllib3": "1.24"}
    after = {"mxnet": "1.6.0", "numpy": "1.17.5", "requests": "2.22", "urllib3": "1.25"}
    way = stages(before, after, last="mxnet")
    times = {stage.name: 1.1 if stage.packages["numpy"] == "1.17.5" else 1.0 for stage in way}

    search = Search(asked(releases=tuple(stage.name for stage in way)))

    assert names(carried_out(search, SimulatedHost(times).ask)) == ["numpy 1.16.6 → 1.17.5"]


def test_equal_environments_have_no_way_between_them() -> None:
    """Environments that hold the same packages have no way between them."""
    assert [stage.name for stage in stages({"a": "1"}, {"a": "1"}, last="a")] == ["as before"]
