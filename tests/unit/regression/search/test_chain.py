"""A search whose ends no Python runs both: its spans, how they share α, and what they show together."""

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.analysis.comparison import Comparison, Verdict, chained, compare
from orchestrator.errors import InputError
from orchestrator.regression.search.blocks import Untestable
from orchestrator.regression.search.chain import PythonSpan, comparisons_of_chain, python_spans
from orchestrator.regression.search.chain_conclusion import SearchedSpan, chain_conclusion, found_chain
from orchestrator.regression.search.conclusion import Conclusion, Span
from orchestrator.regression.search.steps import look_numbers, search_looks

RELEASES = ("1", "2", "3", "4", "5")
SPANS = (PythonSpan("3.8", "1", "3"), PythonSpan("3.11", "3", "5"))


def spans(**pythons: str) -> list[tuple[str, str, str]]:
    """Return the spans of releases whose Pythons are written `v1="8 9"`."""
    by_release = {name[1:]: [f"3.{minor}" for minor in text.split()] for name, text in pythons.items()}
    return [(span.python, span.first, span.last) for span in python_spans("engine", by_release)]


def test_a_span_reaches_as_far_as_it_can() -> None:
    assert spans(v1="8 9", v2="8 9", v3="8 9 11", v4="9 11", v5="11 12", v6="12") == [
        ("3.9", "1", "4"),
        ("3.11", "4", "5"),
        ("3.12", "5", "6"),
    ]


def test_the_newer_of_equal_pythons_is_taken() -> None:
    """3.10 is newer than 3.9, whatever the order in the catalog."""
    assert spans(v1="9 10 8", v2="10 9 8", v3="11 8") == [("3.8", "1", "3")]
    assert spans(v1="9 10", v2="10 9 11", v3="11") == [("3.10", "1", "2"), ("3.11", "2", "3")]


def test_one_python_may_have_two_spans() -> None:
    assert spans(v1="8", v2="8 9", v3="9", v4="9 8", v5="8") == [
        ("3.8", "1", "2"),
        ("3.9", "2", "4"),
        ("3.8", "4", "5"),
    ]


def test_neighbours_without_a_common_python_are_named() -> None:
    with pytest.raises(InputError) as error:
        spans(v1="8", v2="8 9", v3="12 11", v4="11")

    (said,) = error.value.messages
    assert said == (
        "no Python runs both ends, and the releases between cannot be chained: engine 2 (Python 3.8 and 3.9) and 3 "
        "(Python 3.11 and 3.12) share no Python; search up to 2, or from 3 on"
    )


@given(st.lists(st.sets(st.sampled_from(["3.8", "3.9", "3.10", "3.11"]), min_size=1), min_size=2, max_size=9))
def test_every_release_is_in_a_span_that_runs_it(offered: list[set[str]]) -> None:
    """Spans follow each other, share one release, and no two of them could be one."""
    pythons = {str(number): sorted(each) for number, each in enumerate(offered)}
    releases = tuple(pythons)
    if any(not one & other for one, other in pairwise(offered)):
        with pytest.raises(InputError):
            python_spans("engine", pythons)
        return
    found = python_spans("engine", pythons)

    assert [found[0].first, found[-1].last] == [releases[0], releases[-1]]
    assert [span.last for span in found[:-1]] == [span.first for span in found[1:]]
    assert all(span.python in pythons[release] for span in found for release in span.of(releases))
    for one, other in pairwise(found):
        assert not set.intersection(*(set(pythons[each]) for each in (*one.of(releases), *other.of(releases)[1:2])))


