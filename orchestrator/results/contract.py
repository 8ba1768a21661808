"""The host–container contract as types, explained in `docs/contract.md` and published in `docs/schemas/`.

SI units in key names, raw samples, never a summary. A newer schema is refused, an older one upgraded stepwise.
"""

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from orchestrator.domain import Mode
from orchestrator.modes.parts.lengths import OwnGeneration
from orchestrator.modes.parts.load import OwnLoad
from orchestrator.modes.parts.settings import BLOCKS, LATENCY_STEPS, Feed, OwnFeed, OwnWorkers
from orchestrator.results.parts.facts import Facts
from orchestrator.results.parts.generation import StoredTokenTimes
from orchestrator.results.parts.largest_batch import LargestBatch
from orchestrator.results.parts.outputs import Outputs
from orchestrator.results.parts.requests import RequestMoments
from orchestrator.user_files import NetworkInput, SequenceInput, Take

SCHEMA: Literal[1] = 1
MIN_BLOCK_S = 0.2
LEAST_LATENCY_STEPS = 50
LATENCY_LIMIT_S = 30.0
"""Longest latency pass of more than the least steps."""

# The bounds lie beyond every measurement, and within what figures made of them can hold.
Seconds = Annotated[float, Field(ge=0, le=1e9, allow_inf_nan=False)]
Taken = Annotated[float, Field(ge=1e-9, le=1e9, allow_inf_nan=False)]
"""Seconds that something took: no clock of ours tells less than a nanosecond."""
LARGEST = 1e300
"""Of every figure, and of what is made of them: what is larger is held there."""
Finite = Annotated[float, Field(ge=-LARGEST, le=LARGEST, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=0, le=2**60)]
Some = Annotated[int, Field(ge=1, le=2**60)]


class Strict(BaseModel):
    """A frozen model that forbids unknown keys. Its validator is made at its first use, as no command uses them all."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, populate_by_name=True, serialize_by_alias=True, defer_build=True
    )


class MetricRequest(Strict):
    """A figure to take from what a script prints or writes into a file."""

    name: str
    pattern: str
    take: Take
    file: Annotated[str, Field(exclude_if=lambda file: not file)] = ""
    """Below the folder of the script, to be read once the script has ended; empty for what it prints."""


class ScriptRequest(Strict):
    """A foreign script, as what runs it sees it."""

    folder: str
    file: str
    arguments: tuple[str, ...] = ()
    environment: dict[str, str] = {}
    metrics: tuple[MetricRequest, ...]


class DataRequest(Strict):
    """A dataset in a folder of the user's own, as what reads it sees it."""

    folder: str
    format: str
    """`idx`, `cifar-binary` or `cifar-python`."""
    image: tuple[int, int, int] | None = None
    """Channels, height, width; None for rows of whole numbers."""
    classes: Some
    training: Some
    testing: Some
    files: dict[str, str]
    """Name → sum (`sha256:…`, of the unpacked bytes) that it must have, in the order in which they are read."""
    stand_in: Annotated[bool, Field(exclude_if=lambda stand_in: not stand_in)] = False
    """True if the files only have the right format."""
    inputs: Annotated[tuple[SequenceInput, ...], Field(exclude_if=lambda inputs: not inputs)] = ()
    """Rows of whole numbers, by the names of a model's inputs; empty for images."""


class NetworkRequest(Strict):
    """An exported network, as what runs it sees it."""

    folder: str
    file: str
    sha256: str
    """Of the file, or of the names and sums of several."""
    files: tuple[str, ...]
    """All of them, in the order of their names."""
    inputs: tuple[NetworkInput, ...]
    outputs: tuple[str, ...]
    parameters: Count
    multiply_adds: Count | None
    batch: str | None = None
    """Name of the dynamic axis that is the batch."""
    dimensions: dict[str, int] = {}
    """Sizes of the other dynamic axes."""


