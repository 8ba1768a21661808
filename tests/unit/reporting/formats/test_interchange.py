"""Formats of other tools, read by these tools or held to their published schemas (`tests/published_formats.py`)."""

import json
from dataclasses import replace
from datetime import datetime
from typing import Any

import jsonschema
import pytest
from prometheus_client import parser
from prometheus_client.openmetrics import parser as openmetrics_parser

from orchestrator.analysis.estimates import estimate
from orchestrator.modes.parts.metrics import Better
from orchestrator.regression.history.series import series
from orchestrator.reporting.document import Kind
from orchestrator.reporting.findings.model import Report
from orchestrator.reporting.formats import render
from orchestrator.reporting.measures import MeasuredMetric, MeasuredRun, named
from orchestrator.reporting.reports.history.report import HISTORY
from orchestrator.reporting.reports.regression.report import REGRESSION
from orchestrator.reporting.reports.run import RUN
from orchestrator.reporting.reports.run.measures import measures
from orchestrator.reporting.reports.side_by_side.report import SIDE_BY_SIDE
from tests.published_formats import BENCHER, BENCHER_SHA256, PYTORCH, digest
from tests.unit.regression.history.test_history import levels
from tests.unit.reporting import clusters, synthetic
from tests.unit.reporting.formats.reports_with_texts import evil
from tests.unit.reporting.reports.test_regression_report import EVERY
from tests.unit.reporting.reports.test_side_by_side import two

MXNET = "mxnet-1.9.1-cpu/lenet-train-b200"
KINDS: dict[str, tuple[Kind[Any], Any]] = {
    "run": (RUN, synthetic.example()),
    "run on a cluster": (RUN, clusters.replicated()),
    "foreign texts": (RUN, evil()),
    "side by side": (SIDE_BY_SIDE, two()),
    "regression": (REGRESSION, EVERY),
    "history": (HISTORY, series(levels((100, 20, "1.8.0"), (90, 20, "1.9.1")))),
}


def rendered(kind: str, format_: str) -> Any:
    return json.loads(render(*KINDS[kind], format_))


def test_bencher_schema_is_the_published_one() -> None:
    assert digest(BENCHER) == BENCHER_SHA256


@pytest.mark.parametrize("kind", KINDS)
def test_bencher_meets_its_published_schema(kind: str) -> None:
    benchmarks = rendered(kind, "bencher")

    jsonschema.validate(benchmarks, BENCHER)
    assert all(len(name) <= 1024 for name in benchmarks)
    assert sum(map(len, benchmarks.values())) == len(list(named(_measured(kind))))


def _measured(kind: str) -> Any:
    of_kind, content = KINDS[kind]
    assert of_kind.measures is not None
    return of_kind.measures(content)


def test_bencher_has_the_interval_of_the_report() -> None:
    report: Report = KINDS["run"][1]
    measured = report.by_id[MXNET].measurement
    assert measured is not None
    throughput = measured.throughput

    assert rendered("run", "bencher")[MXNET]["throughput"] == {
        "value": throughput.value, "lower_value": throughput.low, "upper_value": throughput.high,
    }  # fmt: skip


def test_a_regression_gives_ratios_with_their_intervals() -> None:
    given = rendered("regression", "bencher")

    for pair in EVERY.pairs:
        for judged in pair.metrics:
            if judged.ratio is not None:
                figures = given[pair.id][f"{judged.metric}_ratio"]
                assert figures["value"] == judged.ratio
                assert (figures.get("lower_value"), figures.get("upper_value")) == (judged.low, judged.high)


@pytest.mark.parametrize("kind", KINDS)
def test_pytorch_records_fit_their_table(kind: str) -> None:
    records = rendered(kind, "pytorch")

    assert records
    for record in records:
        assert record.keys() <= PYTORCH.keys()
        parts = [(name, record[name]) for name in ("benchmark", "model", "metric")]
        parts += [("runners", runner) for runner in record["runners"]]
        parts += [("dependencies", each) for each in record.get("dependencies", {}).values()]
        for name, part in parts:
            for key, value in part.items():
                assert isinstance(value, PYTORCH[name][key]), (name, key)
            # A column of the kind Map(String, String) holds texts alone.
            assert all(isinstance(text, str) for text in part["extra_info"].values())
        assert record["benchmark"]["name"]
        assert record["model"]["name"]
        assert all(isinstance(value, float) for value in record["metric"]["benchmark_values"])


def test_pytorch_records_hold_every_repeat() -> None:
    report: Report = KINDS["run"][1]
    rates = [repeat.measurement.samples_per_s for repeat in report.by_id[MXNET].repeats if repeat.measurement]
    (record,) = [
        record
        for record in rendered("run", "pytorch")
        if record["benchmark"]["extra_info"]["cell"] == MXNET and record["metric"]["name"] == "throughput"
    ]

    assert record["metric"]["benchmark_values"] == rates
    assert len(rates) == 3
    assert record["benchmark"]["mode"] == "training"
    assert record["dependencies"]["mxnet"]["version"] == "1.9.1"


