"""Files of other benchmark tools, recognised by what is in them and not by their names."""

import json
from collections import Counter
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from pydantic import ValidationError

from orchestrator.errors import MAX_LISTED, InputError, plain_words
from orchestrator.foreign.model import ForeignContents, ForeignFile
from orchestrator.wording import clean_line, listing

MOST_BYTES = 512 * 1024 * 1024
"""Of a file: one with more is no file of figures, or takes more memory than a judgement is worth."""


@dataclass(frozen=True, slots=True)
class ForeignFormat:
    """A format, whose module has `is_one(document)` and `contents(document)`."""

    tool: str
    module: str
    made_by: str
    """The command that makes such a file."""

    @property
    def reader(self) -> ModuleType:
        """The module that reads it, imported when it is needed."""
        return import_module(f"orchestrator.foreign.{self.module}")


FOREIGN_FORMATS = (
    ForeignFormat("pyperf", "pyperf", "python bench.py -o FILE"),
    ForeignFormat("pytest-benchmark", "pytest_benchmark", "pytest --benchmark-json=FILE"),
    ForeignFormat("hyperfine", "hyperfine", "hyperfine --export-json FILE …"),
    ForeignFormat("Google Benchmark", "google_benchmark", "--benchmark_out=FILE --benchmark_repetitions=10"),
    ForeignFormat("Bencher", "bencher", "Bencher Metric Format, or our own --format bencher"),
)
"""In the order in which a document is offered to them: the last takes any object of figures."""


def read(path: Path) -> ForeignFile:
    """Read a file of another tool. Raises `InputError` with every mistake in it."""
    document = _document(path)
    known = next((each for each in FOREIGN_FORMATS if each.reader.is_one(document)), None)
    if known is None:
        tools = listing([each.tool for each in FOREIGN_FORMATS])
        raise InputError(f"{path}: none of the formats that can be compared: {tools}")
    try:
        contents: ForeignContents = known.reader.contents(document)
    except ValidationError as error:
        raise InputError(*_mistakes(path, known, error)) from error
    except ValueError as error:
        raise InputError(f"{path}: {error}") from error
    return _file(path, known, contents)


def _document(path: Path) -> Any:
    try:
        if path.stat().st_size > MOST_BYTES:
            raise InputError(f"{path}: has more than {MOST_BYTES // 2**20} MiB; write fewer samples")
        return json.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from error
    except json.JSONDecodeError as error:
        raise InputError(f"{path}:{error.lineno}:{error.colno}: no JSON: {error.msg}") from error
    except (UnicodeDecodeError, RecursionError) as error:
        raise InputError(f"{path}: no JSON that can be read") from error


def _mistakes(path: Path, known: ForeignFormat, error: ValidationError) -> list[str]:
    each = error.errors(include_url=False, include_input=False)
    places = [(".".join(map(str, one["loc"])), plain_words(one["msg"])) for one in each]
    said = [clean_line(f"{path}: {place}: {words}") for place, words in places[:MAX_LISTED]]
    if len(each) > MAX_LISTED:
        said.append(f"{path}: {len(each) - MAX_LISTED} more mistakes")
    return [*said, f"{path}: no whole file of {known.tool}; make it again: {known.made_by}"]


def _file(path: Path, known: ForeignFormat, contents: ForeignContents) -> ForeignFile:
    if not contents.benchmarks:
        raise InputError(f"{path}: holds no benchmark; make it again: {known.made_by}")
    counts = Counter(each.name for each in contents.benchmarks)
    twice = [name for name, count in counts.items() if count > 1]
    if twice:
        raise InputError(
            *(f"{path}: {clean_line(name)!r} is there twice; give each benchmark its own name" for name in twice)
        )
    return ForeignFile(
        path=path,
        tool="/".join(filter(None, (known.tool, clean_line(contents.version)))),
        benchmarks={each.name: each for each in contents.benchmarks},
        created_at=clean_line(contents.created_at),
        facts={name: clean_line(value) for name, value in contents.facts.items() if value},
    )
