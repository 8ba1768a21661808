"""The tables of blocks, of the GPUs during each block, and of the steps of the latency pass."""

import json
from collections.abc import Iterator
from dataclasses import dataclass

from orchestrator.results.contract import Block, Conditions, Evaluation, GpuConditions, Result
from orchestrator.results.parts.generation import StoredTokenTimes
from orchestrator.tables.columns import ColumnKind, TableColumn, TableSchema
from orchestrator.tables.rows.keys import OF_REPEAT, RepeatKey
from orchestrator.tables.rows.repeats import ResultSource

_TEXT, _INTEGER, _NUMBER = ColumnKind.TEXT, ColumnKind.INTEGER, ColumnKind.NUMBER


@dataclass(frozen=True, slots=True)
class BlockSource(RepeatKey):
    """A block of a repeat, or its latency pass."""

    part: str
    number: int
    counts: bool
    block: Block | None
    conditions: Conditions | None
    evaluation: Evaluation | None = None

    @property
    def samples_per_s(self) -> float | None:
        """Return the rate of a block."""
        return self.block.samples / self.block.wall_s if self.block else None


@dataclass(frozen=True, slots=True)
class GpuBlockSource(RepeatKey):
    """One GPU during a block."""

    part: str
    number: int
    gpu: int
    conditions: GpuConditions


@dataclass(frozen=True, slots=True)
class LatencySource(RepeatKey):
    """A step of the latency pass, a request under load, or a generation."""

    step: int
    latency_s: float
    arrival_s: float | None
    waited_s: float | None
    first_token_s: float | None
    between_tokens_s: str | None


def _around(name: str, kind: ColumnKind, description: str, unit: str | None = None) -> TableColumn:
    return TableColumn(f"around_{name}", kind, description, f"conditions.{name}", unit)


_PART = (
    TableColumn("part", _TEXT, "`first_step`, `warmup`, `timed`, or `latency` for the pass of single steps.", "part"),
    TableColumn("number", _INTEGER, "Number of the block in its part, from 0.", "number", ""),
)
BLOCKS = TableSchema(
    "blocks",
    "A row for each block of each repeat, and one for the latency pass. Columns `around_…` are of the host meanwhile.",
    (
        *OF_REPEAT,
        *_PART,
        TableColumn("counts", ColumnKind.TRUTH, "True if the block counts for the throughput.", "counts"),
        TableColumn("steps", _INTEGER, "Steps of the block.", "block.steps", "steps"),
        TableColumn("samples", _INTEGER, "Samples of the block.", "block.samples", "samples"),
        TableColumn("wall_s", _NUMBER, "Wall time of the block.", "block.wall_s"),
        TableColumn("cpu_s", _NUMBER, "CPU time of the process over all threads.", "block.cpu_s"),
        TableColumn(
            "waited_s", _NUMBER, "Part of the wall time in which a step waited for its batch.", "block.waited_s"
        ),
        TableColumn("samples_per_s", _NUMBER, "Samples by wall time.", "samples_per_s", "samples/s"),
        TableColumn("train_loss", _NUMBER, "Training loss at the end of the epoch.", "evaluation.train_loss"),
        TableColumn("test_loss", _NUMBER, "Test loss at the end of the epoch.", "evaluation.test_loss"),
        TableColumn(
            "test_accuracy",
            _NUMBER,
            "Share of test samples that are classified correctly then.",
            "evaluation.test_accuracy",
        ),
        TableColumn("evaluation_s", _NUMBER, "Time of that evaluation, outside the block.", "evaluation.evaluation_s"),
        _around("begin_s", _NUMBER, "Begin of the interval, by the monotonic clock of the host."),
        _around("wall_s", _NUMBER, "Length of the interval."),
        _around("cpu_s", _NUMBER, "CPU time of the process."),
        _around("user_s", _NUMBER, "Part of it in its own code."),
        _around("system_s", _NUMBER, "Part of it in the kernel."),
        _around("workers_cpu_s", _NUMBER, "CPU time of child processes."),
        _around("busy_s", _NUMBER, "CPU time of everything on the CPUs of the process."),
        _around("steal_s", _NUMBER, "CPU time that the hypervisor gave to others."),
        _around("cpu_pressure_s", _NUMBER, "Time in which a task of the host waited for a CPU."),
        _around("memory_pressure_s", _NUMBER, "Time in which one waited for memory."),
        _around("io_pressure_s", _NUMBER, "Time in which one waited for storage."),
        _around("group_cpu_pressure_s", _NUMBER, "Time in which one of its control group waited for a CPU."),
        _around("throttled", _INTEGER, "Periods in which its control group had used up its CPU quota.", "periods"),
        _around("thermal_events", _INTEGER, "Times that its cores throttled themselves for heat.", "events"),
        _around("swapped_bytes", _INTEGER, "Moved between memory and swap by the whole host."),
        _around("frequency_hz", _INTEGER, "Mean clock of its CPUs at the end."),
        _around("load", _NUMBER, "Tasks that ran or were ready over the last minute.", "tasks"),
        _around("rss_bytes", _INTEGER, "Resident memory of the process at the end."),
        _around("read_bytes", _INTEGER, "Fetched from storage for the process."),
        _around("written_bytes", _INTEGER, "Sent towards storage for the process."),
    ),
)

