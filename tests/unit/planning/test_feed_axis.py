"""The feed as an axis: ids, which cells there are, and what plans and requests hold of it."""

import json
from typing import Any

import pytest

from orchestrator.devices import Allocation
from orchestrator.modes.parts.settings import Feed
from orchestrator.results.records import plan_from_json, plan_to_json
from orchestrator.running.requests import request_for

WORK = "mxnet-1.9.1-cpu/lenet-train-b200"


def test_a_feed_axis_shows_in_the_id(plan: Any) -> None:
    """A feed is an axis of the plan and shows in the id of a cell."""
    planned = plan("models: [{name: lenet, feed: [placed, fed, loader], workers: [0, 4]}]")

    assert plan.ids(planned) == [
        WORK, f"{WORK}-feed=fed", f"{WORK}-feed=loader", f"{WORK}-feed=loader-workers=4",
    ]  # fmt: skip
    assert [cell.workload.workers for cell in planned.cells] == [0, 0, 0, 4]


def test_the_limit_counts_feeds(plan: Any) -> None:
    refusal = plan.refusal("models: [{name: lenet, feed: [placed, fed, loader], workers: [0, 4]}]", limit=3)

    assert "expands to 4 cells, more than the limit of 3" in refusal


def test_rules_name_feeds(plan: Any) -> None:
    planned = plan(
        "models: [{name: lenet, feed: [placed, loader], workers: [0, 4]}]\n"
        "exclude: [{feed: loader, workers: 0}]\n"
        "include: [{framework: mxnet==1.9.1, system: cpu, model: lenet, feed: fed}]\n"
    )

    assert plan.ids(planned) == [WORK, f"{WORK}-feed=loader-workers=4", f"{WORK}-feed=fed"]


def test_a_default_feed_is_in_no_document(plan: Any) -> None:
    default, fed = plan("models: [lenet]"), plan("models: [{name: lenet, feed: loader, workers: 2}]")

    assert not {"feed", "workers"} & set(plan_to_json(default)["cells"][0]["workload"])
    assert plan_to_json(fed)["cells"][0]["workload"]["feed"] == "loader"
    assert plan_from_json(plan_to_json(fed)) == fed
    requests = [
        json.loads(request_for(each.cells[0], 0, "mxnet", 0, Allocation((0,), ()), pinned=True).model_dump_json())
        for each in (default, fed)
    ]
    assert [{key: each[key] for key in ("feed", "workers") if key in each} for each in requests] == [
        {}, {"feed": "loader", "workers": 2},
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ("{name: lenet, feed: fed, workers: 2}", "m.yaml:1:35: models: workers belong to the feed 'loader'"),
        ("{name: lenet, feed: lodaer}", "should be 'placed', 'fed' or 'loader', not 'lodaer'; did you mean 'loader'?"),
        ("{name: lenet, feed: loader, workers: -1}", "models.workers: should be at least 0, not -1"),
        ("{name: lenet, feed: loader, workers: 1000}", "models.workers: should be at most 256, not 1000"),
    ],
)
def test_a_wrong_feed_is_refused_with_its_place(plan: Any, entry: str, said: str) -> None:
    assert said in plan.refusal(f"models: [{entry}]")


def test_a_stored_plan_needs_a_loader_for_workers(plan: Any) -> None:
    stored = plan_to_json(plan("models: [{name: lenet, feed: loader, workers: 2}]"))
    stored["cells"][0]["workload"]["feed"] = "fed"

    with pytest.raises(Exception, match="2 workers do not go with the feed fed"):
        plan_from_json(stored)


def test_two_feeds_are_different_work(plan: Any) -> None:
    """Cells that differ in their feed do not do the same work."""
    placed, fed = plan("models: [{name: lenet, feed: [placed, fed]}]").cells

    assert placed.workload != fed.workload
    assert fed.workload.feed is Feed.FED
