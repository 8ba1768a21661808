"""Files of other tools are recognised by their content, and every mistake in them is named."""

import copy
import json
import statistics
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from orchestrator.errors import InputError
from orchestrator.foreign import FOREIGN_FORMATS, read
from orchestrator.foreign.parts import stretches
from orchestrator.modes.parts.metrics import Better
from orchestrator.reporting.formats import render
from orchestrator.reporting.reports.run import RUN
from orchestrator.resources import ROOT
from tests.published_formats import BENCHER
from tests.unit.foreign.real_files import TOOLS, document, real, written
from tests.unit.reporting import synthetic

GOOGLE, HYPERFINE, PYPERF, PYTEST = TOOLS


@pytest.mark.parametrize("tool", TOOLS)
def test_a_real_file_is_recognised(tool: str, tmp_path: Path) -> None:
    """By what is in it: the name of the file says nothing."""
    file = read(written(tmp_path / "results.txt", document(tool)))

    name, _, version = file.tool.partition("/")
    assert tool.startswith(name.lower().replace(" ", "-"))
    assert version in tool
    (benchmark,) = file.benchmarks.values()
    assert next(iter(benchmark.metrics)) == "time"
    assert 0.049 < statistics.median(benchmark.metrics["time"].values) < 0.054


def test_a_process_of_pyperf_is_a_sample() -> None:
    """Values of one process are alike: they are one sample together."""
    (benchmark,) = read(real(PYPERF, "before")).benchmarks.values()
    processes = [run["values"] for run in document(PYPERF)["benchmarks"][0]["runs"] if run.get("values")]

    assert benchmark.metrics["time"].values == tuple(map(statistics.median, processes))
    assert len(processes) == 12


def test_one_process_of_pyperf_is_noted(tmp_path: Path) -> None:
    content = document(PYPERF)
    with_values = next(run for run in content["benchmarks"][0]["runs"] if run.get("values"))
    content["benchmarks"][0]["runs"] = [with_values]
    (benchmark,) = read(written(tmp_path / "one.json", content)).benchmarks.values()

    samples = benchmark.metrics["time"]
    assert samples.values == tuple(with_values["values"])
    assert "of one process" in samples.note


@pytest.mark.parametrize("count", [5, 60, 61, 10_000])
def test_many_rounds_become_stretches(count: int) -> None:
    """A burst of slow rounds is in one stretch, so that it does not count a thousand times."""
    rounds = [1.0 + number / count for number in range(count)]
    samples = stretches(rounds)

    assert len(samples) == (count if count <= 60 else 30)
    assert list(samples) == sorted(samples)
    assert statistics.median(samples) == pytest.approx(statistics.median(rounds), rel=0.02)


def _changed(tool: str, change: str) -> Any:
    content = copy.deepcopy(document(tool))
    if change == "no data":
        del content["benchmarks"][0]["stats"]["data"]
    elif change == "aggregates":
        content["benchmarks"] = [row for row in content["benchmarks"] if row["run_type"] == "aggregate"]
    elif change == "one repetition":
        content["benchmarks"] = content["benchmarks"][:1]
    elif change == "no times":
        del content["results"][0]["times"]
    return content


@pytest.mark.parametrize(
    ("tool", "change", "remedy"),
    [
        (PYTEST, "no data", "--benchmark-save-data"),
        (GOOGLE, "aggregates", "--benchmark_report_aggregates_only"),
        (GOOGLE, "one repetition", "--benchmark_repetitions=10"),
        (HYPERFINE, "no times", "--export-json"),
    ],
)
def test_a_mean_is_no_sample(tool: str, change: str, remedy: str, tmp_path: Path) -> None:
    """A file with a mean alone says how to get samples."""
    (benchmark,) = read(written(tmp_path / "mean.json", _changed(tool, change))).benchmarks.values()

    samples = benchmark.metrics["time"]
    assert len(samples.values) == 1
    assert remedy in samples.lacks


def test_failed_runs_of_hyperfine_do_not_count(tmp_path: Path) -> None:
    content = document(HYPERFINE)
    content["results"][0]["exit_codes"][:2] = [1, None]
    (some,) = read(written(tmp_path / "some.json", content)).benchmarks.values()
    content["results"][0]["exit_codes"] = [7] * 20
    (none,) = read(written(tmp_path / "none.json", content)).benchmarks.values()

    assert some.metrics["time"].values == tuple(content["results"][0]["times"][2:])
    assert some.note == "2 of 20 runs failed, and do not count"
    assert (dict(none.metrics), none.failure) == ({}, "every run failed, the first with exit status 7")


def test_an_error_of_google_benchmark_fails(tmp_path: Path) -> None:
    content = document(GOOGLE)
    content["benchmarks"][3] |= {"error_occurred": True, "error_message": "no device"}
    (benchmark,) = read(written(tmp_path / "failed.json", content)).benchmarks.values()

    assert benchmark.failure == "no device"


def test_rows_that_measure_nothing_are_left_out(tmp_path: Path) -> None:
    """Fits over all sizes are no benchmarks, and what was skipped is not there."""
    content = document(GOOGLE)
    fitted = {"name": "Wait_BigO", "run_name": "Wait", "run_type": "aggregate", "aggregate_name": "BigO"}
    skipped = {"name": "Gone", "run_name": "Gone", "skipped": True, "skip_message": "no device"}
    content["benchmarks"] += [fitted, skipped]

    assert list(read(written(tmp_path / "rows.json", content)).benchmarks) == ["Wait/iterations:3/real_time"]


@pytest.mark.parametrize("tool", [GOOGLE, PYTEST])
def test_one_process_is_noted(tool: str) -> None:
    (benchmark,) = read(real(tool, "before")).benchmarks.values()

    assert "of one process" in f"{benchmark.note} {benchmark.metrics['time'].note}"