class Request(Strict):
    """The request of the host, which the container reads as `/io/request.json`."""

    schema_: Literal[1] = Field(SCHEMA, alias="schema")
    cell: str
    repeat: Count
    framework: str
    """Catalog name, for the record."""
    builder: str
    """Module of `benchmarks/frameworks/`."""
    model: str
    model_file: str | None = None
    """File next to the request that holds the model, for one of the user's own; None for one of the image's."""
    definition_file: str | None = None
    """File next to the request whose `start` makes the session, for a framework's own definition of the model."""
    axes: Annotated[dict[str, int], Field(exclude_if=lambda axes: not axes)] = {}
    """Axes of the mode itself, such as the size of an operator; empty for models and scripts."""
    load: OwnLoad = None
    """The load of the mode `requests`; None in other modes."""
    generation: OwnGeneration = None
    """The lengths of the mode `generate`, and of its parity; None in other modes."""
    mode: Mode | Literal["parity"]
    """With `parity` nothing is timed: the answer is a `ParityResult` (`orchestrator/results/parity/contract.py`)."""
    trains: Annotated[bool, Field(exclude_if=lambda trains: trains)] = True
    """False of parity that no cell needs of training, so that a framework that trains answers for inference alone."""
    script: ScriptRequest | None = None
    """The script of the mode `script`, whose answer is a `ScriptResult` (`results/scripts/contract.py`)."""
    batch_size: Annotated[int, Field(ge=1)]
    """Samples of a step, of all devices together."""
    largest_batch: Annotated[bool, Field(exclude_if=lambda searches: not searches)] = False
    """True to look for the largest batch that fits the device, beginning with `batch_size`."""
    dataset: str = "synthetic"
    data: DataRequest | None = None
    """The dataset in a folder of the user's own; None for one of the image's."""
    network: Annotated[NetworkRequest | None, Field(exclude_if=lambda network: network is None)] = None
    """The exported network that stands in for a model of the vocabulary."""
    feed: OwnFeed = Feed.PLACED
    workers: OwnWorkers = 0
    options: dict[str, bool | int | float | str] = {}
    variables: dict[str, str] = {}
    """Environment variables that the matrix sets, beside those of the runtime; the runtime sets them, before Python."""
    seed: Count = 0
    """Of the data and the weights; the same for every framework and repeat."""
    threads: Annotated[int, Field(ge=1)] | None = None
    """CPU threads of the framework; None leaves its default."""
    cpuset: tuple[int, ...] | None = None
    """CPUs the process pins itself to; None where the runtime has pinned it already."""
    gpus: Count = 0
    cpu_devices: Annotated[int, Field(ge=1, exclude_if=lambda devices: devices == 1)] = 1
    """CPU devices that stand in for GPUs, by hand and in tests alone: they show what is computed, and not how fast."""
    warmup_steps: Annotated[int, Field(ge=1)] = 10
    steps: Annotated[int, Field(ge=1)] | None = 50
    """Fewest timed steps; None where epochs are timed."""
    epochs: Annotated[int, Field(ge=1)] | None = None
    min_blocks: Annotated[int, Field(ge=1)] = BLOCKS
    min_block_s: Seconds = MIN_BLOCK_S
    latency_steps: Count = LATENCY_STEPS
    """Steps of the latency pass. Up to the default, they are fewer if they would last longer than `LATENCY_LIMIT_S`."""
    evaluate_every_epoch: bool = True
    """True to evaluate test data after every epoch, and not after the last one alone."""
    telemetry: bool = True
    """True to read the conditions around every block; off only to measure what that costs."""

    @property
    def unused(self) -> set[str]:
        """Return later fields at their default, without which a request is as it was before them."""
        return {"evaluate_every_epoch"} if self.evaluate_every_epoch else set()


