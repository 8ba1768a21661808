"""A matrix as it was meant: every short form written out, every default filled in, every path absolute."""

from dataclasses import dataclass, field

from orchestrator.brought import Script
from orchestrator.catalog import DatasetInfo, ModelInfo
from orchestrator.domain import BuildSettings, Duration, Mode, OptionValue, OutputLimit, Status, System

OptionAxes = tuple[tuple[str, tuple[OptionValue, ...]], ...]
"""Option and its values, in the order of the file."""

EVERY_FRAMEWORK = "*"
"""Key of `options` that speaks of every framework."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What an entry sets over the matrix's own; None leaves it."""

    warmup_steps: int | None = None
    steps: int | None = None
    epochs: int | None = None
    timeout_s: float | None = None
    repeats: int | None = None
    expect: Status | None = None
    output_bytes: int | None = None
    output_files: int | None = None


@dataclass(frozen=True, slots=True)
class FrameworkAxes:
    """An entry of `frameworks`: one framework, every combination of its axes."""

    name: str
    versions: tuple[str, ...]
    backends: tuple[tuple[str, str], ...] = ()
    """Name and version of what it runs on; none for a framework of its own."""
    pythons: tuple[str, ...] = ()
    """None: the catalog's default."""
    packages: tuple[tuple[str, tuple[str, ...]], ...] = ()
    options: OptionAxes = ()
    """In place of the matrix's own for these options."""
    image: str | None = None
    dockerfile: str | None = None
    expect: Status | None = None
    place: str = field(default="", compare=False)
    """`matrix.yaml:12`, for messages."""


@dataclass(frozen=True, slots=True)
class ModelAxes:
    """An entry of `models`."""

    name: str
    batch_sizes: tuple[int, ...]
    datasets: tuple[str, ...]
    settings: Settings = Settings()
    place: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class ScriptAxes:
    """An entry of `scripts`."""

    script: Script
    folder: str
    """Absolute, on this host: where its files are read from when a run begins."""
    frameworks: tuple[str, ...] = ()
    """Pins of the frameworks that run it; none for every one."""
    settings: Settings = Settings()
    place: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Rule:
    """Which cells an entry of `exclude` or `include` speaks of: those that match every axis it names."""

    frameworks: tuple[str, ...] = ()
    """Pins, with or without versions; empty axes match everything."""
    systems: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    modes: tuple[Mode, ...] = ()
    batch_sizes: tuple[int, ...] = ()
    datasets: tuple[str, ...] = ()
    pythons: tuple[str, ...] = ()
    options: OptionAxes = ()
    place: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Include:
    """An entry of `include`: settings for the cells of its rule, which are added where it names them wholly."""

    rule: Rule
    settings: Settings


@dataclass(frozen=True, slots=True)
class Matrix:
    """A whole matrix file."""

    name: str
    seed: int
    systems: tuple[System, ...]
    frameworks: tuple[FrameworkAxes, ...]
    models: tuple[ModelAxes, ...]
    modes: tuple[Mode, ...]
    options: tuple[tuple[str, OptionAxes], ...]
    """By framework, family of flavours, or `*`."""
    repeats: int
    duration: Duration
    timeout_s: float
    output: OutputLimit = field(default_factory=OutputLimit)
    parity: bool = True
    """Whether it is checked that cells do the same work."""
    exclude: tuple[Rule, ...] = ()
    include: tuple[Include, ...] = ()
    build: BuildSettings = field(default_factory=BuildSettings)
    scripts: tuple[ScriptAxes, ...] = ()
    models_folder: str | None = None
    own_models: tuple[ModelInfo, ...] = field(default=(), compare=False)
    """Of that folder, beside those that ship with the program."""
    data_folder: str | None = None
    """Where datasets of the user's own lie, each in the folder of its name."""
    own_datasets: tuple[DatasetInfo, ...] = ()
    path: str = field(default="", compare=False)
    """Of the file, as the user wrote it."""
