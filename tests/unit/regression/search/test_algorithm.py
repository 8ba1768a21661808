from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from orchestrator.analysis.comparison import Comparison, Verdict, compare, looks
from orchestrator.regression.search.algorithm import PROBED, Answer, Conclusion, Probe, Untestable, carried_out, search
from orchestrator.regression.search.candidates import stages

RELEASES = tuple(f"1.{number}" for number in range(13))


def measured(
    times: Mapping[str, float],
    *,
    deviation: float = 0.003,
    broken: Sequence[str] = (),
    seed: int = 1,
    asked: list[Probe] | None = None,
) -> Callable[[Probe], Answer]:
    """A host on which each release takes its time, give or take."""

    def ask(probe: Probe) -> Answer:
        if asked is not None:
            asked.append(probe)
        for release in (probe.baseline, probe.candidate):
            if release in broken:
                return Untestable(release, "no wheel for this Python")
        # The first blocks of a longer probe are those of the shorter one.
        draw = np.random.default_rng([seed, *f"{probe.baseline} {probe.candidate}".encode()])
        scatter = np.exp(deviation * draw.standard_normal((probe.look.blocks, 2)))
        baseline, candidate = (scatter * [times[probe.baseline], times[probe.candidate]]).T
        return compare(
            baseline,  # type: ignore[arg-type]
            candidate,  # type: ignore[arg-type]
            tolerance=0.02,
            higher_is_better=False,
            confidence=probe.look.confidence,
            equivalence=probe.look.equivalence,
            paired=True,
        )

    return ask


def stepping(steps: Mapping[str, float], releases: Sequence[str] = RELEASES) -> dict[str, float]:
    """Times of releases of which some take longer than the one before by a factor."""
    time, found = 1.0, {}
    for release in releases:
        time *= steps.get(release, 1.0)
        found[release] = time
    return found


def names(conclusion: Conclusion) -> list[str]:
    return [change.after for change in conclusion.changes]


@pytest.mark.parametrize("changed", RELEASES[1:])
def test_the_changing_release_is_named(changed: str) -> None:
    """The release that changed the metric is named with its neighbour and its ratio."""
    found = carried_out(search(RELEASES), measured(stepping({changed: 1.1})))

    (change,) = found.changes
    assert (change.before, change.after) == (RELEASES[RELEASES.index(changed) - 1], changed)
    assert change.comparison is not None
    assert change.comparison.verdict is Verdict.SLOWER
    assert change.comparison.ratio == pytest.approx(1.1, rel=0.01)
    assert not found.several
    assert (found.further, found.gradual, found.unsettled, found.untestable) == ((), (), (), ())


def test_a_search_takes_two_comparisons_for_each_halving() -> None:
    asked: list[Probe] = []
    carried_out(search(RELEASES), measured(stepping({"1.7": 1.1}), asked=asked))

    assert len({(probe.baseline, probe.candidate) for probe in asked}) <= 1 + 2 * 4


def test_ends_that_are_the_same_hold_no_change() -> None:
    found = carried_out(search(RELEASES), measured(stepping({})))

    assert found.ends is not None
    assert (found.ends.verdict, found.changes) == (Verdict.SAME, ())


def test_one_of_several_changes_is_named() -> None:
    """One of several changes is named, and the others are said to be there."""
    found = carried_out(search(RELEASES), measured(stepping({"1.2": 1.08, "1.9": 1.1})))

    assert names(found) == ["1.2"]
    assert [(span.before, span.after) for span in found.further] == [("1.6", "1.12")]
    assert found.several


def test_an_improvement_on_the_way_is_passed_over() -> None:
    """A change for the better on the way is not the one that was asked for."""
    found = carried_out(search(RELEASES), measured(stepping({"1.2": 0.9, "1.9": 1.3})))

    assert names(found) == ["1.9"]
    assert [span.after for span in found.further] == ["1.6"]


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
    found = carried_out(search(RELEASES, every=True), measured(stepping(steps)))

    assert names(found) == list(steps)
    assert (found.further, found.unsettled) == ((), ())


def test_an_untestable_release_is_stepped_over_and_named() -> None:
    found = carried_out(search(RELEASES), measured(stepping({"1.7": 1.1}), broken=["1.6", "1.3"]))

    assert names(found) == ["1.7"]
    assert Untestable("1.6", "no wheel for this Python") in found.untestable


def test_untestable_neighbours_leave_a_change_ambiguous() -> None:
    """A change next to an untestable release may be of either."""
    (change,) = carried_out(search(RELEASES), measured(stepping({"1.7": 1.1}), broken=["1.6", "1.7"])).changes

    assert (change.before, change.between, change.after) == ("1.5", ("1.6", "1.7"), "1.8")


@pytest.mark.parametrize("end", [RELEASES[0], RELEASES[-1]])
def test_an_end_that_is_untestable_ends_the_search(end: str) -> None:
    found = carried_out(search(RELEASES), measured(stepping({"1.7": 1.1}), broken=[end]))

    assert (found.ends, found.changes) == (None, ())
    assert [each.release for each in found.untestable] == [end]


def test_small_steps_that_add_up_are_gradual() -> None:
    """Small steps that add up to a change are reported as such."""
    found = carried_out(search(RELEASES), measured(stepping(dict.fromkeys(RELEASES[1:], 1.0025)), deviation=0.001))

    assert found.changes == ()
    assert [(span.before, span.after) for span in found.gradual] == [("1.0", "1.12")]


