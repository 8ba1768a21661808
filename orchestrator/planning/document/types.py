"""The parts of the JSON document of a plan."""

from typing import NotRequired

from typing_extensions import TypedDict

from orchestrator.domain import Mode, OptionValue, Status
from orchestrator.modes.parts.load import Scenario
from orchestrator.modes.parts.settings import Feed, Profile, Scaling
from orchestrator.planning.cost.estimate import PlanEstimate
from orchestrator.studies import Study
from orchestrator.user_files import Workdir

PlannedImage = TypedDict(
    "PlannedImage",
    {
        "name": str,
        "class": str,
        "framework": str,
        "version": str,
        "backend": str | None,
        "builder": str,
        "python": str,
        "requirements": list[str],
        "system_packages": list[str],
        "cuda_image": str | None,
        "image": str | None,
        "dockerfile": str | None,
    },
)
"""An image that cells of a plan run in."""


class ShorterCell(TypedDict, total=False):
    """Settings of a cell that are there only off their default."""

    blocks: int
    latency_steps: int
    evaluate_every_epoch: bool
    parity_batch: int
    axes: dict[str, int]
    """Axes of the mode itself; of an operator its size, seeds and tries, in place of the settings above."""


class SearchedCell(TypedDict, total=False):
    """The mark of a cell that looks for the largest batch, beginning with `batch_size`."""

    searches: bool


class FrontierCell(TypedDict, total=False):
    """The mark of a cell that is one size of a frontier, of which a run measures a few."""

    frontier: bool


class LoadedCell(TypedDict, total=False):
    """The load of a cell, in the mode `requests` alone, each key only where it is set."""

    scenario: Scenario
    requests: int
    concurrency: int
    rate: float
    latency_limit_s: float
    first_token_limit_s: float
    per_token_limit_s: float


class GeneratingCell(TypedDict, total=False):
    """The lengths of a generation, in the mode `generate`, and in `requests` for tokens."""

    prompt_length: int
    output_length: int


class FedCell(TypedDict, total=False):
    """The feed of a cell, if it is off its default."""

    feed: Feed
    workers: int


class SharedCell(TypedDict, total=False):
    """The scaling of a cell over several GPUs, if it is off its default."""

    scaling: Scaling


class GpuCell(TypedDict, total=False):
    """The wishes of a cell for its GPUs, if it has any."""

    gpu: str
    gpu_memory_bytes: int
    mig: str


class PlannedCell(ShorterCell, SearchedCell, FrontierCell, LoadedCell, GeneratingCell, FedCell, SharedCell, GpuCell):
    """A cell of a plan, as a flat row."""

    id: str
    framework: str
    version: str
    backend: str | None
    """The framework underneath, such as `mxnet==1.5.1`."""
    python: str
    packages: dict[str, str]
    system: str
    cpus: int | None
    gpus: int
    memory_bytes: int | None
    model: str
    mode: Mode
    batch_size: int
    dataset: str
    options: dict[str, OptionValue]
    script: str | None
    """The file of the script that runs in place of a model."""
    definition: str | None
    """SHA-256 of the framework's own definition of the model."""
    image: str
    warmup_steps: int
    steps: int | None
    epochs: int | None
    timeout_s: float
    output_bytes: int
    output_files: int
    repeats: int
    expect: Status


class PlannedModel(TypedDict):
    """A model file of the user's own."""

    name: str
    sha256: str


class PlannedDefinition(TypedDict):
    """A framework's own definition of a model."""

    model: str
    builder: str
    sha256: str


class PlannedFile(TypedDict):
    """A file of a script or a network."""

    path: str
    size_bytes: int
    sha256: str


class PlannedScript(TypedDict):
    """A script with its files."""

    name: str
    entry: str
    files: list[PlannedFile]
    workdir: NotRequired[Workdir]
    """Only of a script that works on a copy of its files."""


class PlannedInput(TypedDict):
    """An input of a network."""

    name: str
    kind: str
    """As NumPy names the type."""
    shape: list[int | None]
    """None stands for the batch size."""
    below: int | None
    """Whole numbers are drawn from 0 to below this."""
    value: float | None
    """Every value of it; None if they are drawn."""


class PlannedNetwork(TypedDict):
    """An ONNX file of the user's own, with the files that its tensors lie in."""

    name: str
    entry: str
    files: list[PlannedFile]
    opset: int
    inputs: list[PlannedInput]
    outputs: list[str]
    parameters: int
    multiply_adds: int | None
    """Of one sample; None where the graph does not tell."""
    dimensions: dict[str, int]
    """Sizes of its dynamic axes, without the batch."""


class SkippedCell(TypedDict):
    """A cell that the matrix has and the plan leaves out."""

    id: str
    reason: str


class PlannedCheck(TypedDict):
    """A parity check, which runs before the measurements."""

    id: str
    image: str
    model: str


class ScatterData(TypedDict):
    """The scatter of a cell at each level, as standard deviations of the logarithm; null where it is not known."""

    step: float | None
    block: float | None
    """From block to block of a container, beyond the steps."""
    container: float | None
    run: float | None
    """From run to run on this host, which no number of repeats of one run narrows."""
    host: float | None


class CellPrecisionData(TypedDict):
    """The cheapest way to a wanted interval of one cell."""

    id: str
    basis: str
    """`stored repeats`, `other cells` or `nothing`: what its scatter is known from."""
    repeats: int | None
    """None if nothing is known, or if a thousand would not do."""
    blocks: int
    """Timed blocks of each repeat."""
    seconds: float | None
    half_width: float | None
    """Half of the interval that is expected, as a share of the throughput."""
    half_width_low: float | None
    """The 90 % range of it."""
    half_width_high: float | None
    stored_repeats: int
    scatter: ScatterData | None


class WantedPrecisionData(TypedDict):
    """The repeats that a plan takes for a wanted interval."""

    wanted: float
    """Half of the 95 % interval of a cell's throughput, as a share."""
    repeats: int
    seconds: float
    unknown: list[str]
    """Cells of whose scatter nothing is stored."""
    cells: list[CellPrecisionData]


class PlanData(TypedDict):
    """A plan with its estimate."""

    name: str
    seed: int
    cells: list[PlannedCell]
    images: list[PlannedImage]
    models: list[PlannedModel]
    definitions: list[PlannedDefinition]
    scripts: list[PlannedScript]
    networks: NotRequired[list[PlannedNetwork]]
    """Only of a matrix with ONNX files."""
    skips: list[SkippedCell]
    warnings: list[str]
    parity: list[PlannedCheck]
    study: NotRequired[Study]
    """Only of a matrix that repeats a published study."""
    profile: NotRequired[Profile]
    """The settings that took the place of the matrix's own; without any, there is no such key."""
    estimate: PlanEstimate
    precision: NotRequired[WantedPrecisionData]
    """Only where an interval was asked for."""
