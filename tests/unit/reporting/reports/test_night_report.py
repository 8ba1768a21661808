"""The reports of a night, none of which calls a sick night healthy."""

import junitparser
import pytest

from orchestrator.regression.nightly.state import Ending, Judgement, Posted, Trying
from orchestrator.reporting.formats import render
from orchestrator.reporting.reports.night import NIGHT, NIGHTS
from orchestrator.reporting.reports.night_words import alarm_row, facts, headline, lines
from tests.unit.regression.nightly.night_records import a_change, a_night, alarm, record, silent_night


def test_the_headline_names_what_alarms_first_and_everything_else_after_it() -> None:
    assert headline(a_night()) == (
        "Regression in mxnet 1.6.0: cpu/lenet-train-b200. Clean: 1.7.0. "
        "Does not install, which is neither a regression nor health: 1.8.0. "
        "Not reached, and left to the next night: 1.9.1. 1 place did not answer, so that there may be more releases."
    )


def test_every_state_of_a_release_is_said_in_plain_words() -> None:
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


def test_releases_that_were_given_up_are_said_every_night() -> None:
    given_up = (record("1.8.0", Judgement.BUILD_FAILED, "no matching distribution"),)
    night = a_night(ending=Ending.NOTHING_NEW, tried=(), waiting=(), problems=(), given_up=given_up)

    assert headline(night).endswith("Given up, and not tried again: 1.8.0 (build_failed).")
    assert "| 1.8.0 |" in render(NIGHT, night, "md").partition("## Given up")[2]
    assert "no matching distribution" in render(NIGHT, night, "html").partition('id="given-up"')[2]


def test_new_changes_of_the_history_are_shown_and_alarm_nobody() -> None:
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


def test_what_must_be_known_of_a_pair_stands_in_every_form() -> None:
    note = "2 of 6 repeats of the candidate were disturbed, and count"
    first, *others = a_night().tried
    assert first.regression is not None
    pairs = [one.model_copy(update={"notes": (note,)}) for one in first.regression.pairs]
    noted = first.model_copy(update={"regression": first.regression.model_copy(update={"pairs": tuple(pairs)})})
    night = a_night(tried=(noted, *others))

    assert lines(night) == (headline(night), f"note: 1.6.0: cpu/lenet-train-b200: {note}")
    assert f"- cpu/lenet-train-b200: {note}" in render(NIGHT, night, "md")
    assert note in render(NIGHT, night, "html")


def test_a_webhook_that_was_not_tried_is_told_without_an_empty_url() -> None:
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


def test_in_junit_only_what_is_told_tonight_fails_and_what_was_not_measured_is_skipped() -> None:
    suites = list(junitparser.JUnitXml.fromstring(render(NIGHT, a_night(), "junit").encode()))
    results = [[type(one).__name__ for case in suite for one in case.result] for suite in suites]

    assert results == [["Failure"], ["Skipped"], ["Skipped"], ["Skipped", "Skipped"]]


def test_in_junit_a_partly_silent_index_and_releases_that_wait_or_were_given_up_are_skipped() -> None:
    given_up = (record("1.3.1", Judgement.BUILD_FAILED, "no wheel"), record("1.8.0", Judgement.BUILD_FAILED))
    *_, last = junitparser.JUnitXml.fromstring(render(NIGHT, a_night(given_up=given_up), "junit").encode())

    assert [(case.name, case.classname, case.result[0].type) for case in last] == [
        ("package index", "mxnet", "silent"), ("measured", "1.9.1", "waiting"), ("measured", "1.3.1", "given up"),
    ]  # fmt: skip


def test_a_silent_index_is_skipped_in_junit_and_nothing_new_passes() -> None:
    silent, quiet = (
        next(iter(junitparser.JUnitXml.fromstring(render(NIGHT, night, "junit").encode())))
        for night in (silent_night(), a_night(ending=Ending.NOTHING_NEW, tried=(), waiting=(), problems=()))
    )

    assert (silent.skipped, quiet.skipped, silent.failures) == (1, 0, 0)


def test_markdown_holds_every_release_and_escapes_what_it_says() -> None:
    text = render(NIGHT, a_night(), "md")

    assert all(f"| {version} |" in text for version in ("1.6.0", "1.7.0", "1.8.0"))
    assert "agreed \\| in the" in text
    assert "\x1b" not in text
    assert "<b>" not in text


def test_a_page_links_to_the_pages_of_its_runs_and_shows_words_as_words() -> None:
    first, *others = a_night().tried
    page = "../../../results/run-1.6.0/regression/index.html"
    text = render(NIGHT, a_night(tried=(first.model_copy(update={"page": page}), *others)), "html")

    assert f'<a href="{page}">run-1.6.0</a>' in text
    assert "run-1.6.0</a>" not in render(NIGHT, a_night(), "html")
    assert "<b>distribution" not in text
    assert "\x1b" not in text


def test_only_a_night_whose_releases_are_all_clean_is_marked_good() -> None:
    clean = a_night(tried=(a_night().tried[1],))
    failed = a_night(tried=(a_night().tried[2],), ending=Ending.NO_RESULT)
    both = render(NIGHTS, ([clean, failed, silent_night()], ()), "html")

    assert both.count("chip good") == 1
    assert [night.is_clean for night in (clean, failed, silent_night())] == [True, False, False]
    assert record("1", Judgement.CLEAN).judgement.is_final
