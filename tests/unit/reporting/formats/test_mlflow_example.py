"""The example that logs a run to MLflow, with MLflow itself, which the dev set holds."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from orchestrator.reporting.formats import render
from orchestrator.reporting.reports.run import RUN
from orchestrator.resources import ROOT
from tests.required import missing
from tests.unit.reporting import synthetic

MXNET = "mxnet-1.9.1-cpu/lenet-train-b200"
EXAMPLE = ROOT / "docs" / "examples" / "log_to_mlflow.py"
READ = """
import json, mlflow
runs = mlflow.search_runs(experiment_names=["benchmarks"], output_format="list")
client = mlflow.MlflowClient()
values = {run.info.run_name: [each.value for each in client.get_metric_history(run.info.run_id, "throughput/repeat")]
          for run in runs}
print(json.dumps([values, {run.info.run_name: [run.data.params, run.data.metrics] for run in runs}]))
"""


@pytest.fixture
def python() -> str:
    """An interpreter that has MLflow."""
    named = os.environ.get("BENCH_MLFLOW_PYTHON", "")
    if not named and importlib.util.find_spec("mlflow") is None:
        missing(
            "no MLflow here: pip install mlflow-skinny, or BENCH_MLFLOW_PYTHON=/path/to/python", "BENCH_REQUIRE_MLFLOW"
        )
    return named or sys.executable


def _run(python: str, folder: Path, *arguments: str, text: str = "") -> str:
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "MLFLOW"))}
    environment |= {
        "MLFLOW_TRACKING_URI": (folder / "runs").as_uri(), "MLFLOW_ALLOW_FILE_STORE": "true",
        "MLFLOW_DISABLE_TELEMETRY": "true",
    }  # fmt: skip
    ended = subprocess.run(
        [python, *arguments], cwd=folder, env=environment, input=text, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def test_mlflow_holds_every_repeat(python: str, tmp_path: Path) -> None:
    report = synthetic.example()
    records = render(RUN, report, "pytorch")
    _run(python, tmp_path, str(EXAMPLE), "benchmarks", text=records)
    values, of_runs = json.loads(_run(python, tmp_path, "-c", READ))

    measured = report.by_id[MXNET].measurement
    assert measured is not None
    assert values[MXNET] == [
        repeat.measurement.samples_per_s for repeat in report.by_id[MXNET].repeats if repeat.measurement
    ]
    parameters, metrics = of_runs[MXNET]
    assert (parameters["framework"], parameters["version.mxnet"], parameters["mode"]) == ("mxnet", "1.9.1", "training")
    assert metrics["throughput/value"] == pytest.approx(measured.throughput.value)
    assert metrics["throughput/low"] == pytest.approx(measured.throughput.low)
    assert set(values) == {record["benchmark"]["extra_info"]["cell"] for record in json.loads(records)}
