"""The answer of a script's container, with the figures as the script printed them."""

from typing import Annotated, Literal

from pydantic import Field

from orchestrator.results.contract import (
    SCHEMA,
    Count,
    Finite,
    MetricRequest,
    Request,
    ScriptRequest,
    Seconds,
    Strict,
)
from orchestrator.results.parts.facts import Facts
from orchestrator.user_files import DATA_PLACE, Script


class PrintedMemory(Strict):
    """Highest use of the largest process of the script, seen by the kernel."""

    peak_rss_bytes: Count


class PrintedValues(Strict):
    """The values of one figure, as the script printed them."""

    values: tuple[Finite, ...]
    """The matches that count, in the order of the output."""
    matches: Count
    """All of them."""
    problem: str | None = None
    """The reason that the values cannot be trusted; None where they can."""


class ScriptResult(Strict):
    """The answer of a script's container, which the host reads as `/io/result.json`."""

    schema_: Literal[1] = Field(SCHEMA, alias="schema")
    measurement_version: Annotated[int, Field(ge=1)]
    cell: str
    repeat: Count
    started_at: str
    """ISO 8601, UTC."""
    wall_s: Seconds
    """Of the script as a whole, from its start to its end: the one figure here that is ours."""
    metrics: dict[str, PrintedValues]
    memory: PrintedMemory
    facts: Facts


def with_script(request: Request, script: Script, folder: str, data_folder: str) -> Request:
    """Ask for a script in place of a model.

    `folder` is its place as the container sees it, and `data_folder` that of its dataset, empty if it has none.
    """

    def filled(text: str) -> str:
        return text.replace(DATA_PLACE, data_folder) if data_folder else text

    # Many programs look for their datasets below the home folder, such as Keras in `.keras`.
    home = {"HOME": folder} if script.has_copy else {}
    script_request = ScriptRequest(
        folder=folder,
        file=script.file,
        arguments=tuple(map(filled, script.arguments)),
        environment=home | {name: filled(text) for name, text in script.environment},
        metrics=tuple(
            MetricRequest(name=each.name, pattern=each.pattern, take=each.take, file=each.file)
            for each in script.metrics
        ),
    )
    return request.model_copy(update={"script": script_request})


def discrepancy(request: Request, result: ScriptResult) -> str | None:
    """Return the first mismatch of a script's result with its request, in one line, or None."""
    if (result.cell, result.repeat) != (request.cell, request.repeat):
        return f"result.json is of {result.cell} repeat {result.repeat}, not of what was asked"
    for metric in request.script.metrics if request.script else ():
        printed = result.metrics.get(metric.name)
        if printed is None:
            return f"result.json says nothing of the metric {metric.name!r}"
        if printed.problem:
            return f"metric {metric.name!r}: the pattern {metric.pattern!r} {printed.problem}"
        if not printed.values:
            searched = f"the file {metric.file!r}" if metric.file else "the output"
            return f"metric {metric.name!r}: nothing in {searched} matches the pattern {metric.pattern!r}"
    return None
