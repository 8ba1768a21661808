"""Commands parse the record of a run once, however often they read it."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from orchestrator.results.records import RunRecord, bounds
from tests.unit.cli.conftest import Program
from tests.unit.cli.stored_runs import stored_run
from tests.unit.reporting import synthetic as s

RUNS = 3
CELLS = tuple(s.cell(framework, repeats=3) for framework in (s.TORCH, s.MXNET))
COMMANDS = {
    "report": 1,
    "report --all": RUNS,
    "runs": RUNS,
    "show": RUNS,
    f"show {{last}} {CELLS[0].id}": RUNS,
    "compare {first} {last}": 2,
    "history -o pages": RUNS,
    "plan": RUNS,
}
"""Commands with the number of runs they read."""


@pytest.mark.parametrize("number", range(len(COMMANDS)), ids=list(COMMANDS))
def test_a_command_parses_a_record_once(
    number: int, tmp_path: Path, command: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    words, runs = list(COMMANDS.items())[number]
    # Names that no other test has: what is parsed already would not be parsed here.
    names = [f"202601{day:02}T0304{number:02}Z-once" for day in range(1, RUNS + 1)]
    for name in names:
        stored_run(tmp_path / "results", name, CELLS)
    parsed, plans = _counted(monkeypatch)

    status, _, errors = command(*words.format(first=names[0], last=names[-1]).split())

    assert status == 0, errors
    assert parsed == dict.fromkeys(names[-runs:] if runs != 2 else [names[0], names[-1]], 1)
    assert len(plans) <= runs + (words == "plan")


def _counted(monkeypatch: pytest.MonkeyPatch) -> tuple[Counter[str], list[str]]:
    """Count from now on the records that are validated, by run, and list the plans."""
    parsed: Counter[str] = Counter()
    plans: list[str] = []
    validate, check = RunRecord.model_validate, bounds.check

    def counted(document: Any) -> RunRecord:
        parsed[document["run"]] += 1
        return validate(document)

    def listed(plan: Any, place: str) -> None:
        plans.append(plan.name)
        check(plan, place)

    monkeypatch.setattr(RunRecord, "model_validate", counted)
    monkeypatch.setattr(bounds, "check", listed)
    return parsed, plans
