"""The page of simulated figures is what its figures make it, and what they are counted by counts right."""

import json

import numpy as np
import pytest

from bench.rows import share
from bench.verdicts import detection, simulated
from orchestrator.analysis.comparison import Verdict, looks


def test_page_says_what_holds_and_what_not() -> None:
    found = share("alarms", 30, 1000, "nights", high=0.05)
    missed = share("steps", 700, 1000, "series", low=0.8)
    on = {"at": "2026-11-22T02:25:06", "commit": "abc1234", "cpus": 2, "cpu": "x", "kernel": "6.1"}
    rows = [vars(row) for row in (found, missed)]

    page = detection.page({"nights": {"measured": on, "rows": rows}})

    assert "2 figures have a wanted value, and 1 hold it." in page
    assert "| alarms | ≤ 5.0 % | 3.00 ± 0.55 % | 1000 nights | holds |" in page
    assert "| steps | ≥ 80.0 % | 70.00 ± 1.45 % | 1000 series | **does not hold** |" in page
    assert "- nights: 2026-11-22, commit abc1234, 2 × x, Linux 6.1" in page


def test_stored_page_matches_its_figures() -> None:
    """The page at hand is of the figures at hand, and all of them hold."""
    if not detection.FIGURES.exists():
        pytest.skip("nothing is simulated yet")
    figures = json.loads(detection.FIGURES.read_text())

    assert detection.page(figures) == detection.PAGE.read_text()
    measured = [row for rows in figures.pop("real", {}).values() for row in rows]
    simulated_ones = [row for part in figures.values() for row in part["rows"]]
    assert [row for row in (*measured, *simulated_ones) if row["within"] is False] == []


def test_late_findings_are_false_alarms() -> None:
    """A change found within three nights counts as found, and every other finding is a false alarm."""
    history = simulated.History(np.ones((4, 60)), np.array([30, 30, 30, 30]))

    found = simulated.judged(history, [[27], [34], [], [31, 32, 50]])

    assert (found.recall, found.false_alarms) == (0.5, 3 / 4)


def test_series_have_the_stated_scatter_and_step() -> None:
    plain = simulated.histories(np.random.default_rng(1), 400, 0.0, spikes=False)
    spiky = simulated.histories(np.random.default_rng(1), 400, 0.0, spikes=True)
    stepped = simulated.histories(np.random.default_rng(1), 400, 0.05, spikes=False)
    assert stepped.steps is not None
    ends = stepped.values[:, -5:].mean(axis=1) / stepped.values[:, :5].mean(axis=1)

    assert np.std(np.log(plain.values)) == pytest.approx(0.0147, rel=0.03)
    assert np.mean(spiky.values / plain.values < 0.9) == pytest.approx(0.02, abs=0.003)
    assert np.abs(np.log(ends)) == pytest.approx(np.log(1.05), abs=0.04)
    assert 5 <= stepped.steps.min() <= stepped.steps.max() <= 55


def test_cell_is_measured_only_until_decided() -> None:
    """A cell is measured until it is decided and no further."""
    plan, draw = looks(20), np.random.default_rng(1)

    assert simulated.decided(draw, plan, 1.5) == simulated.Decided(Verdict.SLOWER, 6)
    assert simulated.decided(draw, plan, 1.0 / 1.5) == simulated.Decided(Verdict.FASTER, 6)
    assert simulated.decided(draw, plan, 1.02).blocks == 24


def test_step_times_scatter_as_they_are_said_to() -> None:
    shape = simulated.StepTimes(0.05, 0.1, likeness=0.9)
    logs = np.log(shape.drawn(np.random.default_rng(1), 400, 3, 150))
    inside = logs - logs.mean(axis=2, keepdims=True)
    likeness = (inside[..., 1:] * inside[..., :-1]).mean() / (inside**2).mean()

    assert logs.std() == pytest.approx(np.hypot(0.05, 0.1), rel=0.03)
    assert likeness == pytest.approx(0.9, abs=0.03)
    assert shape.percentile(0.99) == pytest.approx(0.01 * np.exp(2.326 * np.hypot(0.05, 0.1)), rel=0.003)


def test_resampled_repeats_bound_what_the_repeats_hold() -> None:
    cells = np.array([[[1.0] * 10, [2.0] * 10, [3.0] * 10]])

    assert simulated.resampled(np.random.default_rng(1), cells, 0.5) == [(1.0, 3.0)]


def test_search_counts_containers_until_the_change_is_named() -> None:
    ends = simulated.searched(np.random.default_rng(1), [1.0, 1.0, 1.5, 1.0], every=True)

    assert (ends.named, ends.until_named, ends.all_same) == ((3,), 20, False)
    assert ends.launches > 20
    assert simulated.searched(np.random.default_rng(1), [1.0] * 4, every=True).named == ()