class GpuConditions(Strict):
    """The conditions of one GPU while something was timed; None where its driver does not report them."""

    clock_hz: Count | None = None
    """Of its multiprocessors, at the end of the interval."""
    temperature_c: Finite | None = None
    """At the end of the interval."""
    energy_j: Seconds | None = None
    """Its energy over the interval, by its own counter."""
    power_limited_s: Seconds | None = None
    """Time in which its power limit held its clocks down."""
    heat_limited_s: Seconds | None = None
    """Time in which heat did."""
    slowed_by: tuple[str, ...] = ()
    """Causes that hold its clocks down when the interval ends: `power_limit`, `heat`, `hardware`, `power_supply`."""


class Conditions(Strict):
    """The conditions of the host and the process while something was timed; None where they could not be read.

    Counters are differences over the interval, which begins just before what was timed and ends just after it.
    """

    begin_s: Annotated[Seconds | None, Field(exclude_if=lambda seconds: seconds is None)] = None
    """Moment at which the interval begins, by the monotonic clock of the host; None without GPUs."""
    wall_s: Seconds
    cpu_s: Seconds
    """CPU time of the process over all its threads."""
    user_s: Seconds | None = None
    """The part of it in the code of the process; None in older results."""
    system_s: Seconds | None = None
    """The part of it in the kernel."""
    workers_cpu_s: Annotated[Finite | None, Field(exclude_if=lambda seconds: seconds is None)] = None
    """CPU time of child processes, counted in ticks of the kernel: workers of a data loader, or of other devices.

    None without them."""
    busy_s: Seconds | None = None
    """CPU time of everything that ran on the CPUs of the process, itself included; counted in ticks of the kernel."""
    steal_s: Seconds | None = None
    """CPU time that the hypervisor gave to others."""
    cpu_pressure_s: Seconds | None = None
    """Time in which at least one task of the host waited for a CPU (PSI, `some`)."""
    memory_pressure_s: Seconds | None = None
    io_pressure_s: Seconds | None = None
    group_cpu_pressure_s: Seconds | None = None
    """The same for the control group of the process alone."""
    throttled: Count | None = None
    """Periods in which the control group had used up its CPU quota."""
    thermal_events: Count | None = None
    """Times that its cores throttled themselves for heat."""
    swapped_bytes: Count | None = None
    """Moved between memory and swap, by the whole host."""
    frequency_hz: Count | None = None
    """Mean over its CPUs at the end of the interval."""
    load: Seconds | None = None
    """Mean number of tasks that ran or were ready, over the last minute, of the whole host."""
    rss_bytes: Count | None = None
    """Resident memory of the process at the end of the interval."""
    read_bytes: Count | None = None
    """Fetched from storage for the process."""
    written_bytes: Count | None = None
    gpus: tuple[GpuConditions, ...] = ()
    """Those of the cell, in the order of `facts.gpus`; empty without GPUs and in older results."""


class Block(Strict):
    """Consecutive steps, synchronised only at both ends. Under load, all that were run for the requests that count.

    A step of the mode `generate` is a whole generation, which is synchronised at each token; its samples are tokens."""

    steps: Some
    samples: Some
    wall_s: Taken
    cpu_s: Seconds
    """CPU time of the process over all its threads: as itself, never as wall time."""
    waited_s: Annotated[Seconds | None, Field(exclude_if=lambda seconds: seconds is None)] = None
    """The part of the wall time in which a step waited for its batch; None where batches are placed before a block."""
    conditions: Conditions | None = None
    """None in older results."""


def steady_blocks(blocks: Sequence[Block], *, epochs: bool) -> Sequence[Block]:
    """Pick the timed blocks that count for the throughput, which with several `epochs` are those after the first.

    The first epoch meets cold caches and allocators. Where it is the only one, it has to stand for itself.
    """
    return blocks[1:] if epochs and len(blocks) > 1 else blocks


