"""A regression test in every format: each verdict is shown, and nothing in a name steers the reader."""

import xml.etree.ElementTree as ET

import pytest

from orchestrator.analysis.comparison import Verdict
from orchestrator.modes.parts.metrics import Better
from orchestrator.regression.model import (
    Confirmation,
    Design,
    Judged,
    JudgedPair,
    Moved,
    Nights,
    Regression,
    SideRecord,
)
from orchestrator.reporting.charts.ratios import Compared, plot
from orchestrator.reporting.formats import render
from orchestrator.reporting.formats.terminal import texts
from orchestrator.reporting.reports.regression import words
from orchestrator.reporting.reports.regression.report import REGRESSION

CONFIRMED = Confirmation(confirmed=True, blocks=6, ratio=0.91, low=0.9, high=0.92, confidence=0.95)


def terminal(regression: Regression, width: int) -> str:
    assert REGRESSION.short
    return next(texts(REGRESSION.short(regression), width))


def a_metric(verdict: Verdict = Verdict.SAME, ratio: float = 1.0, **changes: object) -> Judged:
    fields: dict[str, object] = {
        "metric": "throughput", "title": "throughput", "unit": "samples/s", "better": Better.HIGHER, "gates": True,
        "verdict": verdict, "tolerance": 0.02, "baseline": 1000.0, "candidate": 1000.0 * ratio, "ratio": ratio,
        "low": ratio * 0.995, "high": ratio * 1.005, "confidence": 0.99, "equivalence": 0.01, "p_value": 0.5,
        "minimum_detectable_effect": 0.031, "blocks": 2, "values": ((1000.0, 1000.0 * ratio), (1001.0, 1001.0 * ratio)),
    }  # fmt: skip
    return Judged.model_validate(fields | changes)


def a_pair(name: str, *metrics: Judged, verdict: Verdict | None = None, reason: str = "") -> JudgedPair:
    return JudgedPair(
        id=f"cpu/{name}-train-b200",
        verdict=verdict or metrics[0].verdict,
        reason=reason,
        metrics=metrics,
        notes=("1 of 6 repeats of the candidate were disturbed, and count",),
    )


def a_test(*pairs: JudgedPair, **changes: object) -> Regression:
    fields: dict[str, object] = {
        "run": "20261121T153000Z-1f3a", "created_at": "2026-11-21T15:30:00+00:00", "host": "here", "runtime": "docker",
        "baseline": SideRecord(text="mxnet==1.5.1", label="mxnet 1.5.1", python="3.11.7"),
        "candidate": SideRecord(text="mxnet==1.9.1", label="mxnet 1.9.1", python="3.11.7"),
        "measurement_version": 1, "alpha": 0.05, "family": 2, "looks": (6, 12, 24), "confirms": True, "complete": True,
        "moved": (Moved(name="numpy", baseline="1.16.6", candidate="1.23.5"), Moved(name="graphviz", baseline="0.8.4")),
        "pairs": pairs,
    }  # fmt: skip
    return Regression.model_validate(fields | changes)


WORSE = a_pair("lenet", a_metric(Verdict.SLOWER, 0.91, confirmation=CONFIRMED))
BROKE = a_pair("mlp", verdict=Verdict.BROKE, reason="failed: exit status 139")
EVERY = a_test(
    WORSE,
    BROKE,
    a_pair(
        "cnn",
        a_metric(ratio=0.99),
        a_metric(
            Verdict.SLOWER, 1.2, metric="peak_memory", title="peak memory", unit="B", better=Better.LOWER, gates=False
        ),
    ),
    a_pair("vgg19", a_metric(Verdict.INCONCLUSIVE, 0.98, low=0.9, high=1.1, more_blocks=14)),
    a_pair("lstm", a_metric(Verdict.FASTER, 1.3)),
    *(a_pair(verdict.name.lower(), verdict=verdict, reason=f"because of {verdict.name}") for verdict in (
        Verdict.NOT_COMPARABLE, Verdict.FIXED, Verdict.NEW, Verdict.GONE, Verdict.NOT_MEASURED)),
)  # fmt: skip


def test_headline_says_what_worsened_or_broke() -> None:
    """The headline says what got worse, what broke, and how many cells have each verdict."""
    assert words.headline(EVERY) == (
        "mxnet 1.9.1 is worse than mxnet 1.5.1 in 1 of 10 cells: cpu/lenet-train-b200 (throughput × 0.910). "
        "mxnet 1.9.1 fails in cpu/mlp-train-b200 (failed: exit status 139). "
        "Of 10 cells: 1 slower, 1 faster, 1 same, 1 inconclusive, 1 not comparable, 1 broke, 1 fixed, 1 new, 1 gone, "
        "1 not measured."
    )
    assert words.headline(a_test(a_pair("lenet", a_metric()))) == (
        "No regression was found from mxnet 1.5.1 to mxnet 1.9.1. Of 1 cell: 1 same."
    )
    undecided = a_pair("mlp", a_metric(Verdict.INCONCLUSIVE))
    assert words.headline(a_test(a_pair("lenet", a_metric()), undecided)) == (
        "No regression was found from mxnet 1.5.1 to mxnet 1.9.1, but 1 of 2 cells is not shown to be as good. "
        "Of 2 cells: 1 same, 1 inconclusive."
    )
    assert words.headline(a_test(WORSE, complete=False)).endswith("It was stopped before its end.")


