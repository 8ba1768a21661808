"""The section `datasets` of a matrix, which describes the datasets of a user's own."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, StrictInt, TypeAdapter, ValidationError

from orchestrator.catalog import DATASETS, DatasetInfo, own_dataset
from orchestrator.catalog.source import Loc, Mistake, Source
from orchestrator.errors import InputError
from orchestrator.files import says_where_it_leads
from orchestrator.matrix.model import Matrix
from orchestrator.matrix.values import kinds
from orchestrator.matrix.values.kinds import Positive
from orchestrator.matrix.values.shapes import Shape
from orchestrator.user_files import SequenceInput

_MOST_CIFAR_CLASSES = 256


class RowsEntry(Shape):
    """A row of whole numbers for each sample, such as the words of a story or the characters of a text."""

    length: Annotated[StrictInt, Field(ge=1, le=65536)] = Field(description="Numbers in a row.")
    vocabulary: Annotated[StrictInt, Field(ge=2, le=32767)] = Field(description="Numbers are smaller than this.")


class DatasetEntry(Shape):
    """A dataset of your own, in a published format; its files lie in the folder of its name in the data folder."""

    format: Literal["idx", "cifar-binary"] = Field(description="idx (as MNIST) or cifar-binary (as CIFAR-10).")
    image: Annotated[list[Annotated[StrictInt, Field(ge=1, le=4096)]], Field(min_length=3, max_length=3)] | None = (
        Field(None, description="Channels, height, width.", examples=[[1, 28, 28]])
    )
    inputs: Annotated[dict[Annotated[str, Field(pattern=kinds.INPUT)], RowsEntry], Field(min_length=1)] | None = Field(
        None,
        description="In place of image, for format idx: rows of whole numbers, by the names of the model's inputs.",
        examples=[{"story": {"length": 552, "vocabulary": 36}}],
    )
    classes: Annotated[StrictInt, Field(ge=2, le=32767)] = Field(description="Labels are smaller than this.")
    training: Positive = Field(description="Samples to train with.")
    testing: Positive = Field(description="Samples to test with.")


Datasets = dict[Annotated[str, Field(pattern=kinds.DATASET)], DatasetEntry]
_DATASETS = TypeAdapter(Datasets)


def mistakes(source: Source) -> Iterator[Mistake]:
    """Find what the fields of a dataset say against each other, and names that are taken."""
    section = source.value.get("datasets")
    for name, entry in section.items() if isinstance(section, dict) else ():
        loc: Loc = ("datasets", name)
        if name in DATASETS:
            yield source.mistake(loc, f"a dataset {name!r} is there already; call yours otherwise", key=True)
        if not isinstance(entry, dict):
            continue
        if ("image" in entry) == ("inputs" in entry):
            yield source.mistake(loc, "a dataset has either an image (channels, height, width) or inputs")
        if entry.get("format") == "cifar-binary":
            if "inputs" in entry:
                yield source.mistake((*loc, "inputs"), "cifar-binary holds images; inputs need format: idx")
            classes = entry.get("classes")
            if isinstance(classes, int) and classes > _MOST_CIFAR_CLASSES:
                text = f"cifar-binary has a byte for a label, so {_MOST_CIFAR_CLASSES} classes at most"
                yield source.mistake((*loc, "classes"), text)


def resolved(described: Mapping[str, DatasetEntry]) -> tuple[DatasetInfo, ...]:
    """Return what is known of each dataset without its files."""
    return tuple(_resolved(name, entry) for name, entry in described.items())


def _resolved(name: str, entry: DatasetEntry) -> DatasetInfo:
    channels, height, width = entry.image or (0, 0, 0)
    described = DatasetInfo(
        name,
        (channels, height, width) if entry.image else None,
        entry.classes,
        entry.training,
        entry.testing,
        tuple(SequenceInput(each, rows.length, rows.vocabulary) for each, rows in (entry.inputs or {}).items()),
    )
    return own_dataset(described, entry.format)


def own_datasets(document: Mapping[str, Any]) -> tuple[DatasetInfo, ...]:
    """Return the datasets that a matrix in its long form describes, without reading any file of this host.

    Raises `InputError` if a description is not one that a matrix may hold: its name becomes that of a folder.
    """
    try:
        described = _DATASETS.validate_python(document.get("datasets") or {})
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(ascii(part)[:60] for part in first["loc"])
        raise InputError(f"datasets of the matrix: {where}: {first['msg']}") from error
    return resolved(described)


def long_form(info: DatasetInfo) -> dict[str, Any]:
    """Return the entry of a dataset with every field written out."""
    rows = {each.name: {"length": each.length, "vocabulary": each.vocabulary} for each in info.inputs}
    return {
        "format": next(iter(info.formats)),
        **({"image": list(info.image)} if info.image else {"inputs": rows}),
        "classes": info.classes,
        "training": info.training,
        "testing": info.testing,
    }


def astray(place: Path, matrix: Matrix) -> list[str]:
    """Return the mistake of a dataset in the matrix's own data folder that a link leads out of, or none."""
    if matrix.data_folder != str(place.parent) or says_where_it_leads(place, Path(matrix.path).parent):
        return []
    return [f"{place}: leads out of the folder of the matrix through a link, to {place.resolve()}; allow it by --data"]