def test_all_comparisons_of_a_chain_share_alpha() -> None:
    """Steps, ends of spans and ends of the chain have one level; a span of two releases has one comparison."""
    pair = PythonSpan("3.12", "5", "6")
    releases = (*RELEASES, "6")
    blocks = look_numbers(12)

    assert comparisons_of_chain(SPANS, RELEASES) == 3 + 3 + 1
    assert comparisons_of_chain((*SPANS, pair), releases) == 3 + 3 + 1 + 1
    assert comparisons_of_chain((PythonSpan("3.8", "1", "5"),), RELEASES) == 5
    family = comparisons_of_chain((*SPANS, pair), releases)
    levels = [
        1 - look.confidence
        for span in (*SPANS, pair)
        for look in search_looks(len(span.of(releases)), blocks, 0.05, family)
        for _ in range(1 if span == pair else 3)
    ]
    of_the_ends = sum(levels) / (family - 1)
    assert math.isclose(sum(levels) + of_the_ends, 0.05)


def comparison(ratio: float, half: float, verdict: Verdict = Verdict.INCONCLUSIVE) -> Comparison:
    low, high = ratio * math.exp(-half), ratio * math.exp(half)
    return Comparison(ratio, low, high, 0.1, 0.05, None, verdict, 4, 0.999, 0.002, 0.02)


def concluded(
    *spans: Conclusion, every: bool = False, higher_is_better: bool = True, releases: Sequence[str] = RELEASES
) -> Conclusion:
    searched = [SearchedSpan(span, each) for span, each in zip(SPANS, spans, strict=True)]
    return chain_conclusion(releases, searched, tolerance=0.02, higher_is_better=higher_is_better, every=every)


def conclusion(ends: Comparison | None, **parts: tuple[object, ...]) -> Conclusion:
    names = ("changes", "further", "gradual", "unsettled", "untestable")
    return Conclusion(ends, *(parts.get(name, ()) for name in names))  # type: ignore[arg-type]


def change(before: str, after: str, ratio: float) -> Span:
    return Span(before, after, comparison(ratio, 0.01, Verdict.SLOWER if ratio < 1 else Verdict.FASTER))


def test_ends_of_a_chain_are_a_product() -> None:
    """Half widths add as squares, and the interval decides beside the tolerance."""
    ends = chained([comparison(0.9, 0.03), comparison(0.95, 0.04)], tolerance=0.02, higher_is_better=True)
    low, high = 0.855 * math.exp(-0.05), 0.855 * math.exp(0.05)

    assert (ends.ratio, ends.low, ends.high) == (pytest.approx(0.855), pytest.approx(low), pytest.approx(high))
    assert (ends.verdict, ends.p_value, ends.confidence) == (Verdict.SLOWER, None, 0.999)
    assert chained([comparison(0.9, 0.03)], tolerance=0.02, higher_is_better=False).verdict is Verdict.FASTER
    same = chained([comparison(1.1, 0.01), comparison(1 / 1.1, 0.01)], tolerance=0.02, higher_is_better=True)
    assert same.verdict is Verdict.SAME
    assert chained([comparison(1.1, 0.02)] * 2, tolerance=0.3, higher_is_better=True).verdict is Verdict.SAME
    assert chained([comparison(1.1, 0.2)] * 2, tolerance=0.3, higher_is_better=True).verdict is Verdict.INCONCLUSIVE


def test_a_link_without_an_interval_leaves_none() -> None:
    single = compare([1.0], [1.1], tolerance=0.02, higher_is_better=True)

    ends = chained([comparison(0.5, 0.01), single], tolerance=0.02, higher_is_better=True)

    assert (ends.ratio, ends.low, ends.verdict) == (pytest.approx(0.55), None, Verdict.INCONCLUSIVE)
    with pytest.raises(ValueError, match="at least one link"):
        chained([], tolerance=0.02, higher_is_better=True)


@given(st.lists(st.tuples(st.floats(-5, 5), st.floats(0, 5)), min_size=1, max_size=6), st.booleans())
def test_a_chain_is_wider_than_its_widest_link(links: list[tuple[float, float]], higher: bool) -> None:
    """It is narrower than the sum of all, and its verdict says which way the interval lies."""
    ends = chained(
        [comparison(math.exp(ratio), half) for ratio, half in links], tolerance=0.02, higher_is_better=higher
    )
    halves = [half for _, half in links]
    assert ends.low is not None
    assert ends.high is not None
    half = math.log(ends.high / ends.low) / 2

    assert max(halves) - 1e-9 <= half <= sum(halves) + 1e-9
    beyond = (ends.high < 1 / 1.02 * (1 - 1e-9), ends.low > 1.02 * (1 + 1e-9))
    if any(beyond):
        assert ends.verdict is (Verdict.SLOWER if beyond[0] == higher else Verdict.FASTER)


