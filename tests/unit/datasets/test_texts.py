"""Windows of a text, each with the character that follows it."""

from pathlib import Path

import numpy as np
import pytest

from benchmarks.inputs import mounted
from orchestrator.catalog import DatasetInfo, examine, own_dataset
from orchestrator.datasets.converting import converted
from orchestrator.datasets.idx import write_folder
from orchestrator.errors import InputError
from orchestrator.user_files import SequenceInput
from tests.datasets_in_original_formats import asked_for

TEXT = "The Cat Sat. The Mat."
"""21 characters, of which nine are different in lower case."""


def described(length: int = 4, characters: int = 9, training: int = 4, testing: int = 2) -> DatasetInfo:
    rows = (SequenceInput("characters", length, characters),)
    return own_dataset(DatasetInfo("told", None, characters, training, testing, rows), "idx")


def test_windows_begin_at_every_third_character(tmp_path: Path) -> None:
    source = tmp_path / "told.txt"
    source.write_text(TEXT)
    write_folder(tmp_path / "told", converted(described(), source))

    data, problems = examine(described(), tmp_path / "told")

    assert problems == []
    assert data is not None
    split = mounted.load(asked_for(data))
    known = np.array(sorted(set(TEXT.lower())))
    windows = ["".join(known[row]) for part in (split.training, split.testing) for row in part[0]]
    assert windows == ["the ", " cat", "t sa", "at. ", " the", "e ma"]
    assert "".join(known[split.training_labels]) + "".join(known[split.testing_labels]) == "c tt t"


def test_every_mismatched_number_is_named(tmp_path: Path) -> None:
    """Every number that differs from that of the matrix is named."""
    source = tmp_path / "told.txt"
    source.write_text(TEXT)

    with pytest.raises(InputError, match="has 9 different characters; write vocabulary: 9 and classes: 9 at told"):
        converted(described(characters=8), source)
    with pytest.raises(InputError, match="makes 6 windows of 4 characters, and told has 4 \\+ 1"):
        converted(described(testing=1), source)


def test_what_is_no_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "bytes").write_bytes(b"\xff\xfe\x00")

    with pytest.raises(InputError, match="cannot be read as a text"):
        converted(described(), tmp_path / "bytes")
    with pytest.raises(InputError, match="is not there"):
        converted(described(), tmp_path / "absent.txt")
