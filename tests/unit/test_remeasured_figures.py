"""The result of the benchmark of re-measurements: the share of values inside an interval, and its width."""

import pytest

from bench.overhead import remeasure


def test_both_intervals_are_counted_with_widths() -> None:
    """Both intervals are counted, and their width is given."""
    stated = {
        "values": [99.0, 100.0, 101.0],
        "estimate": {"value": 100.0, "n": 3, "next_low": 88.0, "next_high": 114.0},
    }

    found = remeasure.figure("torch 2.13.0, lenet b64", stated, [100.0] * 8 + [94.0, 80.0])

    assert found["text"] == (
        "9 of 10 runs inside the 99% prediction interval of 3 repeats, -12.0 to +14.0 %; "
        "8 inside that of 95%, -4.9 to +5.1 %"
    )
    assert found["within"]
    assert not remeasure.figure("x", stated, [100.0] * 8 + [80.0, 80.0])["within"]


def test_one_repeat_states_nothing_to_be_inside_of() -> None:
    with pytest.raises(ValueError, match="one repeat states no interval"):
        remeasure.inside((None, None), [1.0])


def test_every_reported_value_is_taken() -> None:
    """Every value that a report gives is taken with what the report states."""
    framework, workload = {"name": "torch", "version": "2.13.0"}, {"model": "lenet", "batch_size": 64}
    repeats = [{"measurement": {"samples_per_s": value}} for value in (1.0, 2.0)]
    cell = {
        "cell": {"framework": framework, "workload": workload},
        "repeats": repeats,
        "measurement": {"throughput": {"value": 1.4}},
    }

    assert dict(remeasure._cells({"cells": [cell]})) == {
        "torch 2.13.0, lenet b64": {"values": [1.0, 2.0], "estimate": {"value": 1.4}}
    }
