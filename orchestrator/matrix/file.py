"""The shape of `matrix.yaml` with its short forms, from which the JSON Schema for editors is made."""

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictBool,
    StrictFloat,
    StrictInt,
    model_validator,
)

from orchestrator import limits
from orchestrator.catalog.base_images import template_of_image
from orchestrator.domain import Mode, Status
from orchestrator.matrix.model import parse_pin
from orchestrator.matrix.own_data import Datasets
from orchestrator.matrix.scripts.files import checked_syntax
from orchestrator.matrix.subjects.shapes import with_sections
from orchestrator.matrix.values import kinds
from orchestrator.matrix.values.generations import GenerationShape
from orchestrator.matrix.values.kinds import (
    MODEL_MODES,
    Axis,
    Batch,
    Bytes,
    CudaText,
    ImageText,
    ModelBatch,
    ModelMode,
    Pins,
    PinText,
    Positive,
    PythonText,
    Scalar,
    Seconds,
    Text,
    Url,
    Versions,
    VersionText,
    Word,
)
from orchestrator.matrix.values.loads import LoadShape
from orchestrator.matrix.values.shapes import OutputEntry, SettingsShape, Shape, WorkShape, or_short
from orchestrator.modes import OF_SUBJECTS
from orchestrator.modes.parts.settings import Feed, Scaling
from orchestrator.modes.parts.sizes import AXES
from orchestrator.user_files import PrintedMetric, Take, Workdir

VERSION: Literal[1] = 1
SECTIONS = ("models", "scripts", *OF_SUBJECTS)
"""Sections of which a matrix has at least one."""
Argument = Annotated[Text, Field(pattern=kinds.ARGUMENT, max_length=kinds.MAX_TEXT)]
Workers = Annotated[StrictInt, Field(ge=0, le=limits.MAX_WORKERS)]
OptionLists = dict[str, Axis[Scalar]]
GpuName = Annotated[Text, Field(min_length=1, max_length=128)]
MigProfile = Annotated[Text, Field(pattern=r"^[1-9]g\.[1-9][0-9]*gb(\+[a-z0-9.]+)*$", max_length=32)]


class SystemEntry(Shape):
    """The requirements of a cell on its host. Nothing here is looked up on any host."""

    cpus: Annotated[StrictInt, Field(ge=1, le=limits.MAX_CPUS)] | None = Field(
        None, description="Size of the cpuset, and the frameworks' thread setting; left out: every CPU."
    )
    gpus: Annotated[StrictInt, Field(ge=0, le=limits.MAX_GPUS)] = Field(0, description="GPUs; 0 is a CPU system.")
    memory: Bytes | None = Field(None, description="Memory limit of the container: 8g, 512m, bytes.")
    gpu: GpuName | None = Field(None, description="Name of its GPUs, with * for any characters: '*H100*'.")
    gpu_memory: Bytes | None = Field(None, description="Least memory of each GPU: 40g, bytes.")
    mig: MigProfile | None = Field(None, description="Profile of the parts of GPUs that it takes: 1g.10gb.")


class FrameworkEntry(Shape):
    """A framework release, or several: any list is an axis."""

    model_config = ConfigDict(
        json_schema_extra=or_short(
            "Pip-style pin, for Keras with its backend.", ["mxnet==1.9.1", "keras-mxnet==2.2.4.3 on mxnet==1.5.1"]
        )
    )

    name: Word = Field(description="As `orchestrator frameworks` lists it.")
    version: Versions[VersionText] | None = Field(None, description="Release, or a list of releases.")
    backend: Pins[PinText] | None = Field(
        None, description="What Keras runs on: mxnet==1.5.1. What exports for an engine: torch==2.13.0."
    )
    python: Axis[PythonText] | None = Field(None, description="Python version; left out: the catalog's default.")
    packages: dict[Annotated[str, Field(pattern=kinds.DISTRIBUTION)], Versions[VersionText]] = Field(
        {}, description="Versions of other packages, over the catalog's pins."
    )
    options: OptionLists = Field({}, description="Options of this entry, over the matrix's.")
    image: ImageText | None = Field(None, description="Your own image, in place of the catalog's environment.")
    dockerfile: Annotated[Text, Field(min_length=1)] | None = Field(
        None, description="Your own Dockerfile, relative to this file."
    )
    expect: Status | None = Field(None, description="The outcome that is no failure here, such as oom_device.")

    @model_validator(mode="before")
    @classmethod
    def _from_pin(cls, value: object) -> object:
        if not isinstance(value, str):
            return value
        pin = parse_pin(value)
        if pin.versions and pin.version is None:
            raise ValueError(f"{value!r} must name one version with '=='; several are a list of versions")
        entry: dict[str, object] = {"name": pin.name}
        if pin.version:
            entry["version"] = pin.version
        if pin.backend:
            entry["backend"] = f"{pin.backend.name}{pin.backend.versions}"
        return entry


