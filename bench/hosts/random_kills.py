"""Runs on a Slurm cluster of which something is killed at a random moment, as the tests of `tests/slurm` do it."""

import json
import os
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from orchestrator.domain import Status
from orchestrator.resources import ROOT

TEST = "tests/slurm/test_random_kills.py"
RUNS = 20


@dataclass(frozen=True, slots=True)
class KilledRun:
    """A run of one seed, with all that its test has written down."""

    victim: str
    statuses: dict[str, int]
    """The outcomes of its repeats after the kill and before it was resumed, by status."""
    is_complete: bool
    """It ended with nothing lost and nothing doubled."""

    @property
    def is_typed(self) -> bool:
        """Return true if every outcome has a status of the contract."""
        return set(self.statuses) <= set(Status)


def killed_runs(report: str) -> list[KilledRun]:
    """Read the report of the tests, as JUnit has it."""
    runs = []
    for case in ET.fromstring(report).iter("testcase"):
        said = {each.get("name"): each.get("value") or "" for each in case.iter("property")}
        is_complete = all(case.find(name) is None for name in ("failure", "error", "skipped"))
        statuses = json.loads(said.get("statuses", "{}"))
        runs.append(KilledRun(said.get("victim", "nothing"), statuses, is_complete))
    return runs


def row() -> dict[str, Any]:
    """Run every seed, and return the row of the page."""
    with tempfile.TemporaryDirectory(prefix="bench-kills-") as name:
        report = Path(name, "report.xml")
        command = [sys.executable, "-m", "pytest", "-q", TEST, f"--junitxml={report}"]
        subprocess.run(command, cwd=ROOT, env=os.environ | {"BENCH_REQUIRE_SLURM": "1"}, stdout=sys.stderr, check=False)
        return as_row(killed_runs(report.read_text()))


def as_row(runs: list[KilledRun]) -> dict[str, Any]:
    """Return the row of runs that were killed."""
    complete = sum(run.is_complete for run in runs)
    victims = Counter(run.victim for run in runs)
    statuses = sum((Counter(run.statuses) for run in runs), Counter())
    kills = ", ".join(f"{count} of a {victim}" for victim, count in sorted(victims.items()))
    ends = ", ".join(f"{count} `{status}`" for status, count in sorted(statuses.items())) or "nothing"
    return {
        "name": "random kills of a run on Slurm, resumed",
        "text": f"{complete} of {len(runs)} runs complete with nothing lost or doubled; kills: {kills}; the outcomes "
        f"before `--resume`: {ends}; {_failed(runs)}",
        "value": complete,
        "wanted": f"{RUNS} of {RUNS}, each outcome typed",
        "within": complete == len(runs) == RUNS and all(run.is_typed for run in runs),
    }


def _failed(runs: list[KilledRun]) -> str:
    """Return how many repeats were recorded as `failed` after a kill of each kind."""
    failed: Counter[str] = Counter()
    for run in runs:
        failed[run.victim] += run.statuses.get(Status.FAILED, 0)
    counts = ", ".join(f"{count} after that of a {victim}" for victim, count in sorted(failed.items()))
    return f"`failed`: {counts}"
