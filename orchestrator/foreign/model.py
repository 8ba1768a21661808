"""The contents of a file of another benchmark tool, the same for every tool."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from orchestrator.modes.parts.metrics import Better


@dataclass(frozen=True, slots=True)
class ForeignSamples:
    """The values of one metric of a benchmark."""

    unit: str
    better: Better | None
    """None if the file does not say which way is better."""
    values: tuple[float, ...]
    """A value for each sample that is independent of the others, as far as the tool makes them so."""
    lacks: str = ""
    """The reason that there is one value and no sample, with the remedy; empty if there are samples."""
    note: str = ""
    """The reason that they are not independent, in one line."""


@dataclass(frozen=True, slots=True)
class ForeignBenchmark:
    """One benchmark with its metrics, the deciding one first."""

    name: str
    metrics: Mapping[str, ForeignSamples] = field(default_factory=dict)
    failure: str = ""
    """The reason that it has no figures; empty if it has."""
    note: str = ""


@dataclass(frozen=True, slots=True)
class ForeignFile:
    """All benchmarks of a file, by name."""

    path: Path
    tool: str
    """Its name, and its version if the file says it, such as `pyperf/2.11.0`."""
    benchmarks: Mapping[str, ForeignBenchmark]
    created_at: str = ""
    facts: Mapping[str, str] = field(default_factory=dict)
    """Facts of the host in the file, by the names that our own records use: `hostname`, `cpu`, `python` and others."""


@dataclass(frozen=True, slots=True)
class ForeignContents:
    """The findings of a format in a document, before the file has a place."""

    benchmarks: tuple[ForeignBenchmark, ...]
    version: str = ""
    created_at: str = ""
    facts: Mapping[str, str] = field(default_factory=dict)