class Phases(Strict):
    """The parts of a container's life, in order. The host measures `create`, which stands in the outcome."""

    import_s: Seconds
    data_s: Seconds | None = None
    """Drawing the data and placing it on the device; None in older results, where `build_s` holds it."""
    build_s: Seconds
    first_step_s: Seconds
    warmup_s: Seconds
    steady_s: Seconds
    latency_s: Seconds
    evaluation_s: Seconds | None = None
    """Between the epochs, and in none of the above; None where there was none."""


class Loss(Strict):
    """Mean loss of one batch, read outside the timed blocks; None in inference."""

    first: Finite
    last: Finite


class Evaluation(Strict):
    """The quality of the weights after one epoch of training, in evaluation mode, outside every timed block."""

    train_loss: Finite
    """Of as many training samples as there are test samples, always the same ones."""
    test_loss: Finite
    test_accuracy: Annotated[float, Field(ge=0, le=1)]
    evaluation_s: Seconds


class ModelFacts(Strict):
    """Counted by `benchmarks/vocabulary/counting.py` from the same model function."""

    parameters: Count
    multiply_adds: Count | None
    """Per sample, forward pass; None of an exported network whose graph does not tell."""


class Memory(Strict):
    """Highest use seen by the kernel and the framework."""

    peak_rss_bytes: Count
    peak_device_bytes: Count | None = None
    """By the framework's allocator, over the whole repeat; None where it does not tell, as with MXNet."""
    steady_peak_device_bytes: Annotated[Count | None, Field(exclude_if=lambda peak: peak is None)] = None
    """The same from the end of the warm-up on, without autotuning; None where a framework cannot begin anew."""


class Used(Strict):
    """The resources that the process took from its beginning to its end, imports and all."""

    user_s: Seconds
    """CPU time in its own code, over all threads."""
    system_s: Seconds
    """CPU time in the kernel."""
    read_bytes: Count | None = None
    """Fetched from storage; what a cache in memory had is not counted. None where the kernel does not report it."""
    written_bytes: Count | None = None
    """Sent towards storage."""


class Result(Strict):
    """The answer of the container, which the host reads as `/io/result.json`."""

    schema_: Literal[1] = Field(SCHEMA, alias="schema")
    measurement_version: Some
    """Raised when a change to `benchmarks/` changes what is measured; history breaks there."""
    cell: str
    repeat: Count
    started_at: str
    """ISO 8601, UTC."""
    phases: Phases
    first_step: Block
    warmup: tuple[Block, ...]
    """Every block before the timed ones, the first step left out; kept, never counted."""
    blocks: Annotated[tuple[Block, ...], Field(min_length=1)]
    """The timed blocks; in an epoch run each epoch is a block, and the first is still here."""
    latency_s: tuple[Taken, ...]
    """One wall time per step of a separate pass that is synchronised at every step; under load, one per request.

    In the mode `generate` it is one per timed generation, from its prompt to its last token."""
    latency_conditions: Conditions | None = None
    """Of that whole pass."""
    loss: Loss | None
    epochs: tuple[Evaluation, ...] = ()
    """One for each epoch of training, in the order of `blocks`; empty where steps were timed."""
    model: ModelFacts
    memory: Memory
    used: Used | None = None
    """None in older results."""
    requests: Annotated[RequestMoments | None, Field(exclude_if=lambda requests: requests is None)] = None
    """The moments of every request; None without load."""
    generation: Annotated[StoredTokenTimes | None, Field(exclude_if=lambda times: times is None)] = None
    """The times of all tokens of the timed blocks; None in other modes than `generate`."""
    outputs: Annotated[Outputs | None, Field(exclude_if=lambda outputs: outputs is None)] = None
    """Of an operator; None in other modes, and where nothing is computed."""
    largest_batch: Annotated[LargestBatch | None, Field(exclude_if=lambda search: search is None)] = None
    """Of a request for it. All else is then that of the largest try that fitted."""
    facts: Facts
    """Queried, never typed: `versions`, `python`, `cpu`, `threads`, `layout`, `precision`, `gpus`, …"""
