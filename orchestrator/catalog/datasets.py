"""What the host knows of the datasets that `benchmarks/datasets.py` feeds models with, and which models they suit."""

from dataclasses import dataclass
from math import isqrt

from orchestrator.catalog.models import ModelInfo


@dataclass(frozen=True, slots=True)
class DatasetInfo:
    """One dataset; synthetic data has no images and suits every model."""

    name: str
    image: tuple[int, int, int] | None = None
    """Channels, height, width."""
    classes: int = 0
    training: int = 0
    """Samples in an epoch."""


SYNTHETIC = DatasetInfo("synthetic")
DATASETS = {info.name: info for info in (SYNTHETIC, DatasetInfo("digits", (1, 8, 8), 10, 1437))}
"""By name; the first is the default."""


def unsuitable(dataset: DatasetInfo, model: ModelInfo, batch_size: int) -> str:
    """Say why a model cannot be trained on a dataset, in one line; empty where it can.

    The rule for images is that of `benchmarks/pictures.py`.
    """
    if dataset.image is None:
        return ""
    if not _fits(dataset.image, model.input_shape):
        image, taken = (" x ".join(map(str, extents)) for extents in (dataset.image, model.input_shape))
        return f"{dataset.name} ({image}) does not fit {model.name}, which takes {taken}"
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
