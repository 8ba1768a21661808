"""A plan as JSON, and back: what `run.json` and a bundle hold of it."""

from typing import Any

from pydantic import TypeAdapter, ValidationError

from orchestrator.domain import Plan
from orchestrator.errors import InputError, plain_words
from orchestrator.planning.bounds import plan as bounds

_PLAN = TypeAdapter(Plan)


def plan_to_json(plan: Plan) -> dict[str, Any]:
    """A plan as plain JSON values; `plan_from_json` reads it back equal."""
    document: dict[str, Any] = _PLAN.dump_python(plan, mode="json")
    return document


def plan_from_json(document: dict[str, Any]) -> Plan:
    """Read a frozen plan back, which may come from anywhere; raises `InputError` where it is not one."""
    try:
        plan = _PLAN.validate_python(document)
    except (ValidationError, OverflowError) as error:
        if isinstance(error, OverflowError):
            raise InputError("the stored plan is not readable: it has a number that no computer can hold") from error
        raise InputError(f"the stored plan is not readable: {first_problem(error)}") from error
    bounds.check(plan, "the stored plan is not readable: ")
    return plan


def first_problem(error: ValidationError) -> str:
    """Where the first mistake of a document is, and which: `cells.0.id: Field required`; no place if it is no JSON."""
    first = error.errors(include_url=False, include_input=False)[0]
    return ": ".join(filter(None, (".".join(str(part) for part in first["loc"]), plain_words(first["msg"]))))
