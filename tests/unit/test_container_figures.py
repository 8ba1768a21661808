"""The rules of the figures from containers, and the differences that they could have shown."""

import json

import pytest

from bench import bisect, detection, regress


def a_pair(ratio: float | None, effect: float | None, verdict: str = "inconclusive") -> dict[str, object]:
    judged = {"metric": "throughput", "verdict": verdict, "blocks": 6, "ratio": ratio}
    return {"verdict": verdict, "metrics": [{**judged, "minimum_detectable_effect": effect}]}


def test_release_next_to_itself_says_its_limits() -> None:
    """A release next to itself says when it was looked at and what it could have missed."""
    pairs = [a_pair(0.932, 0.21), a_pair(1.061, 0.098), *[a_pair(1.0, 0.05, "same")] * 18]

    found = regress.itself({"looks": [6], "pairs": pairs})

    assert found["text"] == (
        "2 inconclusive, 18 same; 6.0 blocks a cell, looked at after 6; ratios 0.932–1.061; "
        "could have missed less than 21.0 %"
    )
    assert found["within"]
    for alarm in ("slower", "broke"):
        assert not regress.itself({"looks": [6], "pairs": [*pairs[1:], a_pair(0.8, 0.1, alarm)]})["within"]


def test_search_next_to_brute_force_says_tolerance() -> None:
    """A search next to brute force says its tolerance and what lies beyond the default."""
    said = bisect.beside_the_default({
        "1.3.0": [1.084, 1.068, 1.099], "1.4.0": [1.006, 1.001, 1.011], "1.5.0": [0.966, 0.941, 0.991],
        "1.6.0": [0.9, 0.89, 0.91], "1.7.0": [None, None, None],
    })  # fmt: skip

    assert said.startswith("the tolerance is 10 %, since ")
    assert said.endswith(
        "beyond the default of 2 % lie 1.3.0 × 1.084 (1.068–1.099), 1.6.0 × 0.900 (0.890–0.910); "
        "not decided at that: 1.5.0"
    )


def test_the_figures_at_hand_say_so_too() -> None:
    if not detection.FIGURES.exists():
        pytest.skip("nothing is measured yet")
    real = json.loads(detection.FIGURES.read_text())["real"]

    for row in real["bisect"]:
        assert row["text"].endswith(bisect.beside_the_default(row["values"]))
        assert row["wanted"] == "the same releases, at a tolerance of 10 %"
    for row in real["regress"]:
        if "against itself" in row["name"]:
            ratios = f"ratios {min(row['values']):.3f}–{max(row['values']):.3f}"
            assert "looked at after " in row["text"]
            assert ratios in row["text"]
