"""The frozen values that every other part uses."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, ClassVar

from orchestrator import modes
from orchestrator.modes.parts.frontier import OwnFrontier
from orchestrator.modes.parts.largest_batch import MAX, BatchSize, OwnSearch
from orchestrator.modes.parts.lengths import OwnGeneration
from orchestrator.modes.parts.load import OwnLoad
from orchestrator.modes.parts.rules import ModeRules
from orchestrator.modes.parts.settings import (
    PARITY_BATCH,
    Feed,
    LaterFields,
    OwnFeed,
    OwnScaling,
    OwnWorkers,
    Profile,
    Scaling,
    feed_suffix,
    scaling_suffix,
)
from orchestrator.modes.parts.settings import Duration as Duration  # noqa: PLC0414 -- a part of the domain
from orchestrator.modes.parts.sizes import OwnSize
from orchestrator.modes.parts.subjects import StoredAxes
from orchestrator.studies import Study
from orchestrator.user_files import ModelDefinition, ModelFile, MountedData, Network, Script


class Status(StrEnum):
    """The end of a planned cell × repeat; every one ends as exactly one of these."""

    OK = "ok"
    BUILD_FAILED = "build_failed"
    LAUNCH_FAILED = "launch_failed"
    IMPORT_FAILED = "import_failed"
    UNSUPPORTED = "unsupported"
    FAILED = "failed"
    TIMEOUT = "timeout"
    OOM_HOST = "oom_host"
    OOM_DEVICE = "oom_device"
    OUTPUT_LIMIT = "output_limit"
    INVALID_RESULT = "invalid_result"
    NO_DEVICE = "no_device"
    NOT_RUN = "not_run"

    @property
    def is_failure(self) -> bool:
        """Return true if a run with this outcome exits 1, unless the matrix expects it."""
        return self not in {Status.OK, Status.UNSUPPORTED, Status.NO_DEVICE, Status.NOT_RUN}


class Mode(StrEnum):
    """The work of a step on a batch."""

    _ignore_ = ["_name"]  # noqa: RUF012 -- of the enumeration itself
    for _name in modes.RULES:
        vars()[_name.upper()] = _name


OptionValue = bool | int | float | str
Options = tuple[tuple[str, OptionValue], ...]
"""Name and value, sorted by name."""

VARIABLE = "env."
"""Prefix of an option that is an environment variable of the cell."""


def variables(options: Options) -> dict[str, str]:
    """Return the environment variables among options, by their own names."""
    return {name.removeprefix(VARIABLE): str(value) for name, value in options if name.startswith(VARIABLE)}


def without_variables(options: Options) -> dict[str, OptionValue]:
    """Return the options that a framework itself has."""
    return {name: value for name, value in options if not name.startswith(VARIABLE)}


@dataclass(frozen=True, slots=True)
class System(LaterFields):
    """The requirements of a cell on a host, under a free name. Planning never checks them against a host."""

    LATER: ClassVar[Mapping[str, Any]] = {"gpu": None, "gpu_memory_bytes": None, "mig": None}

    name: str
    cpus: int | None = None
    """Size of the cpuset, and the thread setting of the framework; None takes every CPU, with as many threads."""
    gpus: int = 0
    memory_bytes: int | None = None
    gpu: str | None = None
    """A pattern of the name of its GPUs, such as `*H100*`; None takes any."""
    gpu_memory_bytes: int | None = None
    """The least memory of each GPU."""
    mig: str | None = None
    """The profile of the parts of GPUs that it takes, such as `1g.10gb`; None takes whole GPUs."""

    @property
    def image_class(self) -> str:
        """Return the class of the images that serve it, such as `cpu`, `1_gpu` or `4_gpu`."""
        return f"{self.gpus}_gpu" if self.gpus else "cpu"


@dataclass(frozen=True, slots=True)
class Framework:
    """One framework release in one environment."""

    name: str
    """As the catalog has it: `mxnet`, or a flavour such as `mxnet-mkl`."""
    version: str
    backend: "Framework | None" = None
    """The framework underneath, for Keras: `keras-mxnet==2.2.4.3 on mxnet==1.5.1`."""
    python: str = ""
    """`3.11`; after planning never empty."""
    packages: tuple[tuple[str, str], ...] = ()
    """Versions the matrix pins over the catalog's, sorted by name."""
    image: str | None = None
    """The user's own image, in place of a catalog entry; ours is built on top of it."""
    dockerfile: str | None = None
    """The user's own Dockerfile, in place of a catalog entry."""

    @property
    def label(self) -> str:
        """Return a name for people, such as `keras-mxnet 2.2.4.3 on mxnet 1.5.1`."""
        own = f"{self.name} {self.version}"
        return f"{own} on {self.backend.label}" if self.backend else own