def test_largest_change_along_the_chain_is_kept() -> None:
    """A larger change the other way is a further one, in the order of the releases."""
    first = conclusion(comparison(1.5, 0.01), changes=(change("1", "2", 1.5),))
    second = conclusion(comparison(0.6, 0.01), changes=(change("4", "5", 0.9),), further=(change("3", "4", 0.7),))

    one, every = concluded(first, second), concluded(first, second, every=True)

    assert [span.after for span in one.changes] == ["4"]
    assert [span.after for span in one.further] == ["2", "5"]
    assert [span.after for span in every.changes] == ["2", "4", "5"]
    assert every.further == ()
    assert one.ends is not None
    assert one.ends.verdict is Verdict.SLOWER


def test_a_change_against_the_chain_is_kept_alone() -> None:
    """The largest is named if none goes the way of the chain."""
    first = conclusion(comparison(1.1, 0.01), changes=(change("1", "2", 1.1),))

    assert [span.after for span in concluded(first, conclusion(comparison(0.85, 0.01))).changes] == ["2"]


def test_a_broken_chain_keeps_the_changes_of_others() -> None:
    first = conclusion(comparison(0.9, 0.01), changes=(change("1", "2", 0.9),))
    second = conclusion(None, untestable=(Untestable("3", "no wheel"),))
    searched = [SearchedSpan(span, each) for span, each in zip(SPANS, (first, second), strict=True)]

    both, chain = concluded(first, second), found_chain(searched, None)

    assert (both.ends, [span.after for span in both.changes]) == (None, ["2"])
    assert both.untestable == (Untestable("3", "no wheel"),)
    assert (chain.half_width, chain.widest_half_width) == (None, None)
    (broken,) = chain.broken
    assert (broken.python, [(each.release, each.reason) for each in broken.broken_by]) == (
        "3.11",
        [("3", "no wheel")],
    )


def test_the_chain_may_change_bit_by_bit() -> None:
    """No span shows a change, and all of them together do."""
    small = conclusion(comparison(0.97, 0.015, Verdict.INCONCLUSIVE))
    unsettled = conclusion(comparison(0.97, 0.015), unsettled=(Span("3", "4", comparison(0.98, 0.02)),))

    (gradual,) = concluded(small, small).gradual

    assert (gradual.before, gradual.after, gradual.between) == ("1", "5", ("2", "3", "4"))
    assert gradual.comparison is not None
    assert gradual.comparison.verdict is Verdict.SLOWER
    assert concluded(small, unsettled).gradual == ()
    assert [span.after for span in concluded(small, unsettled).unsettled] == ["4"]


def test_a_bridge_that_is_untestable_is_said_once() -> None:
    same = conclusion(None, untestable=(Untestable("3", "no wheel"),))
    other = conclusion(None, untestable=(Untestable("3", "no wheel"), Untestable("4", "other work")))

    assert [each.release for each in concluded(same, other).untestable] == ["3", "4"]


def test_the_added_error_is_stated() -> None:
    """The interval of the chain stands beside that of the widest span."""
    halves: Mapping[str, float] = {"one": 0.03, "other": 0.04}
    searched = [
        SearchedSpan(span, conclusion(comparison(1.0, half))) for span, half in zip(SPANS, halves.values(), strict=True)
    ]
    ends = concluded(*(each.conclusion for each in searched)).ends

    chain = found_chain(searched, ends)

    assert chain.half_width == pytest.approx(math.expm1(0.05))
    assert chain.widest_half_width == pytest.approx(math.expm1(0.04))
    assert [(span.python, span.first, span.last) for span in chain.spans] == [("3.8", "1", "3"), ("3.11", "3", "5")]
