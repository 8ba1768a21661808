"""A network without what is learned, proved to have the shapes and the speed of the original."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from orchestrator.analysis.comparison import Comparison, compare
from orchestrator.catalog import Catalog, shipped_catalog
from orchestrator.domain import Status
from orchestrator.errors import HostError, InputError
from orchestrator.matrix.model import parse_pin
from orchestrator.networks import anonymise as method
from orchestrator.networks import counting, tensors
from orchestrator.networks.drawn_values import Drawn
from orchestrator.networks.reading import NetworkFeed, NetworkMistake, example, read
from orchestrator.networks.refusals import Choices, refusals
from orchestrator.results.store import Run
from orchestrator.results.throughput import throughput
from orchestrator.workflows import option_values
from orchestrator.workflows import run as runs
from orchestrator.workflows.host.host import Host
from orchestrator.workflows.option_values import RuntimeName

if TYPE_CHECKING:
    import onnx

    from orchestrator.user_files import Network

ENGINE = "onnxruntime"
REPEATS = 8
"""Blocks of the proof of speed, in each of which both networks are measured once."""
TOLERANCE = 0.02
MOST_BYTES = 1_800_000_000
"""Of one ONNX file; a larger network is written with its tensors in a file beside it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnonymiseOptions:
    """The options of `anonymise`."""

    file: Path
    """The ONNX file."""
    output: Path | None = None
    """The file to write, `NAME-anonymous.onnx` beside the original by default."""
    replace: Sequence[str] = ()
    """Tensors to replace that cannot be told apart."""
    keep: Sequence[str] = ()
    """Tensors to keep of those."""
    seed: int = 0
    """Of the numbers in place of what is learned."""
    dimensions: Mapping[str, int] = field(default_factory=dict)
    """Sizes of the dynamic axes, for the proofs."""
    inputs: Mapping[str, Drawn] = field(default_factory=dict)
    """The source of inputs where the network does not tell it, for the proof of speed."""
    batch_size: int | None = None
    """Samples of a step of the proof of speed; 1 by default, or the file's own."""
    engine: str | None = None
    """Pin of the engine that proves the speed; by default the newest known release of ONNX Runtime."""
    speed: bool = True
    """False to leave out the proof of speed."""
    repeats: int = REPEATS
    """Blocks of that proof."""
    runtime: RuntimeName = RuntimeName.AUTO
    """The place that the proof of speed runs in."""
    results: Path = option_values.RESULTS
    """The results folder, in which the run of the proof is kept."""


@dataclass(frozen=True, slots=True)
class AnonymiseResult:
    """A network that was written, with what was done to it and what was proved."""

    file: Path
    anonymised: method.Anonymised
    shapes: int
    """Values whose shapes were inferred, and are those of the original."""
    values: int
    """All values that the nodes of the network make."""
    engine: str = ""
    """The pin of the engine that was asked for the speed; empty if none was."""
    run: str = ""
    """The name of the run that measured it."""
    speed: Comparison | None = None
    """Throughput of the new network over that of the original; None if it was not measured."""


def anonymise(options: AnonymiseOptions, host: Host) -> AnonymiseResult:
    """Write a network without what is learned, after the proof of its shapes, and then prove its speed.

    Raises `InputError` with every mistake, with a line for everything that cannot be made anonymous or told apart, and
    if the file to write is there already; `HostError` if the speed cannot be measured here, for which the file is
    written already.

    Example: `anonymise(AnonymiseOptions(file=Path("ours.onnx"), speed=False), this_host()).file`
    """
    network = _read(options)
    if network.batch_size and options.batch_size not in {None, network.batch_size}:
        raise InputError(
            f"--batch-size {options.batch_size}: the network takes batches of {network.batch_size} alone; leave it out"
        )
    output = _output(options)
    engine = _engine(options, shipped_catalog()) if options.speed else ""
    original = method.prepared(_loaded(options.file))
    choices = Choices(frozenset(options.replace), frozenset(options.keep))
    if lines := refusals(original, choices):
        raise InputError(*(f"{options.file}: {line}" for line in lines))
    made = method.anonymised(original, choices, options.seed)
    if lines := method.left(original, made):
        why = "which is a fault of this program; nothing is written"
        raise InputError(*(f"{options.file}: {line}, {why}" for line in lines))
    shapes = _same_shapes(options, original, made, network)
    values = len(_outputs(original))
    _write(made.model, output)
    if not options.speed:
        return AnonymiseResult(output, made, shapes, values)
    batch_size = options.batch_size or network.batch_size
    run, speed = _speed(replace(options, batch_size=batch_size), engine, output, made, host)
    return AnonymiseResult(output, made, shapes, values, engine, run, speed)


