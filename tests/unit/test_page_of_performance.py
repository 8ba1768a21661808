"""The page of performance: a ratio of which nothing is wanted is neither inside nor outside."""

from dataclasses import asdict

from bench.__main__ import page
from bench.pairs import UNBOUNDED, compare

ON = {"at": "2026-11-28T10:00:00", "commit": "abc", "cpus": 2, "cpu": "x", "kernel": "6.1", "python": "3.11"}


def row(bar: tuple[float, float]) -> str:
    values = ([2.0, 2.2, 2.1], [1.0, 1.1, 1.0])
    ratio = compare("push", "ours", "theirs", values, bar=bar, unit="s")
    text = page({"push": [asdict(ratio) | {"within": ratio.within, "measured": ON}]})
    return next(line for line in text.splitlines() if line.startswith("| push: ours"))


def test_a_ratio_without_a_bar_is_shown_alone() -> None:
    assert "| ≤ 1.2 | **no** |" in row((0, 1.2))
    assert "| ≤ 3 | yes |" in row((0, 3))
    assert "| ≥ 1.5 | yes |" in row((1.5, UNBOUNDED))
    assert " |  |  | 2.1 / 1 s |" in row((0, UNBOUNDED))
