"""The report of a night on the anchor, and the report on the watch itself."""

from orchestrator.analysis.comparison import Verdict
from orchestrator.regression.model import ChainLink, JudgedPair
from orchestrator.regression.nightly.state import Judgement, Tonight, Trying
from orchestrator.reporting.formats import render
from orchestrator.reporting.reports.night.report import NIGHT
from orchestrator.reporting.reports.night.watch import chain_notes
from orchestrator.reporting.reports.watch.report import WATCH
from tests.unit.regression.nightly.night_fakes import CELL, anchored, pair, regression
from tests.unit.regression.nightly.night_records import a_night, record
from tests.unit.regression.nightly.watch_records import DOUBTED, a_watch


def chained(*pairs: JudgedPair) -> Trying:
    """A release whose ratio to the anchor is chained over another one."""
    link = {"cell": CELL, "metric": "throughput", "python": "3.7", "error": 0.006}
    links = (
        ChainLink(**link | {"baseline": "1.4.1", "candidate": "1.8.0", "ratio": 0.95, "error": 0.008}),
        ChainLink(**link | {"baseline": "1.8.0", "candidate": "1.9.1", "ratio": 0.99, "python": "3.11"}),
    )
    found = regression(Tonight(night="n", release="1.9.1", baseline="1.8.0"), pair(Verdict.SAME))
    next_to = anchored(pair(Verdict.SAME, 0.9405)).model_copy(update={"over": ("1.8.0",), "links": links})
    next_to = next_to.model_copy(update={"pairs": (*next_to.pairs, *pairs)})
    return Trying(record=record("1.9.1", Judgement.CLEAN), regression=found.model_copy(update={"anchored": next_to}))


def test_a_chain_shows_its_parts_and_its_error() -> None:
    """The standard errors of 0.8 % and 0.6 % are 1 % together."""
    (note,) = chain_notes(chained().regression)

    assert note == (
        f"{CELL} throughput: no Python runs mxnet 1.4.1 and the candidate, so the ratio is the product "
        "0.950 (1.4.1 → 1.8.0, 3.7) × 0.990 (1.8.0 → 1.9.1, 3.11); its standard error is 1 %, and 0.6 % of its last "
        "part alone"
    )


def test_a_night_shows_every_pair_next_to_the_anchor() -> None:
    missing = JudgedPair(id="cpu/mlp", verdict=Verdict.NOT_MEASURED, reason="it is not in the plan of the anchor")
    text = render(NIGHT, a_night(tried=(chained(missing),)), "md")

    assert "| 1.9.1 | cpu/lenet-train-b200 | throughput | 0.941 | 0.931–0.950 | same | – |" in text
    assert "| 1.9.1 | cpu/mlp | – | – | – | not measured | it is not in the plan of the anchor |" in text
    assert "its standard error is 1 %" in text


def test_a_night_without_an_anchor_says_nothing_of_it() -> None:
    assert "anchor" not in render(NIGHT, a_night(), "md")


def test_the_watch_says_first_what_is_wrong() -> None:
    text = " ".join(render(WATCH, a_watch(), "md").split())

    assert "no result for 3 nights or more, which is an alarm." in text
    assert "This rig is noisier since 2026-11-09" in text
    assert "0 of 14 nights of the baseline against itself had a false alarm (0 %–23.2 %)" in text
    assert "1 of 1 answered alarms were right." in text
    assert "| 2026-11 | 1 | 0 | 0 | 0 | 100 % | 2.5 %–100 % |" in text


def test_the_watch_lists_series_in_doubt() -> None:
    text = render(WATCH, a_watch(), "html").partition('id="doubted"')[2]

    assert DOUBTED in text
    assert "They alarm again only if twice as many fresh blocks are slower by themselves." in " ".join(text.split())