class DrawnEntry(Shape):
    """The values of an input of a network: `below` or `value`."""

    below: Annotated[StrictInt, Field(ge=1, le=2**31)] | None = Field(
        None, description="Whole numbers are drawn from 0 to below this."
    )
    value: Annotated[StrictInt | StrictFloat, Field(ge=-(2**31), le=2**31, allow_inf_nan=False)] | None = Field(
        None, description="Every value of the input."
    )


class ModelEntry(WorkShape, LoadShape, GenerationShape):
    """A model with its axes, and how it differs from the rest of the matrix."""

    model_config = ConfigDict(json_schema_extra=or_short("Name of a model.", ["lenet"]))

    name: Word = Field(description="As `orchestrator models` lists it; a name of yours with `file`.")
    file: Annotated[Text, Field(min_length=1)] | None = Field(
        None, description="An ONNX file of your own, relative to this file."
    )
    dimensions: dict[Annotated[Text, Field(min_length=1)], Annotated[StrictInt, Field(ge=1, le=limits.MAX_COUNT)]] = (
        Field({}, description="Sizes of the dynamic axes of `file`, by name, without that of the batch.")
    )
    inputs: dict[Annotated[Text, Field(min_length=1)], DrawnEntry] = Field(
        {}, description="What the inputs of `file` are drawn from, where the network does not tell."
    )
    batch_size: Axis[ModelBatch] | None = Field(
        None, description="Samples per step, max, or frontier alone; left out: the model's own."
    )
    dataset: Axis[Word] | None = Field(None, description="Left out: synthetic data.")
    feed: Axis[Feed] | None = Field(None, description="How batches reach the steps; left out: placed before them.")
    workers: Axis[Workers] | None = Field(
        None, description="Of the framework's own loader (feed: loader); 0 by default."
    )
    scaling: Axis[Scaling] | None = Field(
        None, description="On several GPUs, weak: batch_size on each (the default); strong: batch_size on all together."
    )

    size: Axis[Word] | None = Field(None, description="Size of a model that has several; left out: its first.")
    width: Axis[Positive] | None = Field(None, description=AXES["width"])
    depth: Axis[Positive] | None = Field(None, description=AXES["depth"])
    heads: Axis[Positive] | None = Field(None, description=AXES["heads"])
    shared_heads: Axis[Positive] | None = Field(None, description=AXES["shared_heads"])
    sequence: Axis[Positive] | None = Field(None, description=AXES["sequence"])
    vocabulary: Axis[Positive] | None = Field(None, description=AXES["vocabulary"])

    @property
    def axes(self) -> dict[str, tuple[int, ...]]:
        """Return the values of each axis that the entry sets in place of those of its size."""
        return {name: values for name in AXES if (values := getattr(self, name))}

    @model_validator(mode="before")
    @classmethod
    def _from_name(cls, value: object) -> object:
        return {"name": value} if isinstance(value, str) else value


class MetricEntry(Shape):
    """A figure that a script prints or writes into a file."""

    pattern: Annotated[Text, Field(min_length=1, max_length=kinds.MAX_PATTERN), AfterValidator(checked_syntax)] = Field(
        description="Regular expression, searched in each line; its group (or (?P<value>…)) is the number."
    )
    unit: Annotated[Text, Field(min_length=1, max_length=100, pattern=kinds.UNIT)] = Field(
        description="Such as samples/s."
    )
    better: PrintedMetric.Better = Field(description="higher or lower.")
    take: Take = Field(Take.ALL, description="Which matches count: all, first or last.")
    file: Annotated[Text, Field(min_length=1)] | None = Field(
        None, description="Looked for in this file of the working directory (workdir: copy); left out: in the output."
    )