@pytest.mark.parametrize("verdict", Verdict)
def test_page_is_green_only_if_all_good(verdict: Verdict) -> None:
    """The page is green only where every pair is shown to be as good."""
    said = render(REGRESSION, a_test(a_pair("lenet", a_metric()), a_pair("mlp", verdict=verdict)), "html")

    is_good = verdict in {Verdict.SAME, Verdict.FASTER, Verdict.FIXED, Verdict.NEW}
    assert ('<span class="chip good">no regression found</span>' in said) is is_good
    is_open = not is_good and verdict is not Verdict.BROKE
    assert ("no regression found, but 1 of 2 cells is not shown" in said) is is_open


def test_the_terminal_counts_what_decides_nothing_by_metric() -> None:
    """Of four cells and eleven metrics, a row for each metric; Markdown keeps every figure."""
    others = [
        a_metric(Verdict.SLOWER if number == 10 else Verdict.SAME, 1 + number / 10, metric=f"m{number}",
                 title=f"metric {number}", gates=False)
        for number in range(11)
    ]  # fmt: skip
    found = a_test(*(a_pair(name, a_metric(), *others) for name in ("lenet", "mlp", "cnn", "vgg19")))

    shown = terminal(found, 100)

    assert len(shown.splitlines()) < 45
    assert "4 slower" in next(line for line in shown.splitlines() if "metric 10" in line)
    assert "2.000–2.000" in shown
    assert "--format md shows the figures of every cell." in shown
    assert render(REGRESSION, found, "md").count("metric 10") == 4
    one = terminal(a_test(a_pair("lenet", a_metric(), *others)), 200)
    assert one.count("cpu/lenet-train-b200") >= 12


def test_verdicts_say_what_makes_them_firmer_or_weaker() -> None:
    said = [row.cells[6] for row in words.rows(EVERY, gates=True)]

    assert said == [
        "slower, confirmed on 6 fresh blocks",
        "broke: failed: exit status 139",
        "same: it differs, by less than the tolerance of 2 %",
        "inconclusive: about 14 more blocks",
        "faster",
        "not comparable: because of NOT_COMPARABLE",
        "fixed: because of FIXED",
        "new: because of NEW",
        "gone: because of GONE",
        "not measured: because of NOT_MEASURED",
    ]


def test_reason_and_blocks_needed_are_said() -> None:
    """A reason and the number of blocks that would decide are both said."""
    doubted = a_metric(Verdict.INCONCLUSIVE, 0.95, reason="slower on 6 blocks, and not on 6 fresh ones", more_blocks=1)

    assert words.verdict(doubted) == ("inconclusive: slower on 6 blocks, and not on 6 fresh ones; about 1 more block")


@pytest.mark.parametrize(
    ("low", "high", "is_said"), [(0.985, 1.015, False), (0.975, 1.01, True), (0.99, 1.025, True), (1.0, 1.0, False)]
)
def test_same_with_a_wide_interval_is_explained(low: float, high: float, is_said: bool) -> None:
    """The verdict 'same' next to an interval that reaches beyond the tolerance is explained."""
    said = words.how(a_test(a_pair("lenet", a_metric(low=low, high=high))))

    assert ("Where an interval next to 'same' reaches beyond the tolerance: that verdict is tested" in said) is is_said
    undecided = a_test(a_pair("lenet", a_metric(Verdict.INCONCLUSIVE, low=0.9, high=1.1)))
    assert "next to 'same'" not in words.how(undecided)


def test_undeciding_metrics_are_shown_apart() -> None:
    """Metrics that do not decide are shown apart, in their unit."""
    (row,) = words.rows(EVERY, gates=False)

    assert row.cells == (
        "cpu/cnn-train-b200", "peak memory", "1 kB", "1 kB", "1.200", "1.194–1.206", "slower", "less than 3.1 %", "2",
    )  # fmt: skip


@pytest.mark.parametrize("name", ["table", "md", "html"])
def test_every_format_shows_every_pair(name: str) -> None:
    """Every format shows every pair, its verdict, its notes and what moved."""
    text = " ".join(render(REGRESSION, EVERY, name).replace("\\", "").split())

    for pair in EVERY.pairs:
        assert pair.id[:15] in text
    for said in ("were disturbed, and count", "numpy 1.16.6 → 1.23.5, graphviz 0.8.4 → absent", "At most 5 %"):
        assert said in text


