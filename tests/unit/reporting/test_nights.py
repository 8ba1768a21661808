"""What the reports of a night say, and that none of them calls health what is none."""

from pathlib import Path

import junitparser
import pytest

from orchestrator.regression.night_model import Ending, Judgement
from orchestrator.reporting.nights import headline
from orchestrator.reporting.nights_as_html import night_html, nights_html
from orchestrator.reporting.nights_as_text import junit_text, markdown
from tests.unit.regression.night_records import a_night, record, silent_night


def test_the_headline_names_what_alarms_first_and_everything_else_after_it() -> None:
    assert headline(a_night()) == (
        "Regression in mxnet 1.6.0: cpu/lenet-train-b200. Clean: 1.7.0. "
        "Does not install, which is neither a regression nor health: 1.8.0. "
        "Not reached, and left to the next night: 1.9.1. 1 place did not answer, so that there may be more releases."
    )


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
    suites = list(junitparser.JUnitXml.fromstring(junit_text(a_night()).encode()))
    results = [[type(one).__name__ for case in suite for one in case.result] for suite in suites]

    assert results == [["Failure"], ["Skipped"], ["Skipped"]]


def test_a_silent_index_is_skipped_in_junit_and_nothing_new_passes() -> None:
    silent, quiet = (
        next(iter(junitparser.JUnitXml.fromstring(junit_text(night).encode())))
        for night in (silent_night(), a_night(ending=Ending.NOTHING_NEW, tried=(), problems=()))
    )

    assert (silent.skipped, quiet.skipped, silent.failures) == (1, 0, 0)


def test_markdown_holds_every_release_and_escapes_what_it_says() -> None:
    text = markdown(a_night())

    assert all(f"| {version} |" in text for version in ("1.6.0", "1.7.0", "1.8.0"))
    assert "agreed \\| in the" in text
    assert "\x1b" not in text
    assert "<b>" not in text


def test_a_page_links_to_what_is_there_and_shows_words_as_words(tmp_path: Path) -> None:
    page = tmp_path / "results" / "run-1.6.0" / "regression" / "index.html"
    page.parent.mkdir(parents=True)
    page.touch()
    text = night_html(a_night(), tmp_path / "nightly" / "nights" / "n", {"run-1.6.0": page, "x": tmp_path / "none"})

    assert '<a href="../../../results/run-1.6.0/regression/index.html">run-1.6.0</a>' in text
    assert "<b>distribution" not in text
    assert "\x1b" not in text


def test_only_a_night_whose_releases_are_all_clean_is_marked_good() -> None:
    clean = a_night(tried=(a_night().tried[1],))
    failed = a_night(tried=(a_night().tried[2],), ending=Ending.NO_RESULT)
    both = nights_html([clean, failed, silent_night()])

    assert both.count("chip good") == 1
    assert [night.is_clean for night in (clean, failed, silent_night())] == [True, False, False]
    assert record("1", Judgement.CLEAN).judgement.is_final