class ScriptEntry(Shape):
    """A foreign script, run unchanged; its figures are its own."""

    name: Word = Field(description="A name of yours, as models have one.")
    file: Annotated[Text, Field(min_length=1)] = Field(
        description="The script, relative to this file; of its folder it sees itself and `files`, read-only."
    )
    files: list[Annotated[Text, Field(min_length=1)]] = Field(
        [], description="Further files that it needs: paths and patterns, relative to its folder.", examples=[["*.py"]]
    )
    workdir: Workdir = Field(Workdir.READ_ONLY, description="copy: each repeat gets a copy that it may write to.")
    arguments: Annotated[list[Argument], Field(max_length=kinds.MAX_ARGUMENTS)] = Field(
        [], description="Its command line."
    )
    environment: dict[Annotated[str, Field(pattern=kinds.VARIABLE)], Text] = Field(
        {}, description="Environment variables that it gets."
    )
    framework: Axis[PinText] | None = Field(None, description="Where it runs; left out: in every framework.")
    data: Word | None = Field(
        None, description="A dataset of files, whose read-only folder takes the place of {data} in its arguments."
    )
    packages: dict[Annotated[str, Field(pattern=kinds.DISTRIBUTION)], VersionText] = Field(
        {}, description="Further packages, each with its version, installed in an environment of their own."
    )
    metrics: dict[Annotated[str, Field(pattern=kinds.METRIC)], MetricEntry] = Field(
        min_length=1, description="What to take from its output, by name."
    )
    timeout: Seconds | None = Field(None, description="Of one container: 90s, 10m, 1h30m or seconds.")
    repeats: Annotated[StrictInt, Field(ge=1, le=limits.MAX_REPEATS)] | None = Field(
        None, description="Fresh containers."
    )
    output: OutputEntry | None = Field(None, description="The most that one repeat may leave in its folder.")
    expect: Status | None = Field(None, description="The outcome that is no failure here, such as timeout.")