@dataclass(frozen=True, slots=True)
class Workload:
    """Work that is the same for every framework. Cells with the same work and system are comparable."""

    model: str
    """Or a script, or a subject of a mode with axes of its own, such as an operator."""
    mode: Mode
    batch_size: int
    """Samples of a step on each device, or by strong scaling on all of them. Of a script it is 1 and means nothing."""
    dataset: str = "synthetic"
    axes: StoredAxes = ()
    """Of a subject, or of a model that has sizes."""
    feed: OwnFeed = Feed.PLACED
    workers: OwnWorkers = 0
    scaling: OwnScaling = Scaling.WEAK
    load: OwnLoad = None
    """The load of a mode that takes one; None in other modes."""
    generation: OwnGeneration = None
    """The lengths of a mode that generates, or of a load that asks for tokens; else None."""
    searches: OwnSearch = False
    """True if it looks for the largest batch that fits, beginning with `batch_size`."""
    size: OwnSize = ""
    """Of a model that has sizes, with the axes that differ from it."""

    @property
    def rules(self) -> ModeRules:
        """Return the rules of its mode."""
        if self.searches:
            return modes.SEARCHES[self.mode]
        return modes.RULES[self.mode] if self.load is None or self.generation is None else modes.BY_TOKENS[self.mode]

    @property
    def batch(self) -> BatchSize:
        """Return its batch size as a matrix has it."""
        return MAX if self.searches else self.batch_size

    @property
    def label(self) -> str:
        """Return a name such as `lenet-train-b200`, with dataset, feed and scaling if they are off their defaults."""
        if self.mode not in modes.OF_MODELS:
            axes = self.rules.subjects.label(self.model, self.axes) if self.rules.subjects else ""
            return f"{self.model}-{self.mode}{axes}"
        suffix = "" if self.dataset == "synthetic" else f"-dataset={self.dataset}"
        suffix += feed_suffix(self.feed, self.workers) + scaling_suffix(self.scaling)
        suffix += f"-size={self.size}" if self.size else ""
        suffix += self.load.suffix if self.load else ""
        if self.generation:
            suffix += self.generation.whole_suffix if self.load else self.generation.suffix
        return f"{self.model}-{self.mode}-b{self.batch}{suffix}"

    def global_batch(self, system: System) -> int:
        """Return the samples of a step over all devices of a system, which share nothing but training."""
        several = self.scaling is Scaling.WEAK and self.rules.has_loss
        return self.batch_size * max(1, system.gpus) if several else self.batch_size


@dataclass(frozen=True, slots=True)
class OutputLimit:
    """The most that one repeat may leave in its folder before it is stopped."""

    size_bytes: int = 2 * 2**30
    files: int = 10_000


COMPILE_CACHE = "BENCH_COMPILE_CACHE"
"""The variable of an environment with a folder for what its framework compiles."""


@dataclass(frozen=True, slots=True)
class CudaNeeds:
    """The needs of a GPU build, by the release of CUDA that it is made with."""

    version: str
    """Of CUDA, such as `11.2`."""
    driver: str
    """The oldest driver that it runs with."""
    capabilities: tuple[str, ...] = ()
    """The oldest and the newest compute capability that it has code for; without a newest, drivers compile it."""


@dataclass(frozen=True, slots=True)
class Environment(LaterFields):
    """The content of an image or a virtual environment, resolved from the catalog."""

    LATER: ClassVar[Mapping[str, Any]] = {"cuda": None, "library_folders": ()}

    builder: str
    """Module of `benchmarks/frameworks/` that speaks to this framework."""
    python: str
    requirements: tuple[str, ...] = ()
    """pip requirements, exact pins of the framework first."""
    system_packages: tuple[str, ...] = ()
    """Debian packages."""
    cuda_image: str | None = None
    """Image whose CUDA and cuDNN libraries are copied in, None if the wheels bring their own."""
    package_index: str | None = None
    """An index of its own, used only if no find-links folder offers the framework."""
    variables: tuple[tuple[str, str], ...] = ()
    """Environment variables the framework needs."""
    links: tuple[tuple[str, str], ...] = ()
    """Symbolic links (path, target) that its shared libraries need."""
    expected_versions: tuple[tuple[str, str], ...] = ()
    """Distribution and version which the finished environment must report, exactly or as a post-release."""
    cuda: CudaNeeds | None = None
    """The needs of its GPU build; None on CPUs, and where the catalog does not say."""
    library_folders: tuple[str, ...] = ()
    """Folders below `site-packages` with shared libraries that nothing finds there by itself."""

    @property
    def compile_cache(self) -> str | None:
        """Return the folder of a container for what the framework compiles, or None if it keeps nothing."""
        return dict(self.variables).get(COMPILE_CACHE)


@dataclass(frozen=True, slots=True)
class ImageSpec:
    """One environment for one system class, identified by its alias."""

    repository: str
    """`bench/mxnet`."""
    alias: str
    """`1.9.1-cpu`: the readable tag. The truth is alias + content hash, computed by `images`."""
    image_class: str
    framework: Framework
    environment: Environment
    """For the user's own image or Dockerfile: the builder alone, everything else comes from there."""

    @property
    def name(self) -> str:
        """Return the name of the image, of which `bench/mxnet:1.9.1-cpu` is an example."""
        return f"{self.repository}:{self.alias}"


