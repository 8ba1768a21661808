"""Plans as JSON, in `run.json` and in bundles."""

from typing import Any

from pydantic import TypeAdapter, ValidationError

from orchestrator.domain import Plan
from orchestrator.errors import InputError, plain_words
from orchestrator.planning.bounds import plan as bounds

_PLAN = TypeAdapter(Plan)


def plan_to_json(plan: Plan) -> dict[str, Any]:
    """Return a plan as plain JSON values, which `plan_from_json` reads back equal."""
    document: dict[str, Any] = _PLAN.dump_python(plan, mode="json")
    return document


def plan_from_json(document: dict[str, Any]) -> Plan:
    """Read a plan from JSON of any origin. Raises `InputError` if it is no plan."""
    try:
        plan = _PLAN.validate_python(document)
    except (ValidationError, OverflowError) as error:
        if isinstance(error, OverflowError):
            raise InputError("the stored plan is not readable: it has a number that no computer can hold") from error
        raise InputError(f"the stored plan is not readable: {first_problem(error)}") from error
    bounds.check(plan, "the stored plan is not readable: ")
    return plan


def first_problem(error: ValidationError) -> str:
    """Return place and text of the first mistake in a document.

    An example is `cells.0.id: Field required`.
    """
    first = error.errors(include_url=False, include_input=False)[0]
    return ": ".join(filter(None, (".".join(str(part) for part in first["loc"]), plain_words(first["msg"]))))
