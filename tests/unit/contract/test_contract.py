"""The file contract: schemas are current, golden files stay readable, wrong answers are refused with one line."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from orchestrator.domain import Outcome, Status
from orchestrator.results import container_answers, store
from orchestrator.results.contract import Request, Result
from orchestrator.results.parity.contract import ParityResult
from orchestrator.results.records import EnvironmentsRecord, RunRecord
from orchestrator.results.schemas import CONTRACT, contract_schema
from orchestrator.results.scripts.contract import ScriptResult
from orchestrator.results.telemetry.contract import Telemetry

ROOT = Path(__file__).parents[3]
GOLDEN = ROOT / "tests/golden/contract"
TYPES = {
    "request": Request,
    "result": Result,
    "run": RunRecord,
    "environments": EnvironmentsRecord,
    "parity": ParityResult,
    "script": ScriptResult,
    "telemetry": Telemetry,
}


@pytest.mark.parametrize("name", CONTRACT)
def test_the_published_schema_matches_the_types(name: str) -> None:
    """The published schema is the one made from the types."""
    published = json.loads((ROOT / f"docs/schemas/{name}.schema.json").read_text())

    assert published == contract_schema(name), f"run: orchestrator schema {name} > docs/schemas/{name}.schema.json"


@pytest.mark.parametrize("name", CONTRACT)
def test_a_schema_1_file_satisfies_the_published_schema(name: str) -> None:
    document = json.loads((GOLDEN / f"{name}.json").read_text())

    assert list(jsonschema.Draft202012Validator(contract_schema(name)).iter_errors(document)) == []


@pytest.mark.parametrize("name", ["request", "result", "run", "environments", "parity", "script", "telemetry"])
def test_a_schema_1_file_survives_a_round_trip(name: str) -> None:
    """A file written under schema 1 is read and written back unchanged."""
    document = json.loads((GOLDEN / f"{name}.json").read_text())

    assert TYPES[name].model_validate(document).model_dump(mode="json", by_alias=True, exclude_unset=True) == document


def _answer(tmp_path: Path, **changes: Any) -> Path:
    document = json.loads((GOLDEN / "result.json").read_text()) | changes
    path = tmp_path / "result.json"
    path.write_text(json.dumps(document))
    return path


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"schema": 2}, "result.json has schema 2; this orchestrator reads up to 1: upgrade it"),
        ({"blocks": []}, "result.json: blocks: Tuple should have at least 1 item after validation, not 0"),
        ({"surprise": 1}, "result.json: surprise: Extra inputs are not permitted"),
        ({"latency_s": [float("nan")]}, "NaN and infinity are no JSON numbers"),
        ({"latency_s": [float("inf")]}, "NaN and infinity are no JSON numbers"),
        ({"latency_s": [-1.0]}, "result.json: latency_s.0: Input should be greater than"),
        ({"latency_s": [1e300]}, "result.json: latency_s.0: Input should be less than"),
        ({"model": {"parameters": 10**30, "multiply_adds": 1}}, "result.json: model.parameters: Input should be less"),
        ({"facts": {"device": "\ud800"}}, "result.json is not JSON: "),
        ({"cell": None}, "result.json: cell: Input should be a valid string"),
    ],
)
def test_an_answer_outside_the_contract_is_refused(tmp_path: Path, changes: dict[str, Any], reason: str) -> None:
    """An answer outside the contract is refused in one line."""
    with pytest.raises(container_answers.InvalidResultError) as caught:
        container_answers.read_result(_answer(tmp_path, **changes))

    assert reason in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_fact_beyond_all_bounds_is_refused(tmp_path: Path) -> None:
    path = _answer(tmp_path, facts={"seen": [{"here": "X"}]})
    path.write_text(path.read_text().replace('"X"', "1e999"))

    with pytest.raises(container_answers.InvalidResultError, match=r"result\.json: facts: holds a number beyond"):
        container_answers.read_result(path)


def test_a_fact_may_hold_words_of_infinite_numbers(tmp_path: Path) -> None:
    """A fact may hold the words of numbers beyond all bounds."""
    facts = {"cpu": {"model": "Infinity Fabric"}, "said": ["NaN", "-Infinity", 1.5, None]}

    assert container_answers.read_result(_answer(tmp_path, facts=facts)).facts == facts


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "result.json is not JSON: EOF while parsing a value"),
        (b"\xff\xfe\x00", "result.json is not JSON: "),
        (b"[1]", "result.json is not an object"),
        (b"[" * 100_000, "result.json is not JSON: "),
        (b'{"schema": 1e400}', "result.json: schema: "),
    ],
)
def test_an_answer_without_a_document_is_refused(tmp_path: Path, content: bytes, reason: str) -> None:
    """An answer that is no document is refused in one line."""
    path = tmp_path / "result.json"
    path.write_bytes(content)

    with pytest.raises(container_answers.InvalidResultError) as caught:
        container_answers.read_result(path)

    assert str(caught.value).startswith(reason)
    assert "\n" not in str(caught.value)


def test_a_missing_answer_says_so(tmp_path: Path) -> None:
    with pytest.raises(container_answers.InvalidResultError, match=r"^no result\.json was written$"):
        container_answers.read_result(tmp_path / "result.json")


def test_an_oversized_answer_is_not_read(tmp_path: Path) -> None:
    """An answer too large to be one is not even read."""
    path = tmp_path / "result.json"
    with path.open("wb") as file:
        file.truncate(container_answers.MAX_RESULT_BYTES + 1)

    with pytest.raises(container_answers.InvalidResultError, match="is larger than"):
        container_answers.read_result(path)


def test_an_outcome_is_read_back_equal(tmp_path: Path) -> None:
    run = store.Run(tmp_path / "run")
    run.create()
    outcome = Outcome("mxnet-1.9.1-cpu/lenet-train-b200", 0, Status.TIMEOUT, "still running after 600 s", wall_s=600.2)

    run.write_outcome(outcome)

    assert run.outcome(outcome.cell_id, 0) == outcome
    assert run.outcome(outcome.cell_id, 1) is None
