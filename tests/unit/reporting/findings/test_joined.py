"""The reports of parts as one report, and the rankings of nodes side by side."""

import csv
import io
import json
from dataclasses import replace

from orchestrator.clusters.parts import parts
from orchestrator.domain import Skip, Status
from orchestrator.reporting.findings.claims.findings import ClaimVerdict
from orchestrator.reporting.findings.compose import compose
from orchestrator.reporting.findings.joined import PartReport, joined
from orchestrator.reporting.formats import render
from orchestrator.reporting.reports.run import RUN
from orchestrator.reporting.reports.run.page import pages
from orchestrator.reporting.reports.run.value import json_value
from orchestrator.studies import Claim, PublishedValue, Study
from tests.unit.reporting import clusters as c
from tests.unit.reporting import synthetic as s


def test_groups_have_the_node_that_measured_them() -> None:
    report = c.two_nodes()

    assert [group.label for group in report.groups] == ["lenet-train-b200 on cpu, node1", "mlp-train-b32 on cpu, node2"]
    assert report.statuses == ((Status.OK, 6), (Status.NOT_RUN, 3))
    assert [cell.cell.id for cell in report.cells] == [cell.id for cell in c.PLAN.cells]


def test_what_a_job_left_has_its_end_as_reason() -> None:
    report = c.two_nodes()

    (problem,) = report.problems
    assert (problem.status, problem.reason) == (Status.NOT_RUN, c.END)
    assert [affected.repeats for affected in problem.cells] == [(0, 1, 2)]


def test_nodes_come_first_with_what_differs() -> None:
    report = c.two_nodes()

    assert report.cluster
    assert [(node.name, node.parts) for node in report.cluster.nodes] == [("node1", 1), ("node2", 1)]
    assert report.cluster.notes[1] == "These nodes differ in CPU (Example CPU | Another CPU)."
    assert dict(report.host)["hostname"] == "node1 and node2"
    assert "cpu" not in dict(report.host)


def test_a_report_of_one_host_stays_as_it_was() -> None:
    """No key and no column of a run on one host is new."""
    value = json_value(s.example())

    assert not {"cluster", "further"} & set(value)
    assert not any("node" in group for group in value["groups"])
    assert "node" not in next(csv.reader(io.StringIO(render(RUN, s.example(), "csv"))))


def test_rows_name_the_node() -> None:
    rows = list(csv.DictReader(io.StringIO(render(RUN, c.replicated(), "csv"))))

    measured = [(row["cell"], row["node"]) for row in rows if row["status"] == "ok" and row["repeat"] == "0"]
    assert measured == [(c.ONE.id, "node1"), (c.OTHER.id, "node1"), (c.ONE.id, "node2"), (c.OTHER.id, "node2")]


def test_a_ranking_that_holds_says_so() -> None:
    report = c.replicated()

    assert report.cluster
    (group,) = report.cluster.groups
    assert (group.holds, group.sentence) == (
        True, "The ranking holds on node1 and node2: mxnet 1.9.1 is the fastest on each.",
    )  # fmt: skip
    assert [(ranking.node, ranking.labels[0]) for ranking in group.rankings] == [
        ("node1", "mxnet 1.9.1"), ("node2", "mxnet 1.9.1"),
    ]  # fmt: skip


def test_nodes_that_contradict_each_other_are_named() -> None:
    report = c.replicated(c.FAST_FIRST, c.FAST_LAST)

    assert report.cluster
    (group,) = report.cluster.groups
    assert not group.holds
    assert group.sentence == (
        "The ranking does not hold on all 2 nodes: "
        "mxnet 1.9.1 is faster than torch 2.13.0 on node1, and slower on node2."
    )


def test_variation_is_kept_apart() -> None:
    """The second node is 10 % faster, and repeats scatter by 1 %."""
    faster = {cell_id: [1.1 * rate for rate in rates] for cell_id, rates in c.FAST_FIRST.items()}
    report = c.replicated(c.FAST_FIRST, faster)

    assert report.cluster
    cell = report.cluster.groups[0].cells[0]
    assert cell.nodes == 2
    assert cell.within is not None
    assert cell.between is not None
    assert 0.004 < cell.within < 0.006
    assert 0.06 < cell.between < 0.07


def test_a_cell_of_one_node_has_no_interval_over_nodes() -> None:
    report = c.replicated(c.FAST_FIRST, {})

    assert report.cluster
    (group,) = report.cluster.groups
    assert group.holds is None
    assert (group.cells[0].low, group.cells[0].between) == (None, None)


def test_json_has_the_nodes() -> None:
    value = json.loads(render(RUN, c.replicated(), "json"))["data"]

    assert [node["name"] for node in value["cluster"]["nodes"]] == ["node1", "node2"]
    assert [group["node"] for group in value["further"][0]["groups"] if "node" in group] == ["node2"]


def test_links_lead_to_the_files_of_the_part() -> None:
    view = [text for _, page in pages(c.two_nodes(), "..") for text in [str(page)]]

    assert f"../parts/000/node1/{c.ONE.id}/0/result.json" in view[0]
    assert "../parts/000/node1/report/index.html" in view[0]


def test_claims_are_judged_in_their_part() -> None:
    """One on a cell that was left out is judged for the whole, with the reason of the plan."""
    first, gone = (
        Claim(name, "", "throughput", c.ONE.id, over, PublishedValue(1.5), "table 1")
        for name, over in (("one", c.OTHER.id), ("gone", "left/out"))
    )
    plan = replace(c.PLAN, study=Study(claims=(gone, first)), skips=(Skip("left/out", "too old"),))
    split = list(parts(plan, lambda _: 60.0))
    reports = [
        PartReport(part.name, "node1", "x", compose(s.record(own), own, c.stored(own, c.FAST_FIRST)))
        for part, own in split
    ]

    study = joined(c.whole(plan), reports).study
    assert study
    assert [(finding.claim.name, finding.verdict) for finding in study.claims] == [
        ("gone", ClaimVerdict.NOT_JUDGED), ("one", ClaimVerdict.SAME_DIRECTION),
    ]  # fmt: skip
    assert study.claims[0].reason == "left/out is left out: too old"