def over_nights(design: Design, nights: Nights) -> Regression:
    undecided = a_metric(Verdict.INCONCLUSIVE, 0.98, low=0.9, high=1.1, more_blocks=3, values=(), nights=nights)
    return a_test(a_pair("lenet", undecided), design=design, looks=(), confirms=False)


@pytest.mark.parametrize(
    ("design", "head", "more"),
    [(Design.BLOCKS, "Blocks", "3 more blocks"), (Design.RUNS, "Repeats", "3 more repeats"),
     (Design.SEVERAL_RUNS, "Runs", "3 more runs")],
)  # fmt: skip
def test_what_is_counted_has_its_name(design: Design, head: str, more: str) -> None:
    found = over_nights(design, Nights(baseline=2, candidate=2))

    assert f"| {head} |" in render(REGRESSION, found, "md")
    assert f"about {more} |" in render(REGRESSION, found, "md")
    for text in (
        terminal(found, 200),
        render(REGRESSION, found, "html"),
        render(REGRESSION, found, "junit"),
    ):
        assert head in text
        assert more in text


@pytest.mark.parametrize(
    ("nights", "said"),
    [
        (
            Nights(baseline=2, candidate=2, within=0.0123, between=0.008),
            "within runs: 1.23 %; between runs, beyond what that explains: 0.8 %",
        ),
        (
            Nights(baseline=1, candidate=1, within=0.0123),
            "within runs: 1.23 %; between runs, beyond what that explains: not known from one run of each side",
        ),
        (
            Nights(baseline=2, candidate=2, between=0.008),
            "within runs: not known from one repeat a run; between runs, beyond what that explains: 0.8 %",
        ),
    ],
)
def test_scatter_within_and_between_nights_is_separate(nights: Nights, said: str) -> None:
    """The scatter within nights and the scatter between nights are told apart."""
    *_, last = words.notes(over_nights(Design.SEVERAL_RUNS, nights))

    assert last == f"cpu/lenet-train-b200: throughput, standard deviation {said}"


def test_one_run_each_states_its_limit() -> None:
    """One run of each side may differ by their nights alone, and the report says so."""
    said = words.how(over_nights(Design.RUNS, Nights(baseline=1, candidate=1)))

    assert "what differs from run to run is in no interval, and passes for a difference" in said
    assert said.endswith(
        "But for that: at most 5 % of such tests hold a false alarm in any of their 2 verdicts on figures."
    )


@pytest.mark.parametrize("design", Design)
def test_chosen_blocks_claim_no_false_alarm_share(design: Design) -> None:
    """No share of false alarms is claimed where a test chose the blocks by what it saw."""
    nights = over_nights(design, Nights(baseline=1, candidate=1))
    said = words.how(nights.model_copy(update={"blocks_follow_sight": True}))

    assert "at most 5 %" not in said.lower()
    assert "a run chose the number of its blocks, fresh ones included, by what it saw" in said
    assert "at most 5 %" in words.how(nights).lower()


def test_block_dots_are_explained_only_when_drawn() -> None:
    """The dots of blocks are explained only where there are some."""
    assert "a dot per block" in render(REGRESSION, EVERY, "html")
    assert "a dot per block" not in render(
        REGRESSION, over_nights(Design.SEVERAL_RUNS, Nights(baseline=2, candidate=2)), "html"
    )


def test_junit_fails_each_regression() -> None:
    """JUnit has a failure for each regression and skips what has no verdict."""
    suite = ET.fromstring(render(REGRESSION, EVERY, "junit")).find("testsuite")
    assert suite is not None
    cases = {case.get("classname"): case for case in suite}

    failed = [name for name, case in cases.items() if case.find("failure") is not None]
    skipped = [name for name, case in cases.items() if case.find("skipped") is not None]
    assert failed == ["cpu/lenet-train-b200", "cpu/mlp-train-b200"]
    assert skipped == [f"cpu/{name}-train-b200" for name in ("vgg19", "not_comparable", "new", "gone", "not_measured")]
    undecided = cases["cpu/vgg19-train-b200"].find("skipped")
    assert undecided is not None
    assert "inconclusive: about 14 more blocks" in str(undecided.get("message"))
    assert (suite.get("tests"), suite.get("failures")) == ("10", "2")


def test_unconfirmed_slowdown_is_no_failure() -> None:
    """A slower verdict that did not come again on fresh blocks is no failure in JUnit."""
    doubted = a_metric(Verdict.INCONCLUSIVE, 0.95, reason="slower on 6 blocks, and not on 6 fresh ones")

    assert "<failure" not in render(REGRESSION, a_test(a_pair("lenet", doubted)), "junit")


