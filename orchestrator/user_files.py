"""The files of a user besides the matrix, which are scripts, models, networks and datasets."""

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, ClassVar

from pydantic import Field

from orchestrator.wording import clean_line


class Take(StrEnum):
    """The matches of a pattern that count."""

    ALL = "all"
    FIRST = "first"
    LAST = "last"


class Workdir(StrEnum):
    """The working directory of a script."""

    READ_ONLY = "read-only"
    """Its files as they were frozen, where the runtime can show them so."""
    COPY = "copy"
    """A copy of its files for each repeat, which it may write to."""


@dataclass(frozen=True, slots=True)
class PrintedMetric:
    """A figure that a script prints or writes into a file, and how to find it."""

    class Better(StrEnum):
        """The direction in which a printed figure is better."""

        HIGHER = "higher"
        LOWER = "lower"

    name: str
    pattern: str
    """A regular expression, searched in each line."""
    unit: str
    better: Better
    take: Take = Take.ALL
    file: Annotated[str, Field(exclude_if=lambda file: not file)] = ""
    """Below the working directory, with slashes; empty for what the script prints."""


DATA_PLACE = "{data}"
"""The place in the arguments and the environment of a script that the folder of its dataset takes."""


@dataclass(frozen=True, slots=True)
class ScriptFile:
    """A file of a script or a network, without its place on a host."""

    path: str
    """Below the folder of the script or the network, with slashes."""
    size_bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Script:
    """A foreign script, run unchanged. Its files are all of the host that it sees."""

    FOLDER: ClassVar[str] = "scripts"
    """In the folder of a run and of a bundle; it holds a folder for each script."""

    name: str
    metrics: tuple[PrintedMetric, ...]
    entry: str = ""
    """The one of the files that is run; it lies at the top of the script's folder."""
    files: tuple[ScriptFile, ...] = ()
    """The entry among them, by path; empty only in plans of earlier versions."""
    arguments: tuple[str, ...] = ()
    environment: tuple[tuple[str, str], ...] = ()
    path: str = ""
    """The place of the script on a host, in plans of earlier versions. It is shown, and never opened."""
    workdir: Annotated[Workdir, Field(exclude_if=lambda workdir: workdir is Workdir.READ_ONLY)] = Workdir.READ_ONLY

    @property
    def file(self) -> str:
        """The name of the file that is run, for people."""
        return self.entry or self.path.rpartition("/")[2]

    @property
    def has_copy(self) -> bool:
        """True if it asks for a copy of its files that it may write to."""
        return self.workdir is Workdir.COPY

    @property
    def size_bytes(self) -> int:
        """Of all its files."""
        return sum(file.size_bytes for file in self.files)


@dataclass(frozen=True, slots=True)
class NetworkInput:
    """An input of a network, with what its values are drawn from."""

    name: str
    kind: str
    """Its type as NumPy has it, such as `float32` or `int64`."""
    shape: tuple[int | None, ...]
    """None stands for the batch size."""
    below: int | None = None
    """Whole numbers are drawn from 0 to below this; None for numbers that are no whole ones, and with `value`."""
    value: Annotated[float | None, Field(exclude_if=lambda value: value is None)] = None
    """Every value of the input; None if they are drawn."""


@dataclass(frozen=True, slots=True)
class Network:
    """An exported network of the user's own, as the ONNX files that engines are given unchanged."""

    FOLDER: ClassVar[str] = "networks"
    """In the folder of a run and of a bundle; it holds a folder for each network."""

    name: str
    entry: str
    """The ONNX file among the files; others hold tensors that it names."""
    files: tuple[ScriptFile, ...]
    opset: int
    inputs: tuple[NetworkInput, ...]
    outputs: tuple[str, ...]
    parameters: int
    """Values of the tensors that are learned."""
    multiply_adds: int | None
    """Of one sample; None where the graph does not tell."""
    batch: str | None = None
    """Name of the dynamic axis that is the batch; None if the file has a fixed batch, or no name for it."""
    batch_size: int | None = None
    """The fixed batch of the file; None if it takes any."""
    dimensions: tuple[tuple[str, int], ...] = ()
    """Sizes of the other dynamic axes, by name."""

    @property
    def size_bytes(self) -> int:
        """Of all its files."""
        return sum(file.size_bytes for file in self.files)

    @property
    def sha256(self) -> str:
        """The SHA-256 of its one file, or that of the names and sums of several."""
        if len(self.files) == 1:
            return self.files[0].sha256
        listed = "".join(f"{file.sha256}  {file.path}\n" for file in sorted(self.files, key=lambda each: each.path))
        return hashlib.sha256(listed.encode()).hexdigest()


Frozen = Script | Network
"""Files of a user that are copied when a run begins, and seen by its cells as they were then."""


@dataclass(frozen=True, slots=True)
class ModelDefinition:
    """A framework's own definition of a model, as the whole file that goes to the container."""

    model: str
    builder: str
    """Module of `benchmarks/frameworks/` in whose place it makes the session."""
    source: str
    sha256: str
    """Of the source in UTF-8."""


@dataclass(frozen=True, slots=True)
class ModelFile:
    """A model of the user's own, as the whole file that goes to the container."""

    name: str
    source: str
    sha256: str
    """Of the source in UTF-8."""
    definitions: tuple[ModelDefinition, ...] = ()

    @property
    def files(self) -> dict[str, str]:
        """Every file of it in a folder of models, with its text."""
        defined = {f"{self.name}/{each.builder}.py": each.source for each in self.definitions}
        return {f"{self.name}.py": self.source, **defined}


@dataclass(frozen=True, slots=True)
class SequenceInput:
    """An input of a dataset that has a row of whole numbers for each sample, such as words or characters."""

    name: str
    length: int
    """Numbers in a row."""
    vocabulary: int
    """Numbers are smaller than this."""


@dataclass(frozen=True, slots=True)
class MountedData:
    """A dataset in a folder of the user's own, as it was when the run began."""

    name: str
    format: str
    """`idx`, `cifar-binary` or `cifar-python`."""
    folder: str
    """Absolute, on this host; containers see it read-only."""
    image: tuple[int, int, int] | None
    """Channels, height, width; None for rows of whole numbers."""
    classes: int
    training: int
    testing: int
    files: tuple[tuple[str, str], ...]
    """Name and sum (`sha256:…`, of the unpacked bytes), in the order in which they are read."""
    stand_in: Annotated[bool, Field(exclude_if=lambda stand_in: not stand_in)] = False
    """True if the files only have the right format."""
    inputs: Annotated[tuple[SequenceInput, ...], Field(exclude_if=lambda inputs: not inputs)] = ()
    """Rows of whole numbers; empty for images."""


def stand_in_warnings(every: Iterable[MountedData]) -> Iterator[str]:
    """Yield a warning for each dataset whose files only have its format."""
    for data in every:
        if data.stand_in:
            yield clean_line(
                f"the files of {data.name} were a stand-in, made by this program in their format: "
                "speeds are of the right amount of work, losses and accuracies say nothing of the dataset"
            )
