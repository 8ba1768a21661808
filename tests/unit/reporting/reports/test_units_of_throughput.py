"""Every part of a report names what the throughput of its mode counts."""

import re
from dataclasses import replace

import pytest

from orchestrator.domain import Mode, Workload
from orchestrator.modes.parts.frontier import Frontier
from orchestrator.modes.parts.lengths import Generation
from orchestrator.modes.parts.load import Load, Scenario
from orchestrator.reporting.findings.compose import compose
from orchestrator.reporting.findings.model import Report
from orchestrator.reporting.findings.over_nodes import over_nodes
from orchestrator.reporting.formats import render
from orchestrator.reporting.reports.run import RUN
from orchestrator.reporting.reports.run.nodes import _over
from tests.unit.reporting import synthetic as s

GENERATED = Workload("decoder", Mode("generate"), 4, generation=Generation())
LOADED = Workload("decoder", Mode("requests"), 4, load=Load(Scenario.OFFLINE, 100), generation=Generation())


def run_of(workload: Workload) -> Report:
    cells = [s.cell(framework, workload, repeats=2) for framework in (s.TORCH, s.TENSORFLOW)]
    planned = s.plan([replace(each, frontier=Frontier((0.1,))) for each in cells])
    stored = [item for each in planned.cells for item in s.ok(each, [100.0, 101.0])]
    return compose(s.record(planned), planned, stored)


@pytest.mark.parametrize(("workload", "counted"), [(GENERATED, "tokens"), (LOADED, "requests")])
@pytest.mark.parametrize("name", ["html", "md", "table", "junit"])
def test_reports_name_what_is_counted(workload: Workload, counted: str, name: str) -> None:
    text = render(RUN, run_of(workload), name)

    assert f"{counted}/s" in text.lower()
    assert re.findall(r".{40}samples/s(?!: geometric).{10}", text, re.IGNORECASE) == []


def test_frontiers_name_what_is_counted() -> None:
    page = render(RUN, run_of(GENERATED), "html")
    figures = re.findall(r'<figure class="curve frontier">.*?</figure>', page, re.DOTALL)

    assert len(figures) == 2
    for figure in figures:
        assert "<figcaption>Tokens/s <span>against latency" in figure
        assert figure.count(" tokens/s</title>") == 1


def test_figures_over_nodes_name_what_is_counted() -> None:
    report = run_of(GENERATED)

    (group,) = over_nodes([report, report])

    assert group.per_s == "tokens/s"
    assert any("Tokens/s" in str(block) for block in _over(group))
