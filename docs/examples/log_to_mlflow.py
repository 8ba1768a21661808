"""Log the figures of a run to MLflow: a run of MLflow for each cell, with the value of every repeat as a step.

Use it as `orchestrator report latest --format pytorch | python log_to_mlflow.py EXPERIMENT`, with `pip install mlflow`
or `mlflow-skinny`; MLFLOW_TRACKING_URI says where to.
"""

import json
import sys
from itertools import groupby

import mlflow


def cell_of(record):
    """Return the id of the cell that a record is of."""
    return record["benchmark"]["extra_info"]["cell"]


def log(records):
    """Log the records of a run, in a run of MLflow for each cell."""
    for cell, metrics in groupby(sorted(records, key=cell_of), key=cell_of):
        of_cell = list(metrics)
        with mlflow.start_run(run_name=cell):
            log_cell(of_cell)


def log_cell(records):
    """Log the records of a cell to the run that has begun."""
    first = records[0]
    model, benchmark = first["model"], first["benchmark"]
    mlflow.log_params({"model": model["name"], "mode": benchmark["mode"], "framework": model["backend"]})
    mlflow.log_params(model["extra_info"])
    mlflow.log_params({f"version.{name}": each["version"] for name, each in first["dependencies"].items()})
    mlflow.set_tags({f"orchestrator.{name}": text for name, text in benchmark["extra_info"].items()})
    for record in records:
        metric = record["metric"]
        for step, value in enumerate(metric["benchmark_values"]):
            mlflow.log_metric(f"{metric['name']}/repeat", value, step=step)
        for name in ("value", "low", "high"):
            if name in metric["extra_info"]:
                mlflow.log_metric(f"{metric['name']}/{name}", float(metric["extra_info"][name]))


if __name__ == "__main__":
    mlflow.set_experiment(sys.argv[1])
    log(json.load(sys.stdin))