GPU_BLOCKS = TableSchema(
    "gpu_blocks",
    "A row for each GPU of a cell in each block that reports it.",
    (
        *OF_REPEAT,
        *_PART,
        TableColumn("gpu", _INTEGER, "Place of the GPU among those of the cell, from 0.", "gpu", ""),
        TableColumn("clock_hz", _INTEGER, "Clock of its multiprocessors at the end.", "conditions.clock_hz"),
        TableColumn("temperature_c", _NUMBER, "Temperature at the end.", "conditions.temperature_c"),
        TableColumn("energy_j", _NUMBER, "Energy over the interval.", "conditions.energy_j"),
        TableColumn(
            "power_limited_s", _NUMBER, "Time in which its power limit held it down.", "conditions.power_limited_s"
        ),
        TableColumn("heat_limited_s", _NUMBER, "Time in which heat did.", "conditions.heat_limited_s"),
        TableColumn(
            "slowed_by", ColumnKind.JSON, "Causes that hold its clocks down at the end.", "conditions.slowed_by"
        ),
    ),
)

LATENCIES = TableSchema(
    "latencies",
    "A row for each step of the latency pass, which synchronises at every step, for each request under load, and for "
    "each generation.",
    (
        *OF_REPEAT,
        TableColumn("step", _INTEGER, "Number of the step, from 0.", "step", ""),
        TableColumn("latency_s", _NUMBER, "Wall time of the step; of a request from its arrival.", "latency_s"),
        TableColumn("arrival_s", _NUMBER, "Arrival of a request, since the clock of the load started.", "arrival_s"),
        TableColumn("waited_s", _NUMBER, "From there to the step that answers it.", "waited_s"),
        TableColumn("first_token_s", _NUMBER, "From a prompt, or a request, to its first token.", "first_token_s"),
        TableColumn(
            "between_tokens_s",
            ColumnKind.JSON,
            "From each token of a generation to the next one, in seconds.",
            "between_tokens_s",
        ),
    ),
)


def block_sources(source: ResultSource) -> Iterator[BlockSource]:
    """Yield every block of a repeat in order, and its latency pass."""
    if source.result is None:
        return
    for part, number, block, counts, evaluation in _blocks(source.result, in_epochs=source.in_epochs):
        yield BlockSource(
            run=source.run,
            cell_id=source.cell_id,
            repeat=source.repeat,
            part=part,
            number=number,
            counts=counts,
            block=block,
            conditions=block.conditions,
            evaluation=evaluation,
        )
    if source.result.latency_conditions:
        yield BlockSource(
            run=source.run,
            cell_id=source.cell_id,
            repeat=source.repeat,
            part="latency",
            number=0,
            counts=False,
            block=None,
            conditions=source.result.latency_conditions,
        )


def _blocks(result: Result, *, in_epochs: bool) -> Iterator[tuple[str, int, Block, bool, Evaluation | None]]:
    yield "first_step", 0, result.first_step, False, None
    for number, block in enumerate(result.warmup):
        yield "warmup", number, block, False, None
    uncounted = 1 if in_epochs and len(result.blocks) > 1 else 0  # as `steady_blocks` leaves out the first epoch
    # A single evaluation was made after the last epoch.
    first = len(result.blocks) - 1 if len(result.epochs) == 1 else 0
    for number, block in enumerate(result.blocks):
        place = number - first
        evaluation = result.epochs[place] if 0 <= place < len(result.epochs) else None
        yield "timed", number, block, number >= uncounted, evaluation


def gpu_block_sources(source: ResultSource) -> Iterator[GpuBlockSource]:
    """Yield the GPUs of every block that reports them."""
    for each in block_sources(source):
        for place, conditions in enumerate(each.conditions.gpus if each.conditions else ()):
            yield GpuBlockSource(
                run=each.run, cell_id=each.cell_id, repeat=each.repeat, part=each.part, number=each.number, gpu=place,
                conditions=conditions,
            )  # fmt: skip


def latency_rows(source: ResultSource) -> Iterator[tuple[object, ...]]:
    """Yield the rows of the latency pass themselves: there are too many to make each by way of a source."""
    result = source.result
    if result is None:
        return
    nothing = (None,) * len(result.latency_s)
    requests, tokens = result.requests, result.generation
    columns = (
        result.latency_s,
        requests.arrival_s if requests else nothing,
        requests.waited_s if requests else nothing,
        tokens.first_token_s if tokens else nothing,
        _between(tokens) if tokens else nothing,
    )
    for step, values in enumerate(zip(*columns, strict=True)):
        yield source.run, source.cell_id, source.repeat, step, *values


def _between(tokens: StoredTokenTimes) -> tuple[str, ...]:
    """Return the times between the tokens of each generation, all of which have as many, as JSON."""
    count = len(tokens.first_token_s)
    each = len(tokens.between_tokens_s) // count
    return tuple(json.dumps(tokens.between_tokens_s[each * number : each * (number + 1)]) for number in range(count))