def _read(options: AnonymiseOptions) -> Network:
    feed = NetworkFeed(options.dimensions, options.inputs)
    network, mistakes = read(options.file, "original", feed)
    if network is None:
        raise InputError(*(f"{options.file}: {each.text}{_remedy(each)}" for each in mistakes))
    return network


def _remedy(mistake: NetworkMistake) -> str:
    what, name = mistake.lacks or ("", "")
    if what == "dimensions":
        return f"; give it with --dimension {name}={example(name)}"
    if what == "inputs":
        return f"; give it with --input {name}=below:N for numbers from 0 to below N, or {name}=value:1 for ones"
    return ""


def _output(options: AnonymiseOptions) -> Path:
    output = options.output or options.file.with_name(f"{options.file.stem}-anonymous.onnx")
    for path in (output, _beside(output)):
        if os.path.lexists(path):
            raise InputError(f"{path}: is there already; name another file with --output, or move it away")
    if not output.parent.is_dir():
        raise InputError(f"{output.parent}: no such folder; create it first")
    return output


def _engine(options: AnonymiseOptions, catalog: Catalog) -> str:
    """Return the pin of the engine. Raises `InputError` for what runs no ONNX files."""
    if options.engine is None:
        return f"{ENGINE}=={catalog.newest_known(ENGINE)}"
    try:
        pin = parse_pin(options.engine)
    except ValueError as error:
        raise InputError(f"--engine: {error}") from None
    entry = catalog.entry(pin.name)
    if entry is None or not entry.networks or pin.version is None:
        able = " or ".join(f"{name}==VERSION" for name, each in catalog.entries.items() if each.networks)
        raise InputError(f"--engine {options.engine}: name an engine that runs ONNX files: {able}")
    return options.engine


def _loaded(path: Path) -> onnx.ModelProto:
    """Load a network with its tensors. Raises `InputError` for one that is not sound, of which nothing is known."""
    import onnx  # noqa: PLC0415 - takes a tenth of a second

    try:
        onnx.checker.check_model(str(path))
        # Functions are inlined before tensors beside the file are read, as 2 GiB is the most that can be one message.
        model = counting.inlined(onnx.load(str(path), load_external_data=False))
        onnx.load_external_data_for_model(model, str(path.parent))
        for tensor in tensors.every(model.graph):
            onnx.checker.check_tensor(tensor)
            tensors.require_values(tensor)
    except Exception as error:  # a file may be wrong in any way, and each library says it in its own
        why = "".join(str(error).strip().splitlines()[:1])[:200]
        raise InputError(f"{path}: is no sound network: {why}; export it again") from error
    return model


def _same_shapes(
    options: AnonymiseOptions, original: onnx.ModelProto, made: method.Anonymised, network: Network
) -> int:
    """Count the values of both networks whose shapes are inferred. Raises `InputError` if they differ."""
    sizes = {**dict(network.dimensions), tensors.BATCH: 1, network.batch or tensors.BATCH: 1}
    # A first axis without a name is called as the batch in both, whatever name an axis has now.
    renamed = {tensors.BATCH: sizes[tensors.BATCH], **{made.axis(name): size for name, size in sizes.items()}}
    before, after = counting.inferred(original, sizes), counting.inferred(made.model, renamed)
    names = zip(_outputs(original), _outputs(made.model), strict=True)
    pairs = [(name, before.get(name), after.get(other)) for name, other in names]
    wrong = [name for name, one, other in pairs if one != other]
    if wrong:
        raise InputError(f"{options.file}: {wrong[0]!r} would have another shape; nothing is written")
    return sum(one is not None for _, one, _ in pairs)


def _outputs(model: onnx.ModelProto) -> list[str]:
    return [name for node in model.graph.node for name in node.output]


def _beside(path: Path) -> Path:
    return path.with_name(f"{path.name}.data")


