"""Stories, questions and answers in the format of Facebook's bAbI tasks (Weston et al. 2015) as rows of words.

A line is a number and a sentence, or a question with its answer and the lines that support it, divided by tabs. The
number 1 begins a new story. A sample is all that its story has said so far, one question, and the word that answers it.
Words are numbered from 1 in alphabetical order, of both files together, and rows are filled with 0 in front.
"""

import re
import tarfile
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from orchestrator.catalog import DatasetInfo
from orchestrator.datasets.idx import idx_files
from orchestrator.errors import InputError

_WORDS = re.compile(r"\w+|[^\w\s]+")
_NAMES = re.compile(r"qa2_[a-z0-9-]+_(train|test)\.txt")
_OF_1000 = "en"
"""The folder of the archive with a thousand English questions for each task."""


class _Sample(NamedTuple):
    story: list[str]
    question: list[str]
    answer: str


def converted(info: DatasetInfo, source: Path) -> dict[str, bytes]:
    """Return the idx files of the second task, from its archive or from a folder that holds its two files.

    The first input of the dataset is the story and the second the question. Raises `InputError` if there are no such
    files, or if they are not what the dataset's description says.
    """
    texts = _texts(source)
    if set(texts) != {"train", "test"}:
        raise InputError(f"{source}: holds no qa2_…_train.txt and qa2_…_test.txt, nor a folder en with them")
    parts = [list(_samples(source, texts[part])) for part in ("train", "test")]
    words = sorted({word for part in parts for each in part for word in (*each.story, *each.question, each.answer)})
    _check(info, source, parts, len(words) + 1)
    number = {word: position for position, word in enumerate(words, 1)}
    story, question = info.inputs
    arrays: list[NDArray[np.int64]] = []
    for part in parts:
        arrays += [_rows([each.story for each in part], number, story.length)]
        arrays += [_rows([each.question for each in part], number, question.length)]
        arrays += [np.array([number[each.answer] for each in part])]
    return idx_files(info, arrays)


def _check(info: DatasetInfo, source: Path, parts: list[list[_Sample]], vocabulary: int) -> None:
    """Raise `InputError` with every number that the description of the dataset has otherwise."""
    samples = [each for part in parts for each in part]
    longest = [max((len(each[place]) for each in samples), default=0) for place in range(2)]
    wanted = {"training": (info.training, len(parts[0])), "testing": (info.testing, len(parts[1]))}
    mistakes = [f"{key} is {said}, and there are {there}" for key, (said, there) in wanted.items() if said != there]
    for each, length in zip(info.inputs, longest, strict=True):
        if length > each.length:
            mistakes.append(f"length of {each.name} is {each.length}, and the longest has {length}")
        if vocabulary > each.vocabulary:
            mistakes.append(f"vocabulary of {each.name} is {each.vocabulary}, and {vocabulary} words are numbered")
    if vocabulary > info.classes:
        mistakes.append(f"classes is {info.classes}, and {vocabulary} words are numbered")
    if mistakes:
        raise InputError(*(f"{source}: {info.name}: {mistake}" for mistake in mistakes))


def _texts(source: Path) -> dict[str, str]:
    """Return the text to train with and that to test with, as far as they are there."""
    try:
        if source.is_dir():
            folder = source / _OF_1000 if (source / _OF_1000).is_dir() else source
            named = [(path.name, path.read_bytes()) for path in sorted(folder.iterdir()) if _NAMES.fullmatch(path.name)]
        else:
            named = list(_archived(source))
        return {_NAMES.sub(r"\1", name): content.decode() for name, content in named}
    except (OSError, EOFError, UnicodeDecodeError, zlib.error, tarfile.TarError) as error:
        raise InputError(f"{source}: cannot be read as an archive or folder of bAbI: {error}") from error


def _archived(source: Path) -> Iterator[tuple[str, bytes]]:
    with tarfile.open(source) as archive:
        for member in archive:
            path = PurePosixPath(member.name)
            stream = archive.extractfile(member) if _NAMES.fullmatch(path.name) else None
            if stream is not None and path.parent.name == _OF_1000:
                yield path.name, stream.read()


def _samples(source: Path, text: str) -> Iterator[_Sample]:
    story: list[str] = []
    for line in text.splitlines():
        number, _, said = line.partition(" ")
        if not number.isdigit() or not said:
            raise InputError(f"{source}: {line[:60]!r} is no line of bAbI, such as '1 Mary moved to the bathroom.'")
        if number == "1":
            story = []
        question, *answer = said.split("\t")
        if answer:
            yield _Sample(list(story), _WORDS.findall(question), answer[0])
        else:
            story += _WORDS.findall(said)


def _rows(texts: list[list[str]], number: dict[str, int], length: int) -> NDArray[np.int64]:
    """Return rows of numbers, filled with 0 in front."""
    rows = np.zeros((len(texts), length), np.int64)
    for row, words in zip(rows, texts, strict=True):
        if words:
            row[-len(words) :] = [number[word] for word in words]
    return rows
