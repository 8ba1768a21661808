"""The reports of a night, none of which calls a sick night healthy."""

import junitparser
import pytest

from orchestrator.regression.nightly.state import Ending, Judgement, Posted, Trying
from orchestrator.reporting.formats import render
from orchestrator.reporting.reports.night.report import NIGHT, NIGHTS
from orchestrator.reporting.reports.night.words import alarm_row, facts, headline, lines
from tests.unit.regression.nightly.night_records import a_change, a_night, alarm, record, silent_night


def test_headline_names_alarms_first() -> None:
    """The headline names what alarms first, and everything else after it."""
    assert headline(a_night()) == (
        "Regression in mxnet 1.6.0: cpu/lenet-train-b200. Clean: 1.7.0. "
        "Does not install, which is neither a regression nor health: 1.8.0. "
        "Not reached, and left to the next night: 1.9.1. 1 place did not answer, so that there may be more releases."
    )


def test_every_release_state_has_plain_words() -> None:
    """Every state of a release is said in plain words."""
    tried = tuple(
        Trying(record=record(version, judgement))
        for version, judgement in (
            ("1.6.0", Judgement.NO_RESULT), ("1.7.0", Judgement.NOT_RUN), ("1.8.0", Judgement.UNSUPPORTED),
        )
    )  # fmt: skip
    assert headline(a_night(tried=tried, waiting=(), problems=())) == (
        "Without an environment in the catalog: 1.8.0. Not measured: 1.6.0. "
        "Not finished (out of budget or stopped): 1.7.0."
    )


def test_given_up_releases_are_named_every_night() -> None:
    given_up = (record("1.8.0", Judgement.BUILD_FAILED, "no matching distribution"),)
    night = a_night(ending=Ending.NOTHING_NEW, tried=(), waiting=(), problems=(), given_up=given_up)

    assert headline(night).endswith("Given up, and not tried again: 1.8.0 (build_failed).")
    assert "| 1.8.0 |" in render(NIGHT, night, "md").partition("## Given up")[2]
    assert "no matching distribution" in render(NIGHT, night, "html").partition('id="given-up"')[2]


def test_new_history_changes_raise_no_alarm() -> None:
    """New changes of the history are shown and alarm nobody."""
    night = a_night(ending=Ending.NOTHING_NEW, tried=(), waiting=(), problems=(), changes=(a_change(),))

    assert headline(night).endswith(
        "New in the history, and no alarm: cpu/lenet-train-b200 throughput × 0.930 since 2026-11-20."
    )
    assert "| 1.6.0 → 1.7.0 | 0.930 | 1e-06 | worse |" in render(NIGHT, night, "md")
    assert "mxnet-*-cpu/lenet-train-b200 on far" in render(NIGHT, night, "html")
    assert night.exit_code == 0


@pytest.mark.parametrize(
    ("confirmed", "words"),
    [
        (True, "worse, confirmed on fresh blocks"),
        (False, "worse; known exactly, and not measured again"),
        (None, "worse"),
    ],
)
def test_only_what_was_measured_again_is_called_confirmed(confirmed: bool | None, words: str) -> None:
    assert alarm_row(alarm(confirmed=confirmed))[-1] == words


def test_notes_of_a_pair_are_always_shown() -> None:
    """Notes that must be known of a pair stand in every form of the report."""
    note = "2 of 6 repeats of the candidate were disturbed, and count"
    first, *others = a_night().tried
    assert first.regression is not None
    pairs = [one.model_copy(update={"notes": (note,)}) for one in first.regression.pairs]
    noted = first.model_copy(update={"regression": first.regression.model_copy(update={"pairs": tuple(pairs)})})
    night = a_night(tried=(noted, *others))

    assert lines(night) == (headline(night), f"note: 1.6.0: cpu/lenet-train-b200: {note}")
    assert f"- cpu/lenet-train-b200: {note}" in render(NIGHT, night, "md")
    assert note in render(NIGHT, night, "html")


