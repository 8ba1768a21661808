"""The rules of the figures from containers, and the differences that they could have shown."""

import json
from pathlib import Path

import pytest

from bench.verdicts import bisect, detection, regress, serving_bisect
from tests.unit.regression.search.search_records import RELEASES, Host, chained, done, rates


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

    assert said.startswith("the tolerance is 5 %; ")
    assert said.endswith(
        "beyond the default of 2 % lie 1.3.0 × 1.084 (1.068–1.099), 1.6.0 × 0.900 (0.890–0.910); "
        "not decided at that: 1.5.0"
    )


def test_brute_force_takes_the_blocks_of_the_search(tmp_path: Path) -> None:
    """Both name the same releases by the same blocks, and the launches of the moves are counted apart."""
    host = Host(rates(v1_5_1=0.9, v1_8_0=0.8), broken=["mxnet==1.4.1"])
    record = done(host, tmp_path, every=True)

    row = bisect.figure(bisect.Ended(record, 1234.5))

    assert row["within"], row["text"]
    launches = f"{record.launches} launches of 80 timed blocks each, and 0 for what moved; `--max-blocks=12`; 1,234 s"
    assert row["text"].startswith(f"bisect: 1.5.1, 1.8.0 ({launches} in launches), undecided none; ")
    assert "brute force by the same blocks: 1.5.1, 1.8.0, undecided none" in row["text"]
    assert list(row["values"]) == [release for release in RELEASES[1:] if release != "1.4.1"]


def test_the_launches_of_a_search_are_timed_in_all_of_its_runs(tmp_path: Path) -> None:
    """A launch that was tried again counts each time."""
    for place, wall_s in (("one/a/0", 1.5), ("one/a/0/attempt-1", 2.25), ("other/b/1", 0.5)):
        (tmp_path / place).mkdir(parents=True)
        (tmp_path / place / "outcome.json").write_text(json.dumps({"wall_s": wall_s}))

    assert bisect.launches_s(tmp_path) == 4.25


def test_brute_force_keeps_to_the_spans(tmp_path: Path) -> None:
    """In a chain a step is compared on the Python that the search has both of its releases on."""
    host = Host(rates(v1_4_1=0.9, v1_6_0=0.8), pythons={"3.9": 0.5})
    record = chained(host, tmp_path, every=True)

    row = serving_bisect.serving_figure(bisect.Ended(record, 0.0))

    assert "brute force by the same blocks: 1.4.1, 1.6.0, undecided none" in row["text"]
    assert row["text"].startswith(
        f"8 releases; bisect: 1.4.1, 1.6.0 ({record.launches} launches of 10 timed blocks each, "
    )
    assert "Chaining adds error: ± " in row["text"]
    assert list(row["values"]) == list(RELEASES[1:])
    assert not row["within"]  # eight releases are too few
    enough = record.model_copy(update={"releases": (*RELEASES, *"abcd")})
    assert serving_bisect.serving_figure(bisect.Ended(enough, 0.0))["within"]


def test_an_undecided_search_is_no_verdict(tmp_path: Path) -> None:
    """Both name no release, and a step was left open."""
    record = chained(Host(rates(), deviation=0.06), tmp_path, every=True)

    enough = record.model_copy(update={"releases": (*RELEASES, *"abcd")})
    row = serving_bisect.serving_figure(bisect.Ended(enough, 0.0))

    assert (row["within"], "bisect: none" in row["text"]) == (False, True)


def test_the_figures_at_hand_say_so_too() -> None:
    if not detection.FIGURES.exists():
        pytest.skip("nothing is measured yet")
    real = json.loads(detection.FIGURES.read_text())["real"]

    for row in real.get("bisect", []):
        assert row["text"].endswith(bisect.beside_the_default(row["values"]))
        assert row["wanted"] == bisect.WANTED
    for row in real["regress"]:
        if "against itself" in row["name"]:
            ratios = f"ratios {min(row['values']):.3f}–{max(row['values']):.3f}"
            assert "looked at after " in row["text"]
            assert ratios in row["text"]
