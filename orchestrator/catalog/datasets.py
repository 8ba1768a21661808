"""The datasets of `benchmarks/inputs/datasets.py` as the host knows them, and the models that they suit."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isqrt

from orchestrator.catalog.model_files.models import ModelInfo
from orchestrator.resources import BENCHMARKS
from orchestrator.user_files import SequenceInput


@dataclass(frozen=True, slots=True)
class DatasetInfo:
    """A dataset, which suits every model if it is synthetic and so has neither images nor rows of whole numbers."""

    name: str
    image: tuple[int, int, int] | None = None
    """Channels, height, width."""
    classes: int = 0
    training: int = 0
    """Samples in an epoch."""
    testing: int = 0
    inputs: tuple[SequenceInput, ...] = ()
    """Rows of whole numbers; empty for images."""
    formats: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """The formats of a dataset in a folder of the user's, each with its members.

    A member has its published hash, or "" if there is none.
    """
    where: str = ""
    """The place where its files can be had."""
    own: bool = False
    """True if the matrix describes it."""


SYNTHETIC = DatasetInfo("synthetic")
DIGITS = DatasetInfo("digits", (1, 8, 8), 10, 1437, 360)


def _published() -> dict[str, DatasetInfo]:
    """Read the published datasets from `benchmarks/data/published.json`, which containers read too."""
    known = json.loads((BENCHMARKS / "data" / "published.json").read_text(encoding="utf-8"))
    return {
        name: DatasetInfo(
            name, tuple(entry["image"]), entry["classes"], entry["training"], entry["testing"],
            formats=entry["formats"], where=entry["where"],
        )
        for name, entry in known.items()
    }  # fmt: skip


DATASETS: Mapping[str, DatasetInfo] = {SYNTHETIC.name: SYNTHETIC, DIGITS.name: DIGITS, **_published()}
"""By name; the first is the default."""


def unsuitable(dataset: DatasetInfo, model: ModelInfo, batch_size: int) -> str:
    """Return the reason that a model cannot be trained on a dataset, in one line, or "" if it can.

    The rule for images is that of `benchmarks/inputs/pictures.py`. Of rows the plan sees the first input's shape, and
    `benchmarks/inputs/sequences.py` the rest.
    """
    if dataset.image is None and not dataset.inputs:
        return ""
    if dataset.image is not None:
        held, fits = " x ".join(map(str, dataset.image)), _fits(dataset.image, model.input_shape)
    else:
        held = ", ".join(f"{each.name} of {each.length} below {each.vocabulary}" for each in dataset.inputs)
        fits = _rows_fit(dataset.inputs, model.input_shape)
    if not fits:
        input_shape = " x ".join(map(str, model.input_shape))
        return f"{dataset.name} ({held}) does not fit {model.name}, which takes {input_shape}"
    if model.classes < dataset.classes:
        return f"{dataset.name} has {dataset.classes} classes; {model.name} tells {model.classes} apart"
    if batch_size > dataset.training:
        return f"a batch of {batch_size} is more than the {dataset.training} training samples of {dataset.name}"
    return ""


def _fits(image: tuple[int, int, int], shape: tuple[int, ...]) -> bool:
    channels, height, width = image
    if len(shape) == 1:
        side = isqrt(shape[0] // channels)
        shape = (channels, side, side) if channels * side * side == shape[0] else ()
    return len(shape) == 3 and shape[0] % channels == 0 and shape[1] >= height and shape[2] >= width


def _rows_fit(inputs: tuple[SequenceInput, ...], shape: tuple[int, ...]) -> bool:
    """Return whether a model takes the rows as they are, or one of them one-hot."""
    if len(shape) == 1:
        return any(shape == (each.length,) for each in inputs)
    one_hot = len(inputs) == 1 and len(shape) == 2 and shape[0] == inputs[0].length
    return one_hot and inputs[0].vocabulary <= shape[1]
