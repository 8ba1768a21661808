"""The spans of runs, read by OpenTelemetry's own messages."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Status as SpanStatus

from orchestrator.reporting.findings.model import Report
from orchestrator.reporting.formats import render
from orchestrator.reporting.reports.run import RUN
from orchestrator.reporting.reports.run.measures import traces
from orchestrator.results.builds import Build
from tests import otlp_spans
from tests.unit.reporting import synthetic
from tests.unit.reporting.formats.test_interchange import KINDS, MXNET

RUNS = [name for name, (kind, _) in KINDS.items() if kind.traces is not None]


def _request(kind: str) -> ExportTraceServiceRequest:
    return otlp_spans.read(render(*KINDS[kind], "otlp"))


def _spans(request: ExportTraceServiceRequest) -> Iterator[list[Any]]:
    for resource in request.resource_spans:
        yield list(resource.scope_spans[0].spans)


@pytest.mark.parametrize("kind", RUNS)
def test_opentelemetry_reads_the_spans(kind: str) -> None:
    request = _request(kind)

    assert len({spans[0].trace_id for spans in _spans(request)}) == len(request.resource_spans)
    for spans in _spans(request):
        root, *others = spans
        assert (len(root.trace_id), len(root.span_id), root.parent_span_id) == (16, 8, b"")
        by_id = {span.span_id: span for span in spans}
        assert {span.trace_id for span in others} == {root.trace_id}
        assert len({span.span_id for span in spans}) == len(spans)
        for span in others:
            above = by_id[span.parent_span_id]
            assert above.start_time_unix_nano <= span.start_time_unix_nano <= span.end_time_unix_nano
            assert span.end_time_unix_nano <= above.end_time_unix_nano


def test_spans_say_how_repeats_ended() -> None:
    report: Report = KINDS["run"][1]
    root, *others = next(_spans(_request("run")))
    repeats = [span for span in others if span.parent_span_id == root.span_id]
    launched = [repeat.outcome for cell in report.cells for repeat in cell.repeats if repeat.outcome.started_at]

    assert len(repeats) == len(launched)
    codes = {span.name: (span.status.code, span.status.message) for span in repeats}
    for outcome in launched:
        good = outcome.status is synthetic.Status.OK
        code, message = codes[f"{outcome.cell_id} #{outcome.repeat}"]
        assert code == (SpanStatus.STATUS_CODE_OK if good else SpanStatus.STATUS_CODE_ERROR)
        assert bool(message) is not good


def test_phases_are_spans_of_their_repeat() -> None:
    """They follow each other from the start of the repeat, each as long as it took."""
    report: Report = KINDS["run"][1]
    repeat = report.by_id[MXNET].repeats[0]
    spans = next(_spans(_request("run")))
    (whole,) = (span for span in spans if span.name == f"{MXNET} #{repeat.outcome.repeat}")
    phases = [span for span in spans if span.parent_span_id == whole.span_id]

    assert repeat.measurement
    assert len(phases) > 5
    at = whole.start_time_unix_nano
    for span, (name, seconds) in zip(phases, repeat.measurement.phases_s, strict=True):
        assert (span.name, span.start_time_unix_nano) == (name, at)
        at += round(seconds * 1e9)
        assert span.end_time_unix_nano == at


def test_phases_end_with_their_repeat() -> None:
    """The clock of a host may be slower than that of its container, as while it sleeps."""
    report = synthetic.example()
    first, *others = report.cells
    repeats = tuple(
        replace(repeat, outcome=replace(repeat.outcome, wall_s=0.5)) if repeat.measurement else repeat
        for repeat in first.repeats
    )
    shortened = replace(report, cells=(replace(first, repeats=repeats), *others))
    (trace,) = traces(shortened)
    (span, *_) = (each for each in trace.span.spans if each.name == f"{first.cell.id} #0")

    assert span.end_ns - span.begin_ns == round(0.5e9)
    assert span.spans[-1].end_ns == span.end_ns
    assert all(each.begin_ns <= each.end_ns for each in span.spans)


def test_builds_are_spans_of_the_run() -> None:
    """A build that failed says why. Repeats keep their ids when the builds are others."""
    made = (
        Build("bench/mxnet:1.9.1-cpu", "2026-01-02T03:01:00.000+00:00", 20.5),
        Build("bench/torch:2.13.0-cpu", "2026-01-02T02:59:00.000+00:00", 3.0, "no space left"),
    )
    report: Report = replace(KINDS["run"][1], builds=made)
    root, *others = next(_spans(otlp_spans.read(render(RUN, report, "otlp"))))
    builds = {span.name: span for span in others if span.name.startswith("build ")}
    good, bad = (builds[f"build {each.image}"] for each in made)

    assert {span.parent_span_id for span in (good, bad)} == {root.span_id}
    assert good.end_time_unix_nano - good.start_time_unix_nano == 20_500_000_000
    assert (good.status.code, bad.status.message) == (SpanStatus.STATUS_CODE_OK, "no space left")
    assert root.start_time_unix_nano <= bad.start_time_unix_nano
    without = next(_spans(_request("run")))
    assert {(span.name, span.span_id) for span in without[1:]} == {
        (span.name, span.span_id) for span in others if span not in (good, bad)
    }


def test_spans_sent_twice_are_the_same() -> None:
    assert render(*KINDS["run"], "otlp") == render(RUN, synthetic.example(), "otlp")
