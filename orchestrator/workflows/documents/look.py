"""The documents of runs, models and frameworks."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

from pydantic import TypeAdapter
from typing_extensions import TypedDict

from orchestrator.catalog import Entry, ModelInfo
from orchestrator.documents import DocumentKind, Envelope
from orchestrator.domain import Outcome
from orchestrator.results.contract import Result
from orchestrator.results.listing.index import RunSummary
from orchestrator.results.scripts.contract import ScriptResult
from orchestrator.workflows.look.runs import EndedRepeat, ShowResult


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownRepeat(Outcome):
    """The end of one repeat."""

    LATER: ClassVar[Mapping[str, Any]] = {**Outcome.LATER, "node": ""}

    node: str = ""
    """The node that measured it, in a run on a cluster; only there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadRepeat(ShownRepeat):
    """The end of one repeat with its result."""

    result: Result | ScriptResult | None
    """None if there is none that can be read."""
    problem: str
    """The reason that the result cannot be read; empty if it can."""


class OwnModelData(TypedDict):
    """The file of a model of the user's own."""

    sha256: str


class ModelData(TypedDict):
    """A model with its defaults."""

    name: str
    title: str
    input_shape: tuple[int, ...]
    classes: int
    batch_size: int
    samples: int
    optimizer: dict[str, str | float]
    sizes: dict[str, dict[str, int]]
    """Axes of each size, the default first; empty for most models."""
    own: OwnModelData | None
    definitions: dict[str, str]


RUNS = DocumentKind("runs", 1, list[RunSummary])
REPEATS = DocumentKind("repeats", 1, list[ShownRepeat])
REPEATS_OF_CELL = DocumentKind("repeats-of-cell", 1, list[ReadRepeat])
MODELS = DocumentKind("models", 1, list[ModelData])
FRAMEWORKS = DocumentKind("frameworks", 1, dict[str, Entry])
_OUTCOME = TypeAdapter(Outcome)


def runs_document(runs: Sequence[RunSummary]) -> Envelope:
    """Return the summaries of runs."""
    return RUNS.envelope([asdict(run) for run in runs])


def show_document(shown: ShowResult) -> Envelope:
    """Return the ends of the repeats of a run, or those of a cell with their results."""
    if not shown.cell:
        return REPEATS.envelope([_repeat(ended) for ended in shown.ended])
    return REPEATS_OF_CELL.envelope([_read_repeat(ended, shown) for ended in shown.ended])


def _repeat(ended: EndedRepeat) -> dict[str, Any]:
    return dict(_OUTCOME.dump_python(ended.outcome)) | ({"node": ended.node} if ended.node else {})


def _read_repeat(ended: EndedRepeat, shown: ShowResult) -> dict[str, Any]:
    result, problem = shown.result(ended)
    plain = result.model_dump(mode="json", by_alias=True) if result else None
    return _repeat(ended) | {"result": plain, "problem": problem}


def models_document(models: Sequence[ModelInfo]) -> Envelope:
    """Return models with their defaults."""
    return MODELS.envelope([_model(model) for model in models])


def _model(model: ModelInfo) -> ModelData:
    return {
        "name": model.name,
        "title": model.title,
        "input_shape": model.input_shape,
        "classes": model.classes,
        "batch_size": model.batch_size,
        "samples": model.samples,
        "optimizer": dict(model.optimizer),
        "sizes": {name: dict(axes) for name, axes in model.sizes.items()},
        "own": {"sha256": own.sha256} if (own := model.own or model.network) else None,
        "definitions": {each.builder: each.sha256 for each in model.definitions},
    }


def frameworks_document(entries: Mapping[str, Entry]) -> Envelope:
    """Return the frameworks of the catalog by name."""
    return FRAMEWORKS.envelope({name: entry.model_dump(mode="json") for name, entry in entries.items()})
