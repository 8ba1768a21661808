"""The history's changes that a night reports: new ones, each once, and none that is acknowledged."""

from dataclasses import replace

import pytest

from orchestrator.regression.history.acknowledged import AcknowledgedEntry
from orchestrator.regression.history.series import Series, series
from orchestrator.regression.nightly.lasting_changes import new_changes
from orchestrator.regression.nightly.state import Change
from tests.unit.regression.history.test_history import levels

DROP = levels((100, 20, "1.8.0"), (90, 20, "1.9.1"))


def tracked(known: tuple[AcknowledgedEntry, ...] = (), upto: int = 40) -> list[Series]:
    return [one for one in series(DROP[:upto], known) if one.is_tracked]


def test_a_change_names_its_series_and_size() -> None:
    """A change is reported with its series, its night and its size."""
    (found,) = new_changes(tracked(), {"throughput"}, ())

    assert (found.series, found.cell, found.metric) == (
        "mxnet-*-cpu/lenet-train-b200", "cpu/lenet-train-b200", "throughput",
    )  # fmt: skip
    assert (found.date, found.since, found.release, found.worse) == ("2026-01-21", "1.8.0", "1.9.1", True)
    assert found.ratio == pytest.approx(0.9, abs=0.01)


def test_a_reported_change_is_not_reported_again() -> None:
    """A reported change is not reported again, though later nights move it a little."""
    (first,) = new_changes(tracked(upto=24), {"throughput"}, ())

    assert new_changes(tracked(), {"throughput"}, (first,)) == ()
    # As records without the run have it.
    first = first.model_copy(update={"run": ""})
    moved = first.model_copy(update={"date": "2026-01-19"})
    assert new_changes(tracked(), {"throughput"}, (moved,)) == ()
    another = first.model_copy(update={"date": "2026-01-10"})
    assert len(new_changes(tracked(), {"throughput"}, (another,))) == 1
    upwards = first.model_copy(update={"ratio": 1.1})
    assert len(new_changes(tracked(), {"throughput"}, (upwards,))) == 1


def test_a_change_of_many_runs_is_reported_once() -> None:
    """A change is reported once, though many runs share its date."""
    one_date = [replace(each, created_at=f"2026-01-01T{n:02}:00:00+00:00") for n, each in enumerate(DROP[14:26])]
    told: list[Change] = []
    nights = []
    for upto in range(12, 18):
        later = [replace(each, created_at=f"2026-02-{n:02}") for n, each in enumerate(DROP[26 : 14 + upto], 1)]
        found = [one for one in series([*one_date, *later]) if one.is_tracked]
        nights.append(new_changes(found, {"throughput"}, told))
        told += nights[-1]

    assert [len(night) for night in nights] == [1, 0, 0, 0, 0, 0]


def test_acknowledged_changes_are_not_reported() -> None:
    """A change that is acknowledged, or whose metric does not decide, is not reported."""
    known = AcknowledgedEntry.model_validate(
        {"cell": "cpu/*", "metric": "throughput", "date": "2026-01-21", "up_to": "20%", "reason": "another kernel"}
    )

    assert new_changes(tracked((known,)), {"throughput"}, ()) == ()
    assert new_changes(tracked(), {"latency_p50"}, ()) == ()