def test_undecided_changes_end_as_unsettled() -> None:
    """A change that all blocks do not decide is reported as unsettled after all looks."""
    asked: list[Probe] = []
    found = carried_out(search(RELEASES), measured(stepping({"1.7": 1.02}), deviation=0.05, asked=asked))

    assert [probe.look.blocks for probe in asked] == [6, 12, 24, 48]
    assert [(span.before, span.after) for span in found.unsettled] == [("1.0", "1.12")]
    assert found.changes == ()


@given(
    st.dictionaries(st.sampled_from(RELEASES[1:]), st.sampled_from([0.9, 1.04, 1.2]), max_size=4),
    st.sets(st.sampled_from(RELEASES), max_size=4),
    st.booleans(),
    st.integers(0, 50),
)
def test_a_stopped_search_resumes_from_its_record(
    steps: dict[str, float], broken: set[str], every: bool, stopped_after: int
) -> None:
    """And it ends, whatever the answers, and never asks the same twice."""
    asked: list[Probe] = []
    ask = measured(stepping(steps), broken=sorted(broken), deviation=0.01, asked=asked)
    whole = carried_out(search(RELEASES, every=every), ask)
    record = {probe: ask(probe) for probe in list(asked)[:stopped_after]}
    first = list(dict.fromkeys(asked))
    asked.clear()

    again = carried_out(search(RELEASES, every=every), lambda probe: record[probe] if probe in record else ask(probe))

    assert again == whole
    assert asked == first[stopped_after:]


SIXTEEN = tuple(f"1.{number}" for number in range(16))


@given(
    st.dictionaries(st.sampled_from(SIXTEEN[1:]), st.sampled_from([0.9, 1.1, 1.2]), max_size=5),
    st.sets(st.sampled_from(SIXTEEN), max_size=12),
    st.booleans(),
)
@example({}, set(), True)
@example({"1.15": 1.1}, {f"1.{number}" for number in (1, 2, 3, 4, 6, 7, 8, 9, 11)}, False)
@example(dict.fromkeys(SIXTEEN[1:], 1.1), set(), True)
def test_no_search_exceeds_comparisons_sharing_its_alpha(
    steps: dict[str, float], broken: set[str], every: bool
) -> None:
    """Sixteen releases: the ends, and two comparisons for each of four halvings, or of fourteen with `every`."""
    most = 29 if every else 9
    asked: list[Probe] = []
    answers: list[Answer] = []
    ask = measured(stepping(steps, SIXTEEN), broken=sorted(broken), deviation=0.0001, asked=asked)

    carried_out(search(SIXTEEN, every=every), lambda probe: answers.append(ask(probe)) or answers[-1])

    assert asked[0].look == looks(most, blocks=PROBED)[0]
    pairs = zip(asked, answers, strict=True)
    compared = {(probe.baseline, probe.candidate) for probe, answer in pairs if isinstance(answer, Comparison)}
    assert len(compared) <= most


@given(
    st.lists(st.sampled_from([0.9, 1.0, 1.015, 1.1]), min_size=13, max_size=13),
    st.sets(st.sampled_from(RELEASES[1:-1]), max_size=6),
)
@example([1.0] * 4 + [0.9] + [1.0] * 8, set())
@example([1.0] * 2 + [1.1] * 3 + [1.0] * 8, {"1.6"})
@example([1.0] * 2 + [0.9] + [1.0] * 6 + [1.1] * 4, set())
def test_searching_every_change_equals_comparing_testable_neighbours(levels: list[float], broken: set[str]) -> None:
    """On a host without noise; dips that come and go among them."""
    times = dict(zip(RELEASES, levels, strict=True))
    tested = [release for release in RELEASES if release not in broken]
    wanted = [(one, other) for one, other in pairwise(tested) if not 1 / 1.02 <= times[other] / times[one] <= 1.02]

    found = carried_out(search(RELEASES, every=True), measured(times, deviation=0, broken=sorted(broken)))

    assert [(change.before, change.after) for change in found.changes] == wanted
    assert (found.further, found.unsettled) == ((), ())
    # What is told to have changed bit by bit holds no change of its own.
    within = [{*RELEASES[RELEASES.index(span.before) : RELEASES.index(span.after) + 1]} for span in found.gradual]
    assert not any({*change} <= span for change in wanted for span in within)


@pytest.mark.parametrize("releases", [[], ["1.0"], ["1.0", "1.1", "1.0"]])
def test_releases_that_cannot_be_searched_are_refused(releases: list[str]) -> None:
    with pytest.raises(ValueError, match="two releases or more, each once"):
        search(releases)


def test_a_noisy_host_rarely_misleads_a_search() -> None:
    """Runs that scatter by 2 %, a change of 10 % among thirteen releases, at most 48 blocks a probe."""
    wrong = [
        names(carried_out(search(RELEASES), measured(stepping({"1.7": 1.1}), deviation=0.02, seed=seed))) != ["1.7"]
        for seed in range(200)
    ]

    assert np.mean(wrong) <= 0.05


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

    found = carried_out(search([stage.name for stage in way]), measured(times))

    assert names(found) == ["numpy 1.16.6 → 1.17.5"]


def test_equal_environments_have_no_way_between_them() -> None:
    """Environments that hold the same packages have no way between them."""
    assert [stage.name for stage in stages({"a": "1"}, {"a": "1"}, last="a")] == ["as before"]