def _write(model: onnx.ModelProto, path: Path) -> None:
    """Write a network next to its place, check it, and rename it. Raises `HostError` if it cannot be written."""
    import onnx  # noqa: PLC0415

    try:
        with tempfile.TemporaryDirectory(dir=path.parent, prefix=f".{path.name}.") as folder:
            draft = Path(folder) / path.name
            if sum(len(each.raw_data) for each in tensors.every(model.graph)) > MOST_BYTES:
                onnx.save(model, str(draft), save_as_external_data=True, location=_beside(path).name)
            else:
                onnx.save(model, str(draft))
            onnx.checker.check_model(str(draft))
            if _beside(draft).exists():
                _beside(draft).replace(_beside(path))
            draft.replace(path)
    except OSError as error:
        raise HostError(f"{path}: cannot be written: {error.strerror}") from error
    except onnx.checker.ValidationError as error:
        why = f"it would be no sound network any more: {str(error).splitlines()[0]}"
        raise InputError(f"{path}: {why}, which is a fault of this program; nothing is written") from error


def _speed(
    options: AnonymiseOptions, engine: str, output: Path, made: method.Anonymised, host: Host
) -> tuple[str, Comparison | None]:
    """Measure both networks in turn. Return the run, and the ratio of their throughputs if both ended well."""
    with tempfile.TemporaryDirectory(prefix="anonymise-") as folder:
        matrix = _matrix(options, engine, output, made, Path(folder))
        result = runs.run(
            runs.RunOptions(file=matrix, runtime=options.runtime, results=options.results, repeats=options.repeats),
            host,
        )
    if result.stopped:
        raise HostError(f"{output}: written, and its speed is not proved; go on with: {result.resume_command}")
    cells = {cell.workload.model: cell.id for cell in result.run.plan().cells}
    samples = [_throughputs(result.run, cells[name], options.repeats) for name in ("original", "anonymous")]
    both = [pair for pair in zip(*samples, strict=True) if None not in pair]
    if not both:
        return result.run.name, None
    first, second = zip(*both, strict=True)
    return result.run.name, compare(
        first, second, tolerance=TOLERANCE, higher_is_better=True, confidence=0.95, equivalence=0.05, paired=True
    )


def _throughputs(run: Run, cell: str, repeats: int) -> list[float | None]:
    """Return the throughput of each repeat of a cell, None for one without a result."""
    values: list[float | None] = []
    for repeat in range(repeats):
        outcome = run.outcome(cell, repeat)
        result = run.result(outcome) if outcome and outcome.status is Status.OK else None
        values.append(throughput(result, epochs=False) if result else None)
    return values


def _matrix(options: AnonymiseOptions, engine: str, output: Path, made: method.Anonymised, folder: Path) -> Path:
    """Write a matrix of both networks into a folder, with the files that it names."""
    models = [
        _entry("original", _placed(options.file, folder / "original"), options, None),
        _entry("anonymous", _placed(output, folder / "anonymous"), options, made),
    ]
    document: dict[str, Any] = {
        "version": 1,
        "name": "anonymise",
        "systems": {"cpu": {}},
        "frameworks": [engine],
        "models": models,
        "modes": ["infer"],
        "parity": False,
    }
    path = folder / "matrix.yaml"
    path.write_text(yaml.safe_dump(document, sort_keys=False, allow_unicode=True), encoding="utf-8")
    return path


def _placed(file: Path, folder: Path) -> Path:
    """Copy an ONNX file with the files of its tensors into a folder. Return its place."""
    import onnx  # noqa: PLC0415

    folder.mkdir()
    model = onnx.load(str(file), load_external_data=False)
    for name in dict.fromkeys((file.name, *filter(None, map(tensors.location, tensors.every(model.graph))))):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file.parent / name, folder / name)
    return folder / file.name


def _entry(name: str, file: Path, options: AnonymiseOptions, made: method.Anonymised | None) -> dict[str, Any]:
    drawn = {
        made.inputs[each] if made else each: {"below": how.below} if how.below is not None else {"value": how.value}
        for each, how in options.inputs.items()
    }
    return {
        "name": name,
        "file": str(file),
        "dimensions": {made.axis(each) if made else each: size for each, size in options.dimensions.items()},
        "inputs": drawn,
        **({"batch_size": options.batch_size} if options.batch_size else {}),
    }