@dataclass(frozen=True, slots=True)
class Cell(LaterFields):
    """One framework, one system, one workload, one set of options."""

    LATER: ClassVar[Mapping[str, Any]] = {"parity_batch": PARITY_BATCH, "frontier": None}

    id: str
    """Unique: selection, result paths, log lines, test ids and HTML anchors all use it."""
    framework: Framework
    system: System
    workload: Workload
    image: str
    """`ImageSpec.name` of the environment it runs in."""
    options: Options = ()
    """Every option of the framework with its value, defaults included."""
    duration: Duration = field(default_factory=Duration)
    timeout_s: float = 600.0
    repeats: int = 1
    expect: Status = Status.OK
    script: Script | None = None
    """The script that runs in place of a model. Its figures are never compared with measured ones."""
    definition: str = ""
    """SHA-256 of the framework's own definition of the model, empty if its builder makes the model."""
    output: OutputLimit = OutputLimit()
    parity_batch: int = PARITY_BATCH
    """The batch size of its parity check."""
    frontier: OwnFrontier = None
    """The frontier that it is a part of; None for a cell of its own."""

    @property
    def global_batch(self) -> int:
        """Return the samples of a step over all its devices."""
        return self.workload.global_batch(self.system)

    @property
    def samples_of_a_step(self) -> int:
        """Return what throughput counts of a step over all its devices, which is every token of a generation.

        Under load it counts requests.
        """
        tokens = self.workload.generation.output if self.workload.generation and not self.workload.load else 1
        return self.global_batch * tokens


@dataclass(frozen=True, slots=True)
class Skip:
    """A cell that the plan leaves out, with the reason."""

    cell_id: str
    reason: str


@dataclass(frozen=True, slots=True)
class Plan(LaterFields):
    """Everything that would run, decided without looking at a host."""

    LATER: ClassVar[Mapping[str, Any]] = {"profile": None, "study": None, "networks": ()}

    name: str
    seed: int
    images: tuple[ImageSpec, ...]
    cells: tuple[Cell, ...]
    skips: tuple[Skip, ...] = ()
    warnings: tuple[str, ...] = ()
    models: tuple[ModelFile, ...] = ()
    """The user's own models among those of the cells."""
    parity: bool = False
    """True if parity of the cells is checked. A plan from before this field says nothing of it."""
    data: tuple[MountedData, ...] = ()
    """Datasets of its cells that lie in folders of the user's own; filled in when a run begins."""
    definitions: tuple[ModelDefinition, ...] = ()
    """Frameworks' own definitions that its cells run, of the program's models and of the user's."""
    profile: Profile | None = None
    """The settings that took the place of the matrix's own; None without any."""
    study: Study | None = None
    """The published study whose claims the run is compared with."""
    networks: tuple[Network, ...] = ()
    """The user's exported networks among the models of the cells."""

    def network(self, model: str) -> Network | None:
        """Return the exported network of that name, or None for a model of the vocabulary."""
        return next((each for each in self.networks if each.name == model), None)

    def definition(self, model: str, sha256: str) -> ModelDefinition | None:
        """Return the definition that a cell of this model names, or None for the empty name."""
        return next((each for each in self.definitions if (each.model, each.sha256) == (model, sha256)), None)


@dataclass(frozen=True, slots=True)
class Outcome(LaterFields):
    """The end of one repeat of one cell."""

    LATER: ClassVar[Mapping[str, Any]] = {"ran_on": "", "beside": ""}

    cell_id: str
    repeat: int
    status: Status
    reason: str = ""
    """One line; empty only when `ok`."""
    log: str | None = None
    """Path of the log, relative to the run's folder; None where nothing was launched."""
    attempts: int = 1
    started_at: str = ""
    """ISO 8601, UTC."""
    wall_s: float = 0.0
    create_s: float | None = None
    """From asking for the container (or process) to its start."""
    exit_code: int | None = None
    image_id: str | None = None
    idle_wait_s: float | None = None
    """Spent waiting for the host to be idle; None where nobody waited."""
    busy: str = ""
    """The work that still went on at its launch, in one line; empty if the host was idle."""
    disturbed_blocks: int | None = None
    """Timed blocks that something else disturbed; None where that is not known."""
    disturbance: str = ""
    """One line, where its latency pass was disturbed, or so many blocks that the whole repeat counts as disturbed."""
    remeasured: int = 0
    """Earlier measurements of this repeat that were disturbed: they are kept next to this one, which counts."""
    not_remeasured: str = ""
    """The reason that measuring it again came to nothing, in one line; then this disturbed one counts after all."""
    log_omitted_bytes: int = 0
    """Of its output, what the bound of the log left out between its beginning and its end."""
    ran_on: str = ""
    """The UUIDs of the GPUs that it was given, separated by commas; empty without any."""
    beside: str = ""
    """The cells of its run that ran at any time beside it, and those of other runs at its begin or end, separated by
    commas; empty if it ran alone."""
