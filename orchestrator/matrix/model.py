"""The model of a matrix, with every short form, default and path written out."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from orchestrator.catalog import DatasetInfo, ModelInfo
from orchestrator.domain import BuildSettings, Duration, Framework, Mode, OptionValue, OutputLimit, Status, System
from orchestrator.matrix import pins
from orchestrator.modes.parts.duration import Shortening
from orchestrator.modes.parts.feeds import Feed
from orchestrator.studies import Claim, Study
from orchestrator.user_files import Script

OptionAxes = tuple[tuple[str, tuple[OptionValue, ...]], ...]
"""Options with their values, in the order of the file."""

EVERY_FRAMEWORK = "*"
"""The key of `options` that stands for every framework."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings of an entry in place of those of the matrix, where None leaves the matrix's own."""

    warmup_steps: int | None = None
    steps: int | None = None
    epochs: int | None = None
    timeout_s: float | None = None
    repeats: int | None = None
    expect: Status | None = None
    output_bytes: int | None = None
    output_files: int | None = None
    shortening: Shortening = field(default_factory=Shortening)


def covers(pin_texts: Sequence[str], framework: Framework) -> bool:
    """Return true if a framework is covered by any of some pins, or if there is none."""
    return not pin_texts or any(pins.parse(text).holds(framework) for text in pin_texts)


@dataclass(frozen=True, slots=True)
class FrameworkAxes:
    """An entry of `frameworks`, which stands for one framework in every combination of its axes."""

    name: str
    versions: tuple[str, ...]
    backends: tuple[tuple[str, str], ...] = ()
    """Name and version of each backend; empty for a framework that runs by itself."""
    pythons: tuple[str, ...] = ()
    """Empty for the catalog's default."""
    packages: tuple[tuple[str, tuple[str, ...]], ...] = ()
    options: OptionAxes = ()
    """Replace the matrix's own values of these options."""
    image: str | None = None
    dockerfile: str | None = None
    expect: Status | None = None
    place: str = field(default="", compare=False)
    """The place in the file for messages, such as `matrix.yaml:12`."""


@dataclass(frozen=True, slots=True)
class ModelAxes:
    """An entry of `models`."""

    name: str
    batch_sizes: tuple[int, ...]
    datasets: tuple[str, ...]
    settings: Settings = Settings()
    place: str = field(default="", compare=False)
    feeds: tuple[Feed, ...] = (Feed.PLACED,)
    workers: tuple[int, ...] = (0,)
    """Of the framework's own loader."""

    @property
    def fed(self) -> tuple[tuple[Feed, int], ...]:
        """Return every feed with its number of workers, which only the framework's own loader has."""
        return tuple(
            (feed, workers) for feed in self.feeds for workers in (self.workers if feed is Feed.LOADER else (0,))
        )


@dataclass(frozen=True, slots=True)
class ScriptAxes:
    """An entry of `scripts`."""

    script: Script
    folder: str
    """The absolute path on this host from which the files are read when a run begins."""
    frameworks: tuple[str, ...] = ()
    """Pins of the frameworks that run it; empty for all."""
    settings: Settings = Settings()
    place: str = field(default="", compare=False)
    packages: tuple[tuple[str, str], ...] = ()
    """Further packages, each with its version, over those of the framework's entry."""
    dataset: str = ""
    """The dataset whose folder it is shown; empty for none."""


@dataclass(frozen=True, slots=True)
class SubjectAxes:
    """An entry of the section of a mode that has subjects of its own."""

    mode: Mode
    names: tuple[str, ...]
    axes: tuple[tuple[str, tuple[int, ...]], ...] = ()
    """Those that it sets. Others have the values that the mode gives to each subject."""
    settings: Settings = Settings()
    place: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Rule:
    """The cells that an entry of `exclude` or `include` covers, by the axes that they must match."""

    frameworks: tuple[str, ...] = ()
    """Pins, with or without versions. An empty axis matches everything."""
    systems: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    modes: tuple[Mode, ...] = ()
    batch_sizes: tuple[int, ...] = ()
    datasets: tuple[str, ...] = ()
    feeds: tuple[Feed, ...] = ()
    workers: tuple[int, ...] = ()
    pythons: tuple[str, ...] = ()
    options: OptionAxes = ()
    axes: OptionAxes = ()
    """Those of operators, such as `size`."""
    reason: str = ""
    """The reason that an entry of `exclude` gives."""
    place: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Include:
    """An entry of `include`, with settings for the cells of its rule.

    A rule that names whole cells also adds them.
    """

    rule: Rule
    settings: Settings


@dataclass(frozen=True, slots=True)
class ClaimedCells:
    """An entry of `claims`, with the rules of its two cells, which planning replaces by their ids."""

    claim: Claim
    """Without the ids of its cells."""
    both: Rule
    """What both cells must match besides their own rule."""
    of: Rule
    over: Rule


@dataclass(frozen=True, slots=True)
class StudyAxes:
    """The sections `study` and `claims`."""

    study: Study
    """Without its claims."""
    claims: tuple[ClaimedCells, ...] = ()


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
    shortening: Shortening = field(default_factory=Shortening)
    """Written at the top of the file. Entries of models have it too, over what their files say."""
    parity: bool = True
    """True if a run checks that cells do the same work."""
    exclude: tuple[Rule, ...] = ()
    include: tuple[Include, ...] = ()
    build: BuildSettings = field(default_factory=BuildSettings)
    scripts: tuple[ScriptAxes, ...] = ()
    subjects: tuple[SubjectAxes, ...] = ()
    """What modes measure in place of models, such as operators."""
    models_folder: str | None = None
    own_models: tuple[ModelInfo, ...] = field(default=(), compare=False)
    """Models of that folder, in addition to those that ship with the program."""
    data_folder: str | None = None
    """The folder of the user's own datasets, each in the folder of its name."""
    own_datasets: tuple[DatasetInfo, ...] = ()
    study: StudyAxes | None = None
    """The published study that the matrix repeats, with its claims."""
    path: str = field(default="", compare=False)
    """The path of the file, as the user wrote it."""
