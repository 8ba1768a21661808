"""The model of a matrix, with every short form, default and path written out, and with its pins of frameworks.

An example of a pin is `keras-mxnet==2.2.4.3 on mxnet==1.5.1`, a framework and its backend for Keras.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion, Version

from orchestrator.build_settings import BuildSettings
from orchestrator.catalog import DatasetInfo, ModelInfo
from orchestrator.domain import Duration, Framework, Mode, OptionValue, OutputLimit, Status, System
from orchestrator.matrix.load_axes import LoadAxes
from orchestrator.modes.parts.largest_batch import BatchSize
from orchestrator.modes.parts.lengths import OUTPUT, PROMPT, Generation
from orchestrator.modes.parts.settings import Feed, Scaling, Shortening
from orchestrator.studies import Claim, Study
from orchestrator.user_files import Network, Script

_PIN = re.compile(r"(?P<name>[A-Za-z0-9][A-Za-z0-9._-]*?)\s*(?P<range>(?:[=<>!~]=?|===)\s*\S.*?)?", re.ASCII)
_ON = re.compile(r"\s+on\s+")


@dataclass(frozen=True, slots=True)
class Pin:
    """The name of a framework with a range of versions, and the same of its backend if it has one."""

    name: str
    versions: str = ""
    """The range as written, such as `==1.9.1` or `>=1.5,<1.6`; empty for any version."""
    backend: "Pin | None" = None

    @property
    def version(self) -> str | None:
        """Return the single version that `==` names, or None for a range."""
        match = re.fullmatch(r"==\s*([^,*=\s]+)", self.versions)
        return match[1] if match else None

    def holds(self, framework: Framework) -> bool:
        """Return true if the pin covers a framework."""
        if framework.name != self.name or not _within(framework.version, self.versions):
            return False
        if self.backend is None:
            return True
        return framework.backend is not None and self.backend.holds(framework.backend)


@lru_cache(maxsize=4096)
def _within(version: str, versions: str) -> bool:
    if not versions:
        return True
    if versions.replace(" ", "") == f"=={version}":
        # The version may be the tag of the user's own image, which need not be a version.
        return True
    try:
        return SpecifierSet(versions).contains(Version(version), prereleases=True)
    except (InvalidVersion, InvalidSpecifier):
        return False


def release_key(version: str) -> Version | str:
    """Return a value that all spellings of one release share, as `1.0` and `1` do.

    A text that is no version, such as a tag, is returned as it is.
    """
    try:
        return Version(version)
    except InvalidVersion:
        return version


def pin_key(text: str) -> tuple[str, Version | str]:
    """Return a value that all spellings of a backend's pin share, or raise `ValueError` for a text that is no pin."""
    pin = parse_pin(text)
    return pin.name, release_key(pin.version or pin.versions)


def parse_pin(text: str) -> Pin:
    """Read a pin, or raise `ValueError` with a sentence for people."""
    parts = _ON.split(text.strip())
    if len(parts) > 2:
        raise ValueError(f"{text!r} names more than one backend")
    pin = _parse_one(parts[0], text)
    return Pin(pin.name, pin.versions, _parse_one(parts[1], text)) if len(parts) == 2 else pin


def _parse_one(part: str, text: str) -> Pin:
    match = _PIN.fullmatch(part)
    if match is None:
        raise ValueError(f"{text!r} is no pin such as 'mxnet==1.9.1' or 'keras-mxnet==2.2.4.3 on mxnet==1.5.1'")
    versions = (match["range"] or "").strip()
    if versions and Pin(match["name"], versions).version is None:
        try:
            SpecifierSet(versions)
        except InvalidSpecifier:
            raise ValueError(f"{versions!r} in {text!r} is no range of versions such as '==1.9.1' or '<2'") from None
    return Pin(match["name"], versions)


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
    return not pin_texts or any(parse_pin(text).holds(framework) for text in pin_texts)


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
class GenerationAxes:
    """The lengths of an entry, or those that a rule names. An empty axis is at its default, or matches all."""

    prompts: tuple[int, ...] = ()
    outputs: tuple[int, ...] = ()

    @property
    def generations(self) -> tuple[Generation, ...]:
        """Return every pair of lengths."""
        return tuple(
            Generation(prompt, output) for prompt in self.prompts or (PROMPT,) for output in self.outputs or (OUTPUT,)
        )

    def hold(self, generation: Generation | None) -> bool:
        """Return true if lengths, or none, have a value of every axis that is not empty."""
        if generation is None:
            return self == GenerationAxes()
        pairs = ((self.prompts, generation.prompt), (self.outputs, generation.output))
        return all(not values or value in values for values, value in pairs)

    def over(self, other: "GenerationAxes") -> "GenerationAxes":
        """Return these axes, with those of `other` where these are empty."""
        return GenerationAxes(self.prompts or other.prompts, self.outputs or other.outputs)


@dataclass(frozen=True, slots=True)
class ModelAxes:
    """An entry of `models`."""

    name: str
    batch_sizes: tuple[BatchSize, ...]
    datasets: tuple[str, ...]
    settings: Settings = Settings()
    place: str = field(default="", compare=False)
    feeds: tuple[Feed, ...] = (Feed.PLACED,)
    workers: tuple[int, ...] = (0,)
    """Of the framework's own loader."""
    scalings: tuple[Scaling, ...] = (Scaling.WEAK,)
    load: LoadAxes = field(default_factory=LoadAxes)
    """Of the modes that take a load."""
    generation: GenerationAxes = GenerationAxes()
    """Of the modes that generate."""
    sizes: tuple[str, ...] = ()
    """Of a model that has sizes."""
    axes: tuple[tuple[str, tuple[int, ...]], ...] = ()
    """Axes in place of those of its sizes, each with its values."""

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
    batch_sizes: tuple[BatchSize, ...] = ()
    datasets: tuple[str, ...] = ()
    feeds: tuple[Feed, ...] = ()
    workers: tuple[int, ...] = ()
    scalings: tuple[Scaling, ...] = ()
    load: LoadAxes = field(default_factory=LoadAxes)
    generation: GenerationAxes = GenerationAxes()
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
    """The condition that both cells must match besides their own rule."""
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
    """The things that modes measure in place of models, such as operators."""
    models_folder: str | None = None
    own_models: tuple[ModelInfo, ...] = field(default=(), compare=False)
    """Models of that folder, in addition to those that ship with the program."""
    networks: tuple[tuple[Network, str], ...] = field(default=(), compare=False)
    """Exported networks, each with the folder of its files."""
    data_folder: str | None = None
    """The folder of the user's own datasets, each in the folder of its name."""
    own_datasets: tuple[DatasetInfo, ...] = ()
    study: StudyAxes | None = None
    """The published study that the matrix repeats, with its claims."""
    path: str = field(default="", compare=False)
    """The path of the file, as the user wrote it."""