class RuleEntry(LoadShape, GenerationShape):
    """Cells that match every key given; other keys are options of frameworks."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: OptionLists = Field(init=False)

    framework: Axis[PinText] | None = Field(None, description="mxnet, mxnet==1.9.1, mxnet<1.6, keras-mxnet on mxnet.")
    system: Axis[Word] | None = Field(None, description="Name of a system of this file.")
    model: Axis[Word] | None = Field(None, description="Name of a model.")
    mode: Axis[Mode] | None = Field(None, description=f"{' or '.join(MODEL_MODES)}.")
    batch_size: Axis[Batch] | None = Field(None, description="Samples per step, or max.")
    dataset: Axis[Word] | None = Field(None, description="Name of a dataset.")
    feed: Axis[Feed] | None = Field(None, description="placed, fed or loader.")
    workers: Axis[Workers] | None = Field(None, description="Workers of the framework's own loader.")
    scaling: Axis[Scaling] | None = Field(None, description="weak or strong, on several GPUs.")
    python: Axis[PythonText] | None = Field(None, description="Python version.")

    @property
    def options(self) -> OptionLists:
        """Return the values of each option that the rule names."""
        return self.__pydantic_extra__ or {}


class ExcludeEntry(RuleEntry):
    """Cells to leave out."""

    model_config = ConfigDict(extra="allow")

    reason: Annotated[Text, Field(min_length=1, max_length=500)] | None = Field(
        None, description="Why they are left out, for plan and reports."
    )


class IncludeEntry(RuleEntry, SettingsShape):
    """Settings for the cells it matches; with framework==version, system and model it also adds them."""

    model_config = ConfigDict(extra="allow")

    expect: Status | None = Field(None, description="The outcome that is no failure here, such as oom_device.")


class ProxyEntry(Shape):
    """Proxies by scheme."""

    model_config = ConfigDict(json_schema_extra=or_short("URL for http and https.", ["http://proxy.example:3128"]))

    http: Text | None = None
    https: Text | None = None
    no: Text | None = Field(None, description="Hosts that are reached directly, separated by commas.")

    @model_validator(mode="before")
    @classmethod
    def _from_url(cls, value: object) -> object:
        return {"http": value, "https": value} if isinstance(value, str) else value


class BuildEntry(Shape):
    """The sources of environments on this site. Nothing here changes what is measured."""

    base_image: Annotated[Text, Field(min_length=1), AfterValidator(template_of_image)] | None = Field(
        None, description="Template; {python} becomes 3.11. Default: of the catalog, for each Python."
    )
    base_images: dict[PythonText, Annotated[Text, Field(min_length=1), AfterValidator(template_of_image)]] = Field(
        {}, description="Templates for single Pythons, over base_image."
    )
    cuda_images: dict[CudaText, ImageText] = Field(
        {}, description="Images whose CUDA libraries are taken, by release of CUDA."
    )
    pip_index: Url | None = Field(None, description="Package index in place of PyPI.")
    extra_indexes: Axis[Url] | None = Field(None, description="Further package indexes.")
    find_links: Axis[Text] | None = Field(None, description="Folders or URLs with wheels; folders relative to here.")
    no_index: StrictBool = Field(False, description="Ask no package index at all, only find_links.")
    trusted_hosts: Axis[Text] | None = Field(None, description="Indexes taken without a valid certificate.")
    ca_bundle: Text | None = Field(None, description="Certificates (PEM) that builds trust; relative to this file.")
    proxy: ProxyEntry | None = Field(None, description="One URL, or one for each of http, https and no.")
    apt_mirror: Url | None = Field(None, description="Debian mirror.")
    registry: Text | None = Field(None, description="Prefix of base images and of those we build.")


class MatrixKeys(WorkShape):
    """Frameworks × systems × models × modes × options: what is benchmarked, and how."""

    version: Literal[1] = Field(description="Of this format.")
    name: Word | None = Field(None, description="Of the matrix; left out: the file's name.")
    seed: Annotated[StrictInt, Field(ge=0, lt=limits.MAX_SEED + 1)] = Field(
        0, description="Of the order of repeats, the data and the weights."
    )
    systems: dict[
        Annotated[str, Field(pattern=kinds.SYSTEM_NAME)],
        Annotated[SystemEntry, BeforeValidator(lambda value: {} if value is None else value)],
    ] = Field({"cpu": SystemEntry()}, min_length=1, description="What cells require of a host, under names of yours.")
    frameworks: list[FrameworkEntry] = Field(min_length=1, description="Pins, or mappings with axes.")
    models_folder: Annotated[Text, Field(min_length=1)] | None = Field(
        None, description="Folder with models of your own, NAME.py each, relative to this file."
    )
    models: list[ModelEntry] = Field([], min_length=1, description="Names, or mappings with axes.")
    scripts: list[ScriptEntry] = Field([], description="Foreign scripts, with the figures to take from their output.")
    data_folder: Annotated[Text, Field(min_length=1)] | None = Field(
        None, description="Folder that holds mnist/, cifar10/ and others, relative to this file; --data wins over it."
    )
    datasets: Datasets = Field({}, description="Datasets of your own, by name.")
    modes: Axis[ModelMode] = Field(
        MODEL_MODES[:1],
        description=f"{', '.join(MODEL_MODES)}, or {'both' if len(MODEL_MODES) == 2 else 'several'}.",
    )
    options: dict[str, OptionLists] = Field(
        {}, description="Axes of options by framework, or under '*' for every framework."
    )
    parity: StrictBool = Field(True, description="Check that cells that are compared do the same work.")
    exclude: list[ExcludeEntry] = Field([], description="Cells to leave out; they are shown as skipped.")
    include: list[IncludeEntry] = Field([], description="Cells to add, or to give settings of their own.")
    build: BuildEntry = Field(BuildEntry(), description="Where images come from on this site.")


if TYPE_CHECKING:
    MatrixFile = MatrixKeys
else:
    MatrixFile = with_sections(MatrixKeys, SettingsShape)
"""With a section for each mode that has subjects of its own."""
