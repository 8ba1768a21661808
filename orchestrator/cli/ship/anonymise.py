"""The command `anonymise`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from orchestrator.cli.options import Json, Results, RuntimeOption, examples
from orchestrator.cli.output import speech, tables
from orchestrator.cli.output.hosts import this_host
from orchestrator.errors import InputError
from orchestrator.workflows import option_values
from orchestrator.workflows.option_values import RuntimeName

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.table import Table

    from orchestrator.networks.attributes import KeptAttribute
    from orchestrator.networks.drawn_values import Drawn
    from orchestrator.workflows.networks.anonymise import AnonymiseResult

Network = Annotated[Path, typer.Argument(metavar="FILE", help="The ONNX file.", show_default=False)]
Output = Annotated[
    Path | None,
    typer.Option("-o", "--output", metavar="FILE", help="The file to write; by default NAME-anonymous.onnx beside it."),
]
Replace = Annotated[
    list[str], typer.Option("--replace", metavar="NAME", help="Replace a tensor that cannot be told apart.")
]
Keep = Annotated[list[str], typer.Option("--keep", metavar="NAME", help="Keep a tensor that cannot be told apart.")]
Seed = Annotated[int, typer.Option("--seed", min=0, help="Of the numbers in place of what is learned.")]
Dimension = Annotated[
    list[str], typer.Option("--dimension", metavar="NAME=SIZE", help="Size of a dynamic axis, for the proofs.")
]
Input = Annotated[
    list[str],
    typer.Option(
        "--input", metavar="NAME=below:N|value:V", help="What a whole-number input takes in the proof of speed."
    ),
]
BatchSize = Annotated[int | None, typer.Option("--batch-size", min=1, help="Samples of a step of the proof of speed.")]
Engine = Annotated[
    str | None,
    typer.Option("--engine", metavar="PIN", help="Engine of that proof; by default the newest ONNX Runtime."),
]
Speed = Annotated[bool, typer.Option("--speed/--no-speed", help="Prove that the speed is that of the original.")]
Repeats = Annotated[int, typer.Option("--repeats", min=2, help="Blocks of that proof.")]
_REPEATS = 8
_MOST_SINGLE = 5
"""Single numbers up to which each has a row; an export may hold hundreds."""


def register(app: typer.Typer) -> None:
    """Add the command."""
    shown = examples(
        "orchestrator anonymise ours.onnx",
        "orchestrator anonymise words.onnx --dimension sequence=128 --input mask=value:1 -o shown.onnx",
    )
    app.command("anonymise", epilog=shown)(anonymise)


def anonymise(
    file: Network,
    output: Output = None,
    replace: Replace = [],
    keep: Keep = [],
    seed: Seed = 0,
    dimension: Dimension = [],
    input_values: Input = [],
    batch_size: BatchSize = None,
    engine: Engine = None,
    speed: Speed = True,
    repeats: Repeats = _REPEATS,
    runtime: RuntimeOption = RuntimeName.AUTO,
    results: Results = option_values.RESULTS,
    json: Json = False,
) -> None:
    """Write a network without what is learned and without its names, and prove its shapes and its speed.

    Exit 1 where the speed is another one, or is not shown to be the same.
    """
    from orchestrator.workflows.documents.networks import anonymised_document
    from orchestrator.workflows.networks import anonymise as workflow

    options = workflow.AnonymiseOptions(
        file=file, output=output, replace=replace, keep=keep, seed=seed, dimensions=_sizes(dimension),
        inputs=_drawn(input_values), batch_size=batch_size, engine=engine, speed=speed, repeats=repeats,
        runtime=runtime, results=results,
    )  # fmt: skip
    result = workflow.anonymise(options, this_host())
    if json:
        speech.print_document(anonymised_document(result))
    else:
        _show(result)
    if result.engine and (result.speed is None or result.speed.verdict != "same"):
        raise typer.Exit(1)


def _sizes(texts: list[str]) -> dict[str, int]:
    """Return sizes by name. Raises `InputError` for a text that is none."""
    pairs = [text.rpartition("=") for text in texts]
    wrong = [
        text
        for text, (name, _, size) in zip(texts, pairs, strict=True)
        if not name or not size.isdecimal() or int(size) == 0
    ]
    if wrong:
        raise InputError(*(f"--dimension {text}: write NAME=SIZE, such as sequence=128" for text in wrong))
    return {name: int(size) for name, _, size in pairs}


def _drawn(texts: list[str]) -> "dict[str, Drawn]":
    """Return what inputs are drawn from, by name. Raises `InputError` for a text that does not say it."""
    drawn, wrong = {}, []
    for text in texts:
        name, _, said = text.rpartition("=")
        kind, _, number = said.partition(":")
        try:
            drawn[name] = _drawn_one(kind, number)
        except ValueError:
            wrong.append(f"--input {text}: write NAME=below:N or NAME=value:V, such as mask=value:1")
    if wrong:
        raise InputError(*wrong)
    return drawn


def _drawn_one(kind: str, number: str) -> "Drawn":
    """Return what an input is drawn from. Raises `ValueError` for another kind, or for what is no number."""
    from orchestrator.networks.drawn_values import Drawn

    if kind == "below":
        return Drawn(below=int(number))
    if kind == "value":
        return Drawn(value=float(number))
    raise ValueError(kind)


def _show(result: "AnonymiseResult") -> None:
    from orchestrator.networks.roles import SINGLE_NUMBER

    console, made = speech.output(speech.REPORT_WIDTH), result.anonymised
    table = tables.plain_table("tensor", "shape", "it is", "because")
    single = [each for each in made.kept if each.why == SINGLE_NUMBER]
    listed = [each for each in made.kept if each not in single] if len(single) > _MOST_SINGLE else made.kept
    for word, stored in (("replaced", made.replaced), ("kept", listed)):
        for each in stored:
            table.add_row(*tables.texts(each.name, "×".join(map(str, each.tensor.dims)) or "–", word, each.why))
    if len(listed) < len(made.kept):
        table.add_row(*tables.texts(f"{len(single)} more (--json has each)", "–", "kept", SINGLE_NUMBER))
    console.print(table)
    if made.attributes:
        console.print(_attributes(made.attributes))
    names = {**made.inputs, **made.outputs, **made.axes}
    console.print(f"names now: {', '.join(f'{old} → {new}' for old, new in names.items() if old != new)}", markup=False)
    shapes = f"{result.shapes} of {result.values} shapes as before"
    console.print(f"{len(made.replaced)} tensors replaced, {len(made.kept)} kept; {shapes}")
    if result.engine:
        console.print(_speed(result), markup=False)
    console.print(f"written: {result.file}", markup=False)


def _attributes(attributes: "Sequence[KeptAttribute]") -> "Table":
    """Return a table of the attributes of operators, which all stay."""
    table = tables.plain_table("attribute", "kept as", "nodes")
    for each in attributes:
        table.add_row(*tables.texts(f"{each.operator}.{each.name}", each.value, f"{each.nodes:,}"))
    return table


def _speed(result: "AnonymiseResult") -> str:
    speed, measured = result.speed, f"{result.engine}, run {result.run}"
    if speed is None:
        return f"speed: not measured ({measured}); orchestrator show {result.run} says why"
    interval = f" ({speed.low:.3f}–{speed.high:.3f})" if speed.low is not None and speed.high is not None else ""
    words = {"same": "the same", "inconclusive": "not decided; take more --repeats on an idle host"}
    word = words.get(speed.verdict, speed.verdict.value)
    return f"speed: {speed.ratio:.3f}{interval} of the original, {word} within {speed.tolerance:.0%} ({measured})"
