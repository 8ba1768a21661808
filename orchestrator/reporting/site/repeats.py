"""The repeats of one cell in full: their ends, blocks, steps, environments and logs."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Any

from orchestrator.analysis.measurements import RepeatMeasurement
from orchestrator.devices import disturbance
from orchestrator.domain import Outcome, Status
from orchestrator.reporting.findings.cells import flatten, merged
from orchestrator.reporting.site.encoding import Document, numbers, scaled, significant, stride_of
from orchestrator.reporting.site.figures import CellFigures
from orchestrator.results.contract import Block, Conditions, Result
from orchestrator.results.evidence import Stored
from orchestrator.wording import clean, clean_line

MOST_BLOCKS = 2_000
MOST_STEPS = 500
"""Of one repeat; of more, every n-th is shown."""
MOST_LOG = 12_000
"""Characters of the end of a log that are shown."""

_CONDITIONS: Mapping[str, Callable[[Conditions], float | None]] = {
    **{limit.name: limit.figure for limit in disturbance.THRESHOLDS},
    "frequency_hz": lambda seen: seen.frequency_hz,
    "load": lambda seen: seen.load,
    "cpu_pressure": lambda seen: None if seen.cpu_pressure_s is None else seen.cpu_pressure_s / seen.wall_s,
    "io_pressure": lambda seen: None if seen.io_pressure_s is None else seen.io_pressure_s / seen.wall_s,
    "rss_bytes": lambda seen: seen.rss_bytes,
    "gpu_clock_hz": lambda seen: seen.gpus[0].clock_hz if seen.gpus else None,
    "gpu_temperature_c": lambda seen: seen.gpus[0].temperature_c if seen.gpus else None,
}
"""The conditions that are drawn below the blocks; a column without a value other than 0 is left out."""


def repeats_of(stored: Sequence[Stored], figures: CellFigures, tail: Callable[[Outcome], str]) -> Document:
    """Return all that a page shows of the repeats of one cell."""
    outcomes = [each.outcome for each in stored]
    return {
        "repeats": {
            "repeat": [each.repeat for each in outcomes],
            "status": [str(each.status) for each in outcomes],
            "reason": [clean_line(each.reason) for each in outcomes],
            "started": [clean_line(each.started_at) for each in outcomes],
            "wall_s": numbers(each.wall_s for each in outcomes),
            "attempts": [each.attempts for each in outcomes],
            "remeasured": [each.remeasured for each in outcomes],
            "busy": [clean_line(each.busy) for each in outcomes],
            "beside": [clean_line(each.beside) for each in outcomes],
            "disturbance": [clean_line(each.disturbance or each.not_remeasured) for each in outcomes],
            "log": [clean_line(each.log or "") for each in outcomes],
            "figures": {name.name: numbers(values) for name, values in figures.repeats.items()},
        },
        "blocks": [_blocks(each.result) if each.result else None for each in stored],
        "steps": [_steps(each.result) if each.result else None for each in stored],
        "phases": [_phases(each) for each in figures.measurements],
        "logs": list(_logs(outcomes, tail)),
    }


def facts_of(stored: Sequence[Stored]) -> tuple[tuple[str, str], ...]:
    """Return the facts that the containers of a cell report, those that differ joined."""
    distinct: dict[str, Mapping[str, Any]] = {}
    for each in stored:
        answer = each.result or each.printed
        if answer:
            distinct.setdefault(json.dumps(answer.facts, sort_keys=True, default=str), answer.facts)
    return tuple(merged(tuple(flatten(facts)) for facts in distinct.values())) if distinct else ()


def _blocks(result: Result) -> Document:
    """Return the rate of every block, or of every n-th of many, and what else went on meanwhile.

    `warm`, `total` and `disturbed` count all blocks. Marks have the places of shown ones.
    """
    before = (result.first_step, *result.warmup)
    every = [*before, *result.blocks]
    stride = stride_of(len(every), MOST_BLOCKS)
    shown = every[::stride]
    judged = disturbance.judge(result)
    marks = [(len(before) + mark.block, mark.reasons) for mark in (judged.marks if judged else ())]
    ends = list(accumulate(block.wall_s for block in every))
    return {
        "warm": len(before),
        "total": len(every),
        "stride": stride,
        "rate": scaled([block.samples / block.wall_s for block in shown]),
        "end_s": scaled(ends[::stride]),
        "disturbed": len(marks),
        "marks": [[place // stride, _reasons(reasons)] for place, reasons in marks if place % stride == 0],
        "conditions": dict(_conditions(shown)),
    }


def _conditions(blocks: Sequence[Block]) -> Iterator[tuple[str, Document]]:
    seen = [block.conditions for block in blocks]
    if not any(seen):
        return
    for name, figure in _CONDITIONS.items():
        column = scaled([None if each is None else figure(each) for each in seen])
        if column:
            yield name, column


def _reasons(reasons: disturbance.Reasons) -> str:
    return ", ".join(f"{name.replace('_', ' ')} {value:.3g}" for name, value in reasons)


def _steps(result: Result) -> Document:
    """Return the seconds of single steps in their order, or those of every n-th of many."""
    stride = stride_of(len(result.latency_s), MOST_STEPS)
    return {"total": len(result.latency_s), "stride": stride, "s": scaled(result.latency_s[::stride])}


def _phases(measurement: RepeatMeasurement | None) -> Document | None:
    if measurement is None:
        return None
    return {name: significant(seconds) for name, seconds in measurement.phases_s}


def _logs(outcomes: Sequence[Outcome], tail: Callable[[Outcome], str]) -> Iterator[list[Any]]:
    """Yield repeat and end of log of the first repeat that ended well, and of every other one that did not.

    Of logs that end alike, the first is shown.
    """
    said: set[str] = set()
    well = next((each for each in outcomes if each.status is Status.OK), None)
    for each in outcomes:
        if each.log is None or (each.status is Status.OK and each is not well):
            continue
        text = clean(tail(each))[-MOST_LOG:].strip("\n")
        if text and text not in said:
            said.add(text)
            yield [each.repeat, text]
