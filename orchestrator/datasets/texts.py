"""Characters of a text file as a dataset: each sample is a window of them, and its class is the character that follows.

The text is taken in lower case, and its different characters are numbered in their order. A window begins at every
third character, as in Keras' example of text generation. The last windows are those to test with.
"""

from pathlib import Path

import numpy as np

from orchestrator.catalog import DatasetInfo
from orchestrator.datasets.idx import idx_files
from orchestrator.errors import InputError

STEP = 3


def converted(info: DatasetInfo, source: Path) -> dict[str, bytes]:
    """Return the idx files of a text in UTF-8.

    Raises `InputError` if the text is not what the dataset's description says.
    """
    try:
        text = source.read_text(encoding="utf-8").lower()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{source}: cannot be read as a text: {error}") from error
    (window,), characters = info.inputs, sorted(set(text))
    if len(characters) > min(window.vocabulary, info.classes):
        raise InputError(
            f"{source}: has {len(characters)} different characters; write vocabulary: {len(characters)} and "
            f"classes: {len(characters)} at {info.name}"
        )
    starts = np.arange(0, max(0, len(text) - window.length), STEP)
    if len(starts) != info.training + info.testing:
        raise InputError(
            f"{source}: makes {len(starts)} windows of {window.length} characters, and {info.name} has "
            f"{info.training} + {info.testing}; write training and testing that add up to {len(starts)}"
        )
    number = {character: position for position, character in enumerate(characters)}
    numbers = np.array([number[character] for character in text])
    rows, labels = numbers[starts[:, None] + np.arange(window.length)], numbers[starts + window.length]
    cut = info.training
    return idx_files(info, [rows[:cut], labels[:cut], rows[cut:], labels[cut:]])
