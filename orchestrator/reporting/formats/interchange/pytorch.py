"""Records for PyTorch's OSS benchmark database, one for each metric, with the value of every repeat.

Source: the table `oss_ci_benchmark_v3` of https://github.com/pytorch/test-infra, clickhouse_db_schema, and
https://github.com/pytorch/pytorch/wiki/PyTorch-OSS-benchmark-infra. Fields about the change, such as `head_sha`, are
added by the uploader.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from orchestrator.documents import json_text
from orchestrator.reporting.measures import Facts, MeasuredMetric, MeasuredRun, named

_MODES = {"train": "training", "infer": "inference"}
_GIBIBYTE = 2**30
_OF_MODEL = frozenset({"model", "mode", "framework", "version", "precision"})


def texts(runs: Sequence[MeasuredRun]) -> Iterator[str]:
    """Render a list of records."""
    yield json_text([_record(name, run, measure) for name, run, measure in named(runs)], indent=1) + "\n"


def _record(name: str, run: MeasuredRun, measure: MeasuredMetric) -> dict[str, Any]:
    facts = measure.facts or {}
    mode, framework = facts.get("mode", ""), facts.get("framework", "")
    interval = {"low": measure.low, "high": measure.high}
    record: dict[str, Any] = {
        "benchmark": {
            "name": run.title or "orchestrator", "mode": _MODES.get(mode, mode), "dtype": facts.get("precision", ""),
            "extra_info": {"cell": name, "run": run.run, "created_at": run.created_at},
        },
        "model": {
            "name": facts.get("model") or name, "type": "benchmark cell", "backend": framework, "origins": [],
            "extra_info": {key: value for key, value in facts.items() if key not in _OF_MODEL},
        },
        "metric": {
            "name": measure.metric, "benchmark_values": list(measure.values or (measure.value,)),
            "extra_info": {
                "unit": measure.unit, "better": measure.better.value, "value": f"{measure.value:.9g}",
                **{key: f"{end:.9g}" for key, end in interval.items() if end is not None},
            },
        },
        "runners": [_runner(run.host, run.host_facts)],
    }  # fmt: skip
    versions = {framework: facts.get("version", "")} if framework else {}
    dependencies = {name: {"version": version, "extra_info": {}} for name, version in versions.items()}
    return record | {"dependencies": dependencies}


def _runner(host: str, facts: Facts) -> dict[str, Any]:
    runner: dict[str, Any] = {"name": host, "type": host, "extra_info": dict(facts)}
    runner |= {"cpu_info": facts["cpu"]} if "cpu" in facts else {}
    runner |= {"gpu_info": facts["gpus"]} if "gpus" in facts else {}
    numbers = (("cpus", "cpu_count", 1), ("memory_bytes", "avail_mem_in_gb", _GIBIBYTE))
    return runner | {
        key: round(int(facts[name]) / size) for name, key, size in numbers if facts.get(name, "").isdecimal()
    }
