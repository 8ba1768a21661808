"""Figures of published regressions say what is decided, and why an interval decides nothing."""

from typing import Any

import pytest

from bench.verdicts import corpus

ENTRY = corpus.read().entries[0]


def judged(verdict: str, ratio: float, low: float, high: float) -> dict[str, Any]:
    found = {"cell": "chess_tower-infer-b8", "verdict": verdict, "ratio": ratio, "low": low, "high": high}
    return found | {"blocks": 24, "minimum_detectable_effect": 0.037}


@pytest.mark.parametrize("verdict", ["slower", "faster", "same"])
def test_a_verdict_is_within_what_is_wanted(verdict: str) -> None:
    figure = corpus.figure(ENTRY, judged(verdict, 0.92, 0.91, 0.93))

    assert (figure["within"], figure["verdict"], figure["entry"]) == (True, verdict, ENTRY.name)


def test_an_undecided_interval_says_which_end_it_holds() -> None:
    figure = corpus.figure(ENTRY, judged("inconclusive", 0.979, 0.969, 0.99))

    assert "holds × 0.980, an end of the tolerance; a slowdown shows here from 3.7 % on" in figure["text"]
    assert "the interval leaves out what was published" in figure["text"]
    assert figure["within"]


@pytest.mark.parametrize("verdict", ["inconclusive", "not_measured", "broke"])
def test_what_has_no_interval_is_not_within(verdict: str) -> None:
    figure = corpus.figure(ENTRY, {"cell": "chess_tower-infer-b8", "verdict": verdict, "reason": "no image"})

    assert not figure["within"]
    assert f"here {verdict}: no image" in figure["text"]


def test_page_counts_what_is_decided_and_names_what_is_missing() -> None:
    figures = [
        corpus.figure(ENTRY, judged("same", 1.0, 0.99, 1.01)),
        corpus.figure(ENTRY, judged("inconclusive", 0.979, 0.969, 0.99)),
        corpus.figure(ENTRY, {"cell": "x", "verdict": "not_measured"}),
    ]

    counted, failed, missing = corpus.counts(figures)

    assert counted == "Of 3 figures of published regressions, 1 are decided, and 1 inconclusive."
    assert failed == "1 could not be measured."
    assert ENTRY.name not in missing
    assert "changes that cancel (onnxruntime==1.18.0 → onnxruntime==1.20.1)" in missing