def test_untried_webhook_shows_no_url() -> None:
    """A webhook that was not tried is reported without an empty URL."""
    posted = Posted(url="", delivered=False, attempts=0, reason="KEY is not set")

    assert ("Webhook", "not delivered: KEY is not set") in facts(a_night(posted=posted))


@pytest.mark.parametrize(
    ("ending", "words"),
    [
        (Ending.NOTHING_NEW, "Nothing new"),
        (Ending.INDEX_SILENT, "did not answer"),
        (Ending.NO_RESULT, "without a result"),
        (Ending.STOPPED, "stopped"),
    ],
)
def test_a_night_without_a_verdict_says_so(ending: Ending, words: str) -> None:
    assert words in headline(a_night(ending=ending, tried=(), waiting=(), problems=()))


def test_junit_fails_only_tonights_findings() -> None:
    """In JUnit only the findings of tonight fail, and releases that were not measured are skipped."""
    suites = list(junitparser.JUnitXml.fromstring(render(NIGHT, a_night(), "junit").encode()))
    results = [[type(one).__name__ for case in suite for one in case.result] for suite in suites]

    assert results == [["Failure"], ["Skipped"], ["Skipped"], ["Skipped", "Skipped"]]


def test_junit_skips_silence_and_waiting_releases() -> None:
    """In JUnit a partly silent index and releases that wait or were given up are skipped."""
    given_up = (record("1.3.1", Judgement.BUILD_FAILED, "no wheel"), record("1.8.0", Judgement.BUILD_FAILED))
    *_, last = junitparser.JUnitXml.fromstring(render(NIGHT, a_night(given_up=given_up), "junit").encode())

    assert [(case.name, case.classname, case.result[0].type) for case in last] == [
        ("package index", "mxnet", "silent"), ("measured", "1.9.1", "waiting"), ("measured", "1.3.1", "given up"),
    ]  # fmt: skip


def test_junit_skips_a_silent_index() -> None:
    """JUnit skips a silent index, and a night with nothing new passes."""
    silent, quiet = (
        next(iter(junitparser.JUnitXml.fromstring(render(NIGHT, night, "junit").encode())))
        for night in (silent_night(), a_night(ending=Ending.NOTHING_NEW, tried=(), waiting=(), problems=()))
    )

    assert (silent.skipped, quiet.skipped, silent.failures) == (1, 0, 0)


def test_markdown_holds_and_escapes_every_release() -> None:
    """Markdown holds every release and escapes the words about it."""
    text = render(NIGHT, a_night(), "md")

    assert all(f"| {version} |" in text for version in ("1.6.0", "1.7.0", "1.8.0"))
    assert "agreed \\| in the" in text
    assert "\x1b" not in text
    assert "<b>" not in text


def test_page_links_to_pages_of_runs() -> None:
    """A page links to the pages of its runs and shows words as words, not as markup."""
    first, *others = a_night().tried
    page = "../../../results/run-1.6.0/regression/index.html"
    text = render(NIGHT, a_night(tried=(first.model_copy(update={"page": page}), *others)), "html")

    assert f'<a href="{page}">run-1.6.0</a>' in text
    assert "run-1.6.0</a>" not in render(NIGHT, a_night(), "html")
    assert "<b>distribution" not in text
    assert "\x1b" not in text


def test_only_clean_nights_are_marked_good() -> None:
    """Only a night whose releases are all clean is marked good."""
    clean = a_night(tried=(a_night().tried[1],))
    failed = a_night(tried=(a_night().tried[2],), ending=Ending.NO_RESULT)
    both = render(NIGHTS, ([clean, failed, silent_night()], ()), "html")

    assert both.count("chip good") == 1
    assert [night.is_clean for night in (clean, failed, silent_night())] == [True, False, False]
    assert record("1", Judgement.CLEAN).judgement.is_final