def test_huge_bounds_are_shown_as_words() -> None:
    """Bounds without end are shown as words and not as hundreds of digits."""
    wide = a_metric(Verdict.INCONCLUSIVE, low=1e-58, high=1e79, minimum_detectable_effect=1e108)
    (row,) = words.rows(a_test(a_pair("lenet", wide)), gates=True)

    assert row.cells[5] == "<0.001–>1000"
    assert row.cells[7] == "next to anything"
    assert len(render(REGRESSION, a_test(a_pair("lenet", wide)), "html")) < 40_000


def test_intervals_and_tolerances_share_an_axis() -> None:
    """Intervals are drawn next to their tolerance on one axis."""
    judged = [row.judged for row in words.rows(EVERY, gates=True) if row.judged]
    found = plot([Compared("", one.ratio, one.low, one.high, one.tolerance, ()) for one in judged if one.ratio])

    assert found is not None
    slow, same = found.lanes[0], found.lanes[1]
    assert slow.interval is not None
    assert sum(slow.interval) < slow.tolerance[0] < found.one < sum(slow.tolerance)
    assert same.tolerance[0] < same.middle < found.one
    assert render(REGRESSION, EVERY, "html").count('class="row"') == len(found.lanes)
    assert plot([]) is None


def test_names_steer_no_terminal_or_page() -> None:
    """Names and reasons cannot steer a terminal or a page."""
    hostile = "\x1b[31m<script>alert(1)</script>\u202e|`"
    found = a_test(a_pair(hostile, verdict=Verdict.BROKE, reason=hostile), host=hostile)

    for text in (
        render(REGRESSION, found, "table"),
        render(REGRESSION, found, "md"),
        render(REGRESSION, found, "html"),
        render(REGRESSION, found, "junit"),
    ):
        assert "\x1b" not in text
        assert "\u202e" not in text
    assert "<script>alert" not in render(REGRESSION, found, "html")
    assert "<script>alert" not in render(REGRESSION, found, "md").replace("\\<", "")
    ET.fromstring(render(REGRESSION, found, "junit"))


def test_fall_to_zero_is_said_in_words() -> None:
    """A metric that fell to 0 is reported in words where there is no ratio."""
    no_ratio = dict.fromkeys(("ratio", "low", "high", "p_value", "minimum_detectable_effect"))
    fall = {**no_ratio, "values": (), "reason": "the candidate is 0 in 2 of 2 measurements"}
    fell = a_metric(Verdict.SLOWER).model_copy(update={**fall, "candidate": 0.0})
    found = a_test(a_pair("lenet", fell))

    said = (
        "mxnet 1.9.1 is worse than mxnet 1.5.1 in 1 of 1 cell: cpu/lenet-train-b200 (throughput: the candidate is 0 in "
    )
    assert words.headline(found).startswith(said)
    for text in (
        render(REGRESSION, found, "html"),
        render(REGRESSION, found, "md"),
        terminal(found, 400),
        render(REGRESSION, found, "junit"),
    ):
        assert "the candidate is 0 in 2 of 2 measurements" in text


def test_the_terminal_folds_rows_of_one_reason() -> None:
    """One line with a count; what was measured of what decides stays a row, and Markdown keeps every figure."""
    alone = {"reason": "one measurement says nothing about scatter", "blocks": 1, "low": None, "high": None}
    names = [f"metric {number}" for number in range(7)]
    others = [a_metric(Verdict.INCONCLUSIVE, metric=name, title=name, gates=False, **alone) for name in names]
    gone = [a_pair(name, verdict=Verdict.GONE, reason="the candidate has no such cell") for name in ("a", "b", "c")]
    gone = [pair.model_copy(update={"notes": ()}) for pair in gone]
    broke = [a_pair(name, verdict=Verdict.BROKE, reason="exit status 139") for name in ("x", "y")]
    found = a_test(a_pair("lenet", a_metric(Verdict.INCONCLUSIVE, **alone), *others), *gone, *broke)
    shown = render(REGRESSION, found, "table")

    folded = (
        "3 gone: the candidate has no such cell (cpu/a-train-b200, cpu/b-train-b200 and cpu/c-train-b200)",
        "7 inconclusive: one measurement says nothing about scatter (metric 0, metric 1, metric 2 and 4 more)",
    )
    for line in folded:
        assert " ".join(shown.split()).count(line) == 1
        assert line not in render(REGRESSION, found, "md")
    assert "1,000 → 1,000" in shown
    assert shown.count("broke:") == 2
    assert len(shown.splitlines()) < 30
    assert render(REGRESSION, found, "md").count("one measurement says nothing about scatter") == 8
    assert render(REGRESSION, found, "md").count("gone: the candidate has no such cell") == 3
