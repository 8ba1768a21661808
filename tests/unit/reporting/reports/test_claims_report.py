"""Published claims in every format of a run's report."""

import csv
import io
import json
from dataclasses import replace
from xml.etree import ElementTree

import pytest

from orchestrator.domain import Status
from orchestrator.planning import Selection
from orchestrator.reporting.findings.compose import compose
from orchestrator.reporting.findings.model import Report
from orchestrator.reporting.formats import render
from orchestrator.reporting.reports.run import RUN
from orchestrator.reporting.reports.run.claims import RECORD_COLUMNS
from orchestrator.reporting.reports.side_by_side.columns import side_by_side
from orchestrator.reporting.reports.side_by_side.report import SIDE_BY_SIDE
from orchestrator.reporting.selected import selected
from orchestrator.studies import Claim, LeftOutPart, PublishedValue, StandIn, Study
from tests.envelopes import data_of
from tests.unit.reporting import synthetic as s

FAST, SLOW, FAR = s.cell(s.MXNET), s.cell(s.TORCH), s.cell(s.MXNET, system=s.GPU)
APPROXIMATE = PublishedValue(1.5, approximate=True)
CLAIMS = (
    Claim("faster", "MXNet is faster", "throughput", FAST.id, SLOW.id, APPROXIMATE, "figure 1", "", ("one repeat",)),
    Claim("slower", "MXNet is slower", "throughput", FAST.id, SLOW.id, PublishedValue(0.5, 10, 20), "table 2"),
    Claim("device", "A GPU is faster", "throughput", FAR.id, FAST.id, PublishedValue(9.0), "table 3"),
)
STUDY = Study(
    "A study of frameworks",
    "A journal, 2019",
    "https://example.org/study",
    (StandIn("cntk 2.1", "cntk 2.7", "2.1 is no package"),),
    (LeftOutPart("table 9", "its data are gone"),),
    CLAIMS,
)


@pytest.fixture(scope="module")
def report() -> Report:
    """A claim that holds, one that does not, and one that cannot be judged."""
    plan = replace(s.plan([FAST, SLOW, FAR]), study=STUDY)
    stored = [
        *s.ok(FAST, [200, 202, 198], spread=0.001),
        *s.ok(SLOW, [100, 101, 99], spread=0.001),
        *(s.failed(FAR, repeat, Status.NO_DEVICE, "4_gpu needs 4 GPUs") for repeat in range(3)),
    ]
    return compose(s.record(plan), plan, stored)


WORDS = (
    *("Published claims", "A study of frameworks", "MXNet is faster", "same direction", "other direction"),
    *("cannot be judged", "≈ 1.500", "cntk 2.7", "its data are gone"),
)


@pytest.mark.parametrize("name", ["table", "md", "html"])
def test_every_text_shows_every_claim(report: Report, name: str) -> None:
    text = render(RUN, report, name)

    assert [word for word in WORDS if word not in text] == []
    assert "1 same direction, 1 other direction, 1 cannot be judged" in " ".join(text.split())


def test_markdown_has_source_interval_and_reason(report: Report) -> None:
    row = next(line for line in render(RUN, report, "md").splitlines() if "A GPU is faster" in line)

    ended = f"{FAR.id} ended as no_device: 4_gpu needs 4 GPUs"
    assert [cell.strip() for cell in row.strip("|").split("|")][3:] == [
        "9.000", "–", "–", "cannot be judged", "table 3", ended,
    ]  # fmt: skip


def test_csv_has_a_row_for_every_claim(report: Report) -> None:
    rows = [row for row in csv.DictReader(io.StringIO(render(RUN, report, "csv"))) if row["status"] == "claim"]

    assert [(row["claim"], row["claim_verdict"]) for row in rows] == [
        ("faster", "same direction"),
        ("slower", "other direction"),
        ("device", "cannot be judged"),
    ]
    assert (rows[0]["cell"], rows[0]["claim_over"], rows[0]["claim_published"]) == (FAST.id, SLOW.id, "1.5")
    assert float(rows[0]["claim_low"]) < float(rows[0]["claim_ratio"]) < float(rows[0]["claim_high"])
    assert rows[2]["claim_ratio"] == ""


def test_junit_fails_a_claim_of_the_other_direction(report: Report) -> None:
    suites = ElementTree.fromstring(render(RUN, report, "junit"))

    suite = next(each for each in suites if each.get("name") == "published claims")
    assert [(case.get("name"), [each.tag for each in case]) for case in suite] == [
        ("faster", ["system-out"]),
        ("slower", ["failure", "system-out"]),
        ("device", ["skipped", "system-out"]),
    ]


def test_json_has_the_study_and_its_findings(report: Report) -> None:
    study = data_of(render(RUN, report, "json"))["study"]

    assert (study["title"], study["stand_ins"][0]["used"]) == ("A study of frameworks", "cntk 2.7")
    first = study["claims"][0]
    assert first["claim"]["published"] == {"ratio": 1.5, "of": None, "over": None, "approximate": True}
    assert (first["verdict"], first["repeats"], first["confidence"]) == ("same direction", 3, 0.95)


def test_a_report_without_a_study_is_as_before() -> None:
    example = s.example()

    assert "study" not in data_of(render(RUN, example, "json"))
    assert set(RECORD_COLUMNS).isdisjoint(render(RUN, example, "csv").splitlines()[0].split(","))
    assert [name for name in ("table", "md", "html", "junit") if "claim" in render(RUN, example, name)] == []


def test_a_selection_shows_the_claims_of_its_cells(report: Report) -> None:
    part = selected(report, Selection(("torch-*",)))

    assert part.study is not None
    assert [each.claim.name for each in part.study.claims] == ["faster", "slower"]


def test_several_runs_have_the_claims_of_each(report: Report) -> None:
    text = render(SIDE_BY_SIDE, side_by_side([report, replace(s.example(), run="20260103T030405Z-abcd")]), "json")

    assert ["study" in run["report"] for run in json.loads(text)["data"]["runs"]] == [True, False]