@pytest.mark.parametrize(("unit", "seconds"), [("ns", 1e-9), ("us", 1e-6), ("ms", 1e-3), ("s", 1.0)])
def test_times_of_google_benchmark_are_seconds(unit: str, seconds: float, tmp_path: Path) -> None:
    content = document(GOOGLE)
    for row in content["benchmarks"]:
        row["time_unit"], row["real_time"] = unit, 2.0
    (benchmark,) = read(written(tmp_path / "unit.json", content)).benchmarks.values()

    assert set(benchmark.metrics["time"].values) == {2.0 * seconds}


def test_our_own_bencher_file_is_read_back(tmp_path: Path) -> None:
    path = tmp_path / "bmf.json"
    path.write_text(render(RUN, synthetic.example(), "bencher"))
    file = read(path)

    metrics = file.benchmarks["mxnet-1.9.1-cpu/lenet-train-b200"].metrics
    assert (metrics["throughput"].better, metrics["throughput"].unit) == (Better.HIGHER, "samples/s")
    assert metrics["latency_p50"].better is Better.LOWER
    assert all(len(samples.values) == 1 and samples.lacks for samples in metrics.values())


def test_bencher_is_read_by_its_published_schema(tmp_path: Path) -> None:
    """Bencher's own command makes no file here: the schema decides what a file is."""
    valid: list[Any] = [
        {
            "a": {"latency": {"value": 88.0, "lower_value": 87.42, "upper_value": 88.88}},
            "b": {"file-size": {"value": 42}},
        },
        {"a": {"latency": {"value": 1.0, "further": "text"}}},
    ]
    for content in valid:
        jsonschema.validate(content, BENCHER)
        file = read(written(tmp_path / "bmf.json", content))
        assert {name: set(each.metrics) for name, each in file.benchmarks.items()} == {
            name: set(measures) for name, measures in content.items()
        }
    for wrong in ({"a": {"latency": {"value": "fast"}}}, {"a": {"latency": {"lower_value": 1.0}}}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(wrong, BENCHER)
        with pytest.raises(InputError):
            read(written(tmp_path / "wrong.json", wrong))


def test_foreign_measures_have_no_direction(tmp_path: Path) -> None:
    measures = {name: {"value": 1.0} for name in ("latency", "throughput", "throughput_ratio", "leaves")}
    (benchmark,) = read(written(tmp_path / "bmf.json", {"a": measures})).benchmarks.values()

    found = {name: samples.better for name, samples in benchmark.metrics.items()}
    assert found == {
        "latency": Better.LOWER, "throughput": Better.HIGHER, "throughput_ratio": Better.HIGHER, "leaves": None,
    }  # fmt: skip


MISTAKES: list[tuple[str, str]] = [
    ("{", ":1:2: no JSON: Expecting property name"),
    ("[1, 2]", "none of the formats that can be compared: pyperf, pytest-benchmark, hyperfine, Google Benchmark and"),
    ('{"benchmarks": []}', "none of the formats"),
    ('{"a": {"b": 1}}', "none of the formats"),
    ('{"a": [{"measures": {"latency": {"value": 1}}}]}', "none of the formats"),  # version 1 of Bencher's format
    ('{"a": {"b": {"value": "x"}}}', "a.b.value: Input should be a valid number"),
    ('{"a": {"b": {"value": NaN}}}', "a.b.value: Input should be a finite number"),
    ('{"results": [{"command": "a", "mean": -1}]}', "results.0.mean: Input should be greater than or equal to 0"),
    ('{"results": [{"command": "a", "mean": 1}, {"command": "a", "mean": 1}]}', "'a' is there twice"),
    ('{"benchmarks": [{"runs": []}]}', "benchmarks.0.runs: Tuple should have at least 1 item"),
    ('{"benchmarks": [{"runs": [{"metadata": {"unit": "parsec"}, "values": [1]}]}]}', "unknown unit 'parsec'"),
    (
        '{"context": {}, "benchmarks": [{"name": "a", "iterations": 1, "real_time": 1, "time_unit": "min"}]}',
        "a: unknown time_unit 'min'; there is ns, us, ms, s",
    ),
]


@pytest.mark.parametrize(("text", "said"), MISTAKES, ids=[said[:25] for _, said in MISTAKES])
def test_a_mistake_is_named_with_its_place(text: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    path.write_text(text)

    with pytest.raises(InputError) as caught:
        read(path)
    assert said in str(caught.value)
    assert all(message.startswith(str(path)) for message in caught.value.messages)


def test_every_mistake_is_a_line(tmp_path: Path) -> None:
    content = {"a": {str(number): {"value": "x"} for number in range(20)}}
    path = written(tmp_path / "many.json", content)

    with pytest.raises(InputError) as caught:
        read(path)
    *listed, more, remedy = caught.value.messages
    assert len(listed) == 8
    assert more.endswith("12 more mistakes")
    assert "make it again" in remedy


def test_bytes_that_are_no_text_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    path.write_bytes(b"\xff\xfe\x00\x81")

    with pytest.raises(InputError, match="no JSON that can be read"):
        read(path)


def test_the_page_names_every_tool() -> None:
    page = (ROOT / "docs" / "interchange.md").read_text()

    for each in FOREIGN_FORMATS:
        assert f"| {each.tool} |" in page
    for tool in TOOLS:
        name, _, version = tool.rpartition("-")
        assert f"{name.replace('google-benchmark', 'Google Benchmark')} {version}" in page


def test_real_files_name_no_machine() -> None:
    for tool in TOOLS:
        text = json.dumps([document(tool, name) for name in ("before", "again", "slower")])
        assert "/tmp" not in text
        assert "/home" not in text
