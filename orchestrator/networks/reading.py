"""The way from an ONNX file to a `Network`, or to every mistake in how a matrix names it.

The package `onnx` takes a tenth of a second to import, so that only functions import it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from orchestrator import limits
from orchestrator.errors import InputError, did_you_mean
from orchestrator.files import problem_of_path, size_and_sum
from orchestrator.networks import axes, counting, drawn_values, tensors
from orchestrator.networks.axes import Dims
from orchestrator.networks.drawn_values import KINDS, Drawn
from orchestrator.user_files import Network, NetworkInput, ScriptFile

if TYPE_CHECKING:
    import onnx

_UNSEEN = ("!STRING", "!sequence_type", "!map_type", "!optional_type", "!sparse_tensor_type")
"""Types of outputs that cannot be compared."""


@dataclass(frozen=True, slots=True)
class NetworkFeed:
    """The parts of an entry of a matrix that say how a network is fed."""

    dimensions: Mapping[str, int] = field(default_factory=dict)
    inputs: Mapping[str, Drawn] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class NetworkMistake:
    """A mistake in an entry, with the keys on the way to it."""

    keys: tuple[str, ...]
    text: str
    lacks: tuple[str, str] | None = None
    """The key that is missing, `dimensions` or `inputs`, and the name that it lacks a value for."""


def read(path: Path, name: str, asked: NetworkFeed) -> tuple[Network | None, tuple[NetworkMistake, ...]]:
    """Read an ONNX file. Returns the network, or None with every mistake."""
    import onnx  # noqa: PLC0415

    try:
        if path.stat().st_size > limits.MAX_NETWORK_BYTES:  # before it is read into memory
            return None, (_too_large(),)
        model = onnx.load(str(path), load_external_data=False)
        if not model.graph.node:
            raise ValueError("it has no nodes")
    except OSError as error:
        return None, (NetworkMistake(("file",), f"{path.name!r} cannot be read: {error.strerror}"),)
    except Exception as error:  # protobuf raises classes of its own, which differ from release to release
        first = str(error).strip().splitlines()[:1]
        why = f": {first[0][:200]}" if first else ""
        return None, (NetworkMistake(("file",), f"{path.name!r} is no ONNX file{why}; export the network again"),)
    try:
        reader = _Reader(path, model, asked)
        mistakes = tuple(reader.mistakes())
        return (None, mistakes) if mistakes else (reader.network(name), ())
    except InputError:
        raise
    except Exception as error:  # a file may be wrong in any way, and each library says it in its own
        first = str(error).strip().splitlines()[:1]
        why = f"{path.name!r} is no sound network: {type(error).__name__}: {''.join(first)[:200]}"
        return None, (NetworkMistake(("file",), f"{why}; check it with onnx.checker, and export it again"),)


def _too_large() -> NetworkMistake:
    most = f"{limits.MAX_NETWORK_FILES:,} files and {limits.MAX_NETWORK_BYTES // 1024**3} GiB"
    return NetworkMistake(("file",), f"the network is larger than {most}")


class _Reader:
    """One file as it is read."""

    def __init__(self, path: Path, model: onnx.ModelProto, asked: NetworkFeed) -> None:
        self._path, self._model, self._asked = path, model, asked
        held = {each.name for each in model.graph.initializer}
        self._values = [value for value in model.graph.input if value.name not in held]
        self._dims = {value.name: _dims(value) for value in self._values}
        self._kinds = {value.name: _kind(value) for value in self._values}
        self._batch = axes.batch_axis(self._dims, asked.dimensions)

    def mistakes(self) -> Iterator[NetworkMistake]:
        """Yield every mistake of the file, and of what the entry says of it."""
        yield from self._mistakes_of_file()
        yield from self._mistakes_of_types()
        yield from self._mistakes_of_dimensions()
        yield from self._mistakes_of_inputs()

    def _mistakes_of_file(self) -> Iterator[NetworkMistake]:
        import onnx  # noqa: PLC0415

        newest = onnx.defs.onnx_opset_version()
        if self._opset() > newest:
            text = (
                f"its opset {self._opset()} is not known to the package onnx {onnx.__version__}, which ends at {newest}"
            )
            yield NetworkMistake(("file",), f"{text}; upgrade it, or export to an earlier opset")
        if _is_circular(self._model.graph):
            yield NetworkMistake(("file",), "its nodes wait for each other in a circle; export the network again")
        if not self._values:
            yield NetworkMistake(("file",), "the network has no input")
        for location in self._external():
            problem = _problem_of_location(self._path, location)
            if problem:
                yield NetworkMistake(("file",), f"it has tensors in the file {location!r}, which {problem}")
        paths = [self._path, *(self._path.parent / each for each in self._external())]
        size_bytes = sum(path.stat().st_size for path in paths if path.is_file())
        if len(paths) > limits.MAX_NETWORK_FILES or size_bytes > limits.MAX_NETWORK_BYTES:
            yield _too_large()

    def _mistakes_of_types(self) -> Iterator[NetworkMistake]:
        for name, kind in self._kinds.items():
            if kind.startswith("!"):
                text = f"its input {name!r} is of the type {kind[1:]}, which cannot be drawn"
                yield NetworkMistake(("file",), f"{text}; export it with tensors of numbers alone")
        for value in self._model.graph.output:
            if (kind := _kind(value)) in _UNSEEN:
                text = f"its output {value.name!r} is of the type {kind[1:]}, by which engines cannot be compared"
                remedy = "export it with tensors of numbers alone (from scikit-learn with zipmap=False)"
                yield NetworkMistake(("file",), f"{text}; {remedy}")

    def _mistakes_of_dimensions(self) -> Iterator[NetworkMistake]:
        named = dict.fromkeys(dim for dims in self._dims.values() for dim in dims if isinstance(dim, str))
        wanted = [dim for dim in named if dim != self._batch]
        for dim in self._asked.dimensions:
            if dim not in wanted:
                known = f"it has {', '.join(map(repr, wanted))}" if wanted else "it has none besides the batch"
                yield NetworkMistake(("dimensions", dim), f"the network has no dynamic axis {dim!r}; {known}")
        yield from self._mistakes_of_multiples()
        for dim in wanted:
            if dim not in self._asked.dimensions:
                where = next(name for name, dims in self._dims.items() if dim in dims)
                yield NetworkMistake(
                    ("file",), f"its input {where!r} has a dynamic axis {dim!r} without a size", ("dimensions", dim)
                )

    def _mistakes_of_multiples(self) -> Iterator[NetworkMistake]:
        given = self._asked.dimensions
        wrong = [(dim, times) for dim, times in axes.multiples(self._batch, given) if given[dim] % times]
        for dim, times in wrong:
            yield NetworkMistake(("dimensions", dim), f"{given[dim]} is no multiple of {times}")
        if not wrong and len(sizes := self._batch_sizes()) > 1:
            text = f"the sizes ask for batches of {' and '.join(map(str, sizes))}; let them agree on one"
            yield NetworkMistake(("dimensions",), text)

    def _batch_sizes(self) -> list[int]:
        """Return the batch sizes that sizes of its multiples ask for, in order."""
        given = self._asked.dimensions
        return sorted({given[dim] // times for dim, times in axes.multiples(self._batch, given)})

    def _mistakes_of_inputs(self) -> Iterator[NetworkMistake]:
        for name, drawn in self._asked.inputs.items():
            kind = self._kinds.get(name)
            if kind is None:
                hint = did_you_mean(name, tuple(self._kinds))
                yield NetworkMistake(("inputs", name), f"the network has no input {name!r}{hint}")
            elif not kind.startswith("!"):
                for problem in drawn_values.problems(kind, drawn):
                    yield NetworkMistake(("inputs", name), f"{name!r} {problem}")
        indexed = self._indexed()
        for name, kind in self._kinds.items():
            is_whole = kind != "bool" and not drawn_values.is_real(kind) and not kind.startswith("!")
            if is_whole and name not in self._asked.inputs and name not in indexed:
                text = f"its input {name!r} takes whole numbers, and nothing says which"
                yield NetworkMistake(("file",), text, ("inputs", name))

    def network(self, name: str) -> Network:
        """Return the network, of a file without a mistake."""
        allowed = self._batch_sizes() if self._batch else [axes.fixed_batch(self._dims, self._asked.dimensions)]
        files = tuple(
            ScriptFile(each, *size_and_sum(self._path.parent / each)) for each in (self._path.name, *self._external())
        )
        counted = counting.multiply_adds(self._model, self._sizes_of_one_sample())
        samples = 1 if self._batch else allowed[0]
        return Network(
            name=name,
            entry=self._path.name,
            files=files,
            opset=self._opset(),
            inputs=tuple(self._inputs()),
            outputs=tuple(each.name for each in self._model.graph.output),
            parameters=tensors.parameters(self._model),
            multiply_adds=None if counted is None else counted // (samples or 1),
            batch=self._batch,
            batch_size=allowed[0] if allowed else None,
            dimensions=tuple(sorted(self._asked.dimensions.items())),
        )

    def _sizes_of_one_sample(self) -> dict[str, int]:
        """Return the sizes of the dynamic axes in a batch of one. What is named as a multiple of it is that many."""
        sizes = {tensors.BATCH: 1, **self._asked.dimensions, **({self._batch: 1} if self._batch else {})}
        return sizes | dict(axes.multiples(self._batch, self._asked.dimensions))

    def _opset(self) -> int:
        return max((each.version for each in self._model.opset_import if each.domain in {"", "ai.onnx"}), default=0)

    def _inputs(self) -> Iterator[NetworkInput]:
        indexed, sizes = self._indexed(), self._asked.dimensions
        for name, dims in self._dims.items():
            drawn, kind = self._asked.inputs.get(name, Drawn()), self._kinds[name]
            shape = tuple(None if dim == self._batch else sizes[dim] if isinstance(dim, str) else dim for dim in dims)
            below = drawn.below if drawn.below is not None else None if drawn.value is not None else indexed.get(name)
            yield NetworkInput(name, kind, shape, 2 if kind == "bool" and drawn.value is None else below, drawn.value)

    def _external(self) -> tuple[str, ...]:
        """Return the files, relative to the ONNX file, in which tensors are stored, each once."""
        return tuple(dict.fromkeys(filter(None, map(tensors.location, tensors.every(self._model.graph)))))

    def _indexed(self) -> dict[str, int]:
        """Return the number of rows of the tables that whole-number inputs are indices into, by input."""
        rows = {each.name: each.dims[0] for each in self._model.graph.initializer if each.dims}
        same = {name: name for name in self._kinds}
        smallest: dict[str, int] = {}
        for node in self._model.graph.node:
            if node.op_type in ("Cast", "Identity", "Squeeze", "Unsqueeze", "Reshape") and node.input[0] in same:
                same[node.output[0]] = same[node.input[0]]
            axis = next((each.i for each in node.attribute if each.name == "axis"), 0)
            if node.op_type == "Gather" and axis == 0 and node.input[0] in rows and node.input[1] in same:
                name, count = same[node.input[1]], rows[node.input[0]]
                smallest[name] = min(count, smallest.get(name, count))
        return smallest


def _dims(value: onnx.ValueInfoProto) -> Dims:
    return tuple(tensors.axis(value, number) for number in range(len(value.type.tensor_type.shape.dim)))


def _kind(value: onnx.ValueInfoProto) -> str:
    """Return the type of an input as NumPy has it, or `!` and its name if it cannot be drawn."""
    import onnx  # noqa: PLC0415

    if not value.type.HasField("tensor_type"):
        return f"!{value.type.WhichOneof('value') or 'unknown'}"
    name: str = onnx.TensorProto.DataType.Name(value.type.tensor_type.elem_type)
    return KINDS.get(name, f"!{name}")


def _is_circular(graph: onnx.GraphProto) -> bool:
    """Return true if no order of the nodes lets each begin after those that it takes values of."""
    makers = {name: number for number, node in enumerate(graph.node) for name in node.output if name}
    order = TopologicalSorter(
        {number: {makers[name] for name in node.input if name in makers} for number, node in enumerate(graph.node)}
    )
    try:
        order.prepare()
    except CycleError:
        return True
    return False


def _problem_of_location(path: Path, location: str) -> str:
    """Return what is wrong with a file of tensors, or an empty text."""
    parts = PurePosixPath(location).parts
    if not parts or location.startswith("/") or ".." in parts:
        return "does not lie beside it"
    place = path.parent / location
    if not place.is_file():
        return "is missing; put it beside the ONNX file"
    if not place.resolve().is_relative_to(path.parent.resolve()):
        return "leads elsewhere through a link"
    problem = problem_of_path(location)
    return f"cannot be carried: its name {problem}" if problem else ""


def example(dim: str) -> int:
    """Return a usual size of a dynamic axis of that name."""
    return 224 if any(word in dim.lower() for word in ("height", "width")) else 128
