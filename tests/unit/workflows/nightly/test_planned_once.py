"""The plans that a night makes, with a scripted runtime in place of containers."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from orchestrator.matrix import Matrix
from orchestrator.regression import pairing
from orchestrator.regression.nightly.state import Judgement
from orchestrator.results.records import RunRecord
from orchestrator.workflows.host.host import Host
from orchestrator.workflows.measure import jobs
from orchestrator.workflows.measure.runtime import Chosen
from orchestrator.workflows.nightly.night import NightlyOptions, night
from tests.unit.regression.trials.bench_trials import Bench

MATRIX = "version: 1\nframeworks: [mxnet==1.9.1]\nmodels: [lenet, mlp]\nmodes: [train, infer]\nparity: false\n"


@pytest.fixture
def options(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> NightlyOptions:
    """A nightly with one new release, measured by a scripted runtime."""
    (tmp_path / "matrix.yaml").write_text(MATRIX)
    (tmp_path / "nightly.yaml").write_text("version: 1\nwatch: mxnet\nfirst: 1.5.1\nselect: ['*-train-*']\n")
    for release in ("1.5.1", "1.6.0"):
        (tmp_path / f"mxnet-{release}-py3-none-any.whl").touch()
    monkeypatch.setattr(jobs, "choose", lambda *_: Chosen(Bench(name="docker")))
    return NightlyOptions(file=tmp_path / "nightly.yaml", idle_wait_s=0.0)


@pytest.fixture
def host(tmp_path: Path) -> Host:
    """A host whose only package index is a folder."""
    variables = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(tmp_path), "PIP_CONFIG_FILE": "/dev/null"}
    locks = {"ORCHESTRATOR_LOCK_FOLDER": str(tmp_path), "HOME": str(tmp_path)}
    return Host(variables | locks | {"XDG_CACHE_HOME": str(tmp_path / "cache")})


def test_a_release_and_its_baseline_are_planned_once(
    options: NightlyOptions, host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Six plans were made before: of the baseline to check it, and of both sides to select pairs and to measure."""
    planned: list[tuple[str, ...]] = []
    plan = pairing.plan

    def counted(matrix: Matrix, *rest: object, **more: object) -> object:
        planned.append(matrix.frameworks[0].versions)
        return plan(matrix, *rest, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(pairing, "plan", counted)
    (tried,) = night(options, host).night.tried

    assert tried.record.judgement is Judgement.CLEAN
    assert tried.regression is not None
    assert len(tried.regression.pairs) == 2
    assert sorted(planned) == [("1.5.1",), ("1.6.0",)]


def test_looks_and_pairs_parse_the_record_once(
    options: NightlyOptions, host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A look and a pair use the plan that the trial has read as the run began.

    The history reads the record of every run once, with the plan that has grown.
    """
    parsed: Counter[str] = Counter()
    validate = RunRecord.model_validate

    def counted(document: Any) -> RunRecord:
        parsed[json.dumps(document)] += 1
        return validate(document)

    monkeypatch.setattr(RunRecord, "model_validate", counted)
    (tried,) = night(options, host).night.tried

    assert tried.regression is not None
    assert tried.regression.looks == (6, 12, 24)
    assert set(parsed.values()) == {1}
    assert len(parsed) == 2
