"""Formats of other tools, in the words of their published schemas, with the address and the moment of each."""

import hashlib
import json
from typing import Any

BENCHER = {
    "$id": "https://bencher.dev/v0/bmf.json",
    "$schema": "http://json-schema.org/draft-07/schema",
    "type": "object",
    "patternProperties": {
        ".+": {
            "type": "object",
            "patternProperties": {
                ".+": {
                    "type": "object",
                    "properties": {name: {"type": "number"} for name in ("value", "lower_value", "upper_value")},
                    "required": ["value"],
                }
            },
        }
    },
}
"""Version 0 of Bencher Metric Format: `services/console/public/v0/bmf.json` of github.com/bencherdev/bencher.

Compared in November 2026 with commit 55eb0883955402b7198ecd915f09c8fa2702a53c. The SHA-256 of that file is
26d9a36c72b4d6ba7d328c43cf76c5d2044b68ee900ba7973aad89714e384a23.
"""
BENCHER_SHA256 = "11a115f3c580ac598d9cadac639afcc4cd18a7e7dd92cc810737048193ab3d0d"
"""Of that file as `digest` takes it, so that no change here goes unseen."""
PYTORCH = {
    "benchmark": {"name": str, "mode": str, "dtype": str, "extra_info": dict},
    "model": {"name": str, "type": str, "backend": str, "origins": list, "extra_info": dict},
    "metric": {"name": str, "benchmark_values": list, "target_value": float, "extra_info": dict},
    "runners": {
        "name": str, "type": str, "cpu_info": str, "cpu_count": int, "avail_mem_in_gb": int, "gpu_info": str,
        "gpu_count": int, "extra_info": dict,
    },
    "dependencies": {"repo": str, "branch": str, "sha": str, "version": str, "extra_info": dict},
}  # fmt: skip
"""The columns of the table `oss_ci_benchmark_v3` that a record fills, as types of Python.

From `clickhouse_db_schema/oss_ci_benchmark_v3/schema.sql` of github.com/pytorch/test-infra, at commit
3c0eb5c3ab148c577e12593157a0faf8669d281a, read in November 2026. Its `extra_info` is a Map(String, String).
"""


def digest(schema: Any) -> str:
    """Return the SHA-256 of a JSON document in compact form, with its keys sorted."""
    return hashlib.sha256(json.dumps(schema, sort_keys=True, separators=(",", ":")).encode()).hexdigest()
