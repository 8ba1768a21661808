"""The entries of `models` that name an ONNX file, and the networks in these files."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from orchestrator import limits
from orchestrator.catalog import SYNTHETIC, ModelInfo
from orchestrator.catalog.source import Loc, Mistake, Source
from orchestrator.files import problem_of_path, says_where_it_leads
from orchestrator.matrix import file
from orchestrator.matrix.mistakes import entries
from orchestrator.modes.parts.settings import Feed, Scaling, Shortening
from orchestrator.networks import reading
from orchestrator.networks.drawn_values import Drawn
from orchestrator.user_files import Network

PARITY_BATCH = 8
"""Samples of a parity check of a network that takes any batch. No layer of it learns from its neighbours."""
_OF_LEARNING = {
    "dataset": (SYNTHETIC.name,), "feed": (Feed.PLACED,), "workers": (0,), "scaling": (Scaling.WEAK,),
}  # fmt: skip
"""Keys of models that learn, with the value that says nothing."""


@dataclass(slots=True)
class Exported:
    """The networks of a matrix."""

    models: dict[str, ModelInfo] = field(default_factory=dict)
    placed: tuple[tuple[Network, str], ...] = ()
    """Each network with the folder of its files."""
    mistakes: list[Mistake] = field(default_factory=list)
    broken: set[str] = field(default_factory=set)
    """Names of entries whose networks cannot be read."""


def of_matrix(source: Source, folder: Path, models: Mapping[str, ModelInfo]) -> Exported:
    """Read the networks that the entries of a matrix in `folder` name, none of which may be one of `models`."""
    exported, first = Exported(), dict[str, Loc]()
    for loc, entry in entries(source, "models", file.ModelEntry):
        if entry.file is None:
            exported.mistakes += _without_file(source, loc, entry)
            continue
        network, wrong = _read(source, loc, entry, folder)
        exported.mistakes += wrong
        if entry.name in models:
            text = f"a model {entry.name!r} is there already; give the network another name"
            exported.mistakes.append(source.mistake((*loc, "name"), text))
        elif network is None:
            exported.broken.add(entry.name)
        elif entry.name in first and exported.models[entry.name].network != network:
            line = source.place(first[entry.name]).line
            text = f"{entry.name} is another network on line {line}; give one of them another name"
            exported.mistakes.append(source.mistake(loc, text))
        elif entry.name not in first:
            first[entry.name] = loc
            exported.models[entry.name] = info(network)
            place = str((folder / entry.file).parent.absolute())
            exported.placed = (*exported.placed, (network, place))
    return exported


def info(network: Network) -> ModelInfo:
    """Return what is known of a network as a model."""
    batch = network.batch_size
    shape = tuple(
        size for size in network.inputs[0].shape[0 if network.inputs[0].shape[:1] != (None,) else 1 :] if size
    )
    return ModelInfo(
        name=network.name,
        title=f"{network.name} ({network.entry})",
        input_shape=shape,
        classes=1,
        batch_size=batch or 1,
        samples=limits.MAX_PARITY_BATCH,
        optimizer=MappingProxyType({}),
        shortening=Shortening(parity_batch=batch or PARITY_BATCH),
        network=network,
    )


def long_form(network: Network, folder: str) -> dict[str, Any]:
    """Return the keys of an entry with which the network is read again, as plain values for YAML."""
    drawn = {
        each.name: {"value": each.value} if each.value is not None else {"below": each.below}
        for each in network.inputs
        if each.value is not None or (each.below is not None and each.kind != "bool")
    }
    return {
        "file": str(Path(folder) / network.entry),
        **({"dimensions": dict(network.dimensions)} if network.dimensions else {}),
        **({"inputs": drawn} if drawn else {}),
    }


def _without_file(source: Source, loc: Loc, entry: file.ModelEntry) -> Iterator[Mistake]:
    for key in ("dimensions", "inputs"):
        if getattr(entry, key):
            yield source.mistake((*loc, key), "belongs to an ONNX file; add file: NAME.onnx, or drop this", key=True)


def _read(source: Source, loc: Loc, entry: file.ModelEntry, folder: Path) -> tuple[Network | None, list[Mistake]]:
    """Return the network of an entry, or None, and every mistake of the entry."""
    path = folder / str(entry.file)
    if problem := _unusable(path, str(entry.file), folder):
        return None, [source.mistake((*loc, "file"), problem)]
    wrong = [
        source.mistake((*loc, "inputs", name), "has below or value; keep one of them")
        for name, drawn in entry.inputs.items()
        if (drawn.below is None) == (drawn.value is None)
    ]
    asked = reading.NetworkFeed(
        entry.dimensions, {name: Drawn(each.below, each.value) for name, each in entry.inputs.items()}
    )
    network, mistakes = reading.read(path, entry.name, asked)
    wrong += [source.mistake((*loc, *each.keys), each.text + _remedy(each)) for each in mistakes]
    for key, default in _OF_LEARNING.items():
        if getattr(entry, key) not in {None, default}:
            text = "belongs to models that learn; an ONNX file is fed numbers by chance; drop this"
            wrong.append(source.mistake((*loc, key), text, key=True))
    fixed = network.batch_size if network else None
    if fixed and fixed > limits.MAX_PARITY_BATCH:
        text = f"the file has a fixed batch of {fixed:,}; export it with one of {limits.MAX_PARITY_BATCH:,} at most"
        wrong.append(source.mistake((*loc, "file"), text))
    for size in (entry.batch_size or ()) if fixed else ():
        if size != fixed:
            text = f"the file has a fixed batch of {fixed}, not {size}; export it with a dynamic axis"
            if network and network.batch:  # an axis of a given size is a multiple of the batch
                text = f"the sizes of its axes allow a batch of {fixed}, not {size}; give it an entry of its own"
            wrong.append(source.mistake((*loc, "batch_size"), text))
    return network, wrong


def _remedy(mistake: reading.NetworkMistake) -> str:
    what, name = mistake.lacks or ("", "")
    if what == "dimensions":
        return f"; give it, as in dimensions: {{{name}: {reading.example(name)}}}"
    if what == "inputs":
        return f"; write inputs: {{{name}: {{below: N}}}} for numbers from 0 to below N, or {{value: 1}} for ones"
    return ""


def _unusable(path: Path, text: str, folder: Path) -> str:
    """Return the reason that no network can be read from a file, or nothing."""
    try:
        there = path.is_file()
    except (OSError, ValueError):
        there = False
    if not there:
        return f"there is no file {text!r}; relative paths start at the folder of the matrix"
    if not says_where_it_leads(path, folder):
        return f"{text!r} leads out of the folder of the matrix through a link"
    problem = problem_of_path(path.name)
    return f"{path.name!r} cannot be carried: its name {problem}" if problem else ""