@pytest.mark.parametrize("kind", KINDS)
def test_entries_of_the_action_go_one_way(kind: str) -> None:
    """Each metric is in the list of its direction, with a number after the sign of its range."""
    by_name = {f"{name} {each.metric}": each for name, _, each in named(_measured(kind))}
    for format_, better in (("bigger-is-better", Better.HIGHER), ("smaller-is-better", Better.LOWER)):
        entries = rendered(kind, format_)
        assert {entry["name"] for entry in entries} == {name for name, each in by_name.items() if each.better is better}
        for entry in entries:
            assert isinstance(entry["value"], float)
            assert entry["unit"]
            sign, _, number = entry.get("range", "± 0").partition(" ")
            assert sign == "±"
            assert float(number) >= 0


@pytest.mark.parametrize("kind", KINDS)
def test_prometheus_reads_every_sample(kind: str) -> None:
    """By the parser of OpenMetrics, and by that of the older text, which the textfile collector has."""
    text = render(*KINDS[kind], "openmetrics")
    families = list(openmetrics_parser.text_string_to_metric_families(text))
    older = list(parser.text_string_to_metric_families(text))

    values = [sample.value for family in families for sample in family.samples]
    assert len(values) >= len(list(named(_measured(kind))))
    assert sorted(values) == sorted(sample.value for family in older for sample in family.samples)
    # The collector refuses a file with times in it.
    assert all(sample.timestamp is None for family in families for sample in family.samples)
    keys = [(sample.name, *sorted(sample.labels.items())) for family in families for sample in family.samples]
    assert len(keys) == len(set(keys))


def test_the_last_success_is_an_end_of_a_repeat() -> None:
    (success,) = [
        family
        for family in openmetrics_parser.text_string_to_metric_families(render(*KINDS["run"], "openmetrics"))
        if family.name == "orchestrator_last_success_timestamp_seconds"
    ]
    (sample,) = success.samples

    assert sample.labels == {"host": "bench-1", "matrix": "example"}
    assert sample.value == datetime.fromisoformat("2026-01-02T03:02:17.500+00:00").timestamp()


def test_without_success_the_time_is_zero() -> None:
    plan = synthetic.plan([synthetic.cell(synthetic.MXNET, repeats=1)])
    failed = synthetic.failed(plan.cells[0], 0, synthetic.Status.TIMEOUT, "too slow")
    report = synthetic.compose(synthetic.record(plan), plan, [failed], synthetic.tail)
    text = render(RUN, report, "openmetrics")

    assert 'last_success_timestamp_seconds{host="bench-1",matrix="example"} 0.0\n' in text
    assert 'orchestrator_repeats{host="bench-1",matrix="example",status="timeout"} 1.0\n' in text


def test_names_say_what_a_series_must_not_mix() -> None:
    """A cell that computes nothing, an own definition of the model, a smoke run."""
    report = synthetic.example()
    first, second, *others = report.cells
    own = replace(second, cell=replace(second.cell, definition="ab" * 32))
    marked = replace(report, cells=(replace(first, computes=False), own, *others))

    names = {measure.benchmark for run in measures(marked) for measure in run.measures}
    assert {MXNET, f"{MXNET}-hybridize=false"} & names == set()
    assert {f"{MXNET} (harness floor)", f"{MXNET}-hybridize=false (own definition)"} <= names
    assert {name for name, _, _ in named([replace(run, remark="smoke run") for run in measures(marked)])} == {
        f"{name} (smoke run)" for name in names
    }


def test_names_tell_hosts_and_runs_apart() -> None:
    measure = MeasuredMetric("a", "m", "", Better.LOWER, 1.0)
    one, other, again = (
        MeasuredRun(run, "", host, {}, (measure,)) for run, host in (("r1", "x"), ("r2", "y"), ("r3", "x"))
    )

    assert [name for name, _, _ in named([one])] == ["a"]
    assert [name for name, _, _ in named([one, other])] == ["a on x", "a on y"]
    assert [name for name, _, _ in named([one, other, again])] == ["a on x in r1", "a on y", "a on x in r3"]
    assert [name for name, _, _ in named([one, again])] == ["a in r1", "a in r3"]


def test_other_metrics_are_estimated_over_repeats() -> None:
    (run,) = measures(synthetic.example())
    (cold,) = [each for each in run.measures if (each.benchmark, each.metric) == (MXNET, "cold_start")]
    expected = estimate(cold.values)

    assert len(cold.values) == 3
    assert (cold.value, cold.low, cold.high) == (expected.value, expected.low, expected.high)
