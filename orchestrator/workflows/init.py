"""A matrix to begin with, written from the catalog and annotated."""

import contextlib
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from orchestrator import modes, resources
from orchestrator.catalog import ModelInfo, shipped_catalog, shipped_models
from orchestrator.catalog.model import Entry
from orchestrator.domain import Plan
from orchestrator.errors import HostError, InputError, did_you_mean, remedy
from orchestrator.wording import clean_line
from orchestrator.workflows import option_values
from orchestrator.workflows.host.host import Host
from orchestrator.workflows.inputs.planned_matrix import MatrixOptions, plan_matrix

SCHEMA = resources.ROOT / "docs" / "schemas" / "matrix.schema.json"
_MOST_RELEASES = 6
_WIDTH = 110
"""Characters of a line of comments."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InitOptions:
    """The options of `init`."""

    frameworks: Sequence[str]
    """Pins such as `mxnet==1.9.1`, or names, which mean the newest release that was seen to train."""
    models: Sequence[str] = option_values.INIT_MODELS
    modes: Sequence[str] = option_values.INIT_MODES
    repeats: int = option_values.INIT_REPEATS
    file: Path = option_values.MATRIX_FILE
    """The file to write. It is never overwritten."""
    schema: str | None = None
    """Address of the schema for editors. By default that of the file that ships with the program."""


@dataclass(frozen=True, slots=True)
class WrittenMatrix:
    """A matrix that was written, with what it expands to."""

    path: Path
    plan: Plan


def init(options: InitOptions, host: Host) -> WrittenMatrix:
    """Write a matrix and plan it. A matrix that cannot be planned is not left behind.

    Raises `InputError` if the file is there already, and with every name that the catalog does not have. Raises
    `HostError` if it cannot be written.
    """
    frameworks, models = resolved_frameworks(options.frameworks), resolved_models(options.models)
    _check_modes(options.modes)
    text = "".join(f"{line}\n" for line in _lines(options, frameworks, models))
    try:
        with options.file.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError as error:
        raise InputError(f"{options.file}: is there already, and is left as it is; -f names another file") from error
    except OSError as error:
        raise HostError(f"{options.file}: cannot be written: {error.strerror}; {remedy(error)}") from error
    with _removed_after_a_mistake(options.file):
        return WrittenMatrix(options.file, plan_matrix(MatrixOptions(file=options.file), host).plan)


@contextlib.contextmanager
def _removed_after_a_mistake(path: Path) -> Iterator[None]:
    try:
        yield
    except InputError:
        path.unlink(missing_ok=True)
        raise


def resolved_frameworks(given: Sequence[str]) -> tuple[str, ...]:
    """Return pins with a version and, where it takes one, a backend. Raises `InputError` with every mistake."""
    pins, mistakes = [], []
    for text in dict.fromkeys(filter(None, map(str.strip, given))):
        name = text.partition("=")[0].partition(" ")[0].strip()
        entry = next((each for each in shipped_catalog().entries.values() if name in (*each.packages,)), None)
        if entry is None:
            names = [package for each in shipped_catalog().entries.values() for package in each.packages]
            mistakes.append(f"--framework {text!r}: unknown framework{did_you_mean(name, names)}")
        elif text == name:
            pins.append(_newest(name, entry))
        else:
            pins.append(text)
    if mistakes:
        raise InputError(*mistakes)
    if not pins:
        raise InputError("nothing to compare: --framework names a framework, such as torch or mxnet==1.9.1")
    return tuple(pins)


def _newest(name: str, entry: Entry) -> str:
    """Return the newest release that was seen to train, on the backend that it was seen on."""
    version = entry.known[0]
    backends = entry.known_backends.get(version, ())
    if not entry.needs_backend:
        backends = ()
    elif not backends:
        backend = shipped_catalog().entries[entry.backends[0]]
        backends = (f"{entry.backends[0]}=={backend.known[-1]}",)
    return f"{name}=={version}{f' on {backends[0]}' if backends else ''}"


def resolved_models(given: Sequence[str]) -> tuple[ModelInfo, ...]:
    """Return the models by their names. Raises `InputError` with every name that there is not."""
    known = shipped_models()
    names = [name for name in dict.fromkeys(map(str.strip, given)) if name]
    mistakes = [
        f"--model {name!r}: unknown model{did_you_mean(name, list(known))}" for name in names if name not in known
    ]
    if mistakes:
        raise InputError(*mistakes)
    return tuple(known[name] for name in names)


def _check_modes(given: Sequence[str]) -> None:
    mistakes = [
        f"--mode {mode!r}: unknown mode{did_you_mean(mode, modes.OF_MODELS)}"
        for mode in given
        if mode not in modes.OF_MODELS
    ]
    if mistakes:
        raise InputError(*mistakes)


def _lines(options: InitOptions, frameworks: Sequence[str], models: Sequence[ModelInfo]) -> Iterator[str]:
    yield f"# yaml-language-server: $schema={options.schema or SCHEMA.as_uri()}"
    yield "# An editor with a YAML language server completes this file and shows mistakes while you type."
    yield "# `orchestrator plan` shows what it expands to, `orchestrator run` measures it. docs/matrix.md explains it."
    yield "version: 1"
    yield ""
    yield "# What a cell needs of a host. The name is yours. `cpus` pins containers and sets the threads of frameworks."
    yield "systems:"
    yield "  cpu: {cpus: 2}"
    yield "  # gpu: {gpus: 1}"
    yield ""
    yield "frameworks:"
    for pin in frameworks:
        yield f"  - {pin}"
        yield from _about(pin)
    yield ""
    yield "# `orchestrator models` lists all. Lists are axes: {name: lenet, batch_size: [32, 128]} is two cells each."
    yield "models:"
    yield from (f"  - {model.name}{' ' * max(1, 26 - len(model.name))}# {clean_line(model.title)}" for model in models)
    yield ""
    yield f"modes: [{', '.join(options.modes)}]"
    yield ""
    repeats = f"repeats: {options.repeats}"
    yield f"{repeats:<32}# fresh containers for each cell; more make narrower intervals"
    yield "warmup_steps: 10                # before the clock starts"
    yield "steps: 50                       # at least so many timed steps"
    yield "timeout: 10m                    # of one container"
    yield from _option_lines(frameworks)


def _entry(pin: str) -> Entry:
    name = pin.partition("=")[0]
    return next(each for each in shipped_catalog().entries.values() if name in each.packages)


def _about(pin: str) -> Iterator[str]:
    """Yield a comment with the title of a framework, and other releases that were seen to train."""
    entry = _entry(pin)
    version = pin.partition("==")[2].partition(" ")[0]
    others = [release for release in entry.known if release != version][:_MOST_RELEASES]
    yield f"    # {entry.title}{'; seen to train too: ' + ', '.join(others) if others else ''}"


def _option_lines(frameworks: Sequence[str]) -> Iterator[str]:
    """Yield the options of the frameworks as comments, each an axis with the values that it may take."""
    named = {pin.partition("=")[0]: _entry(pin) for pin in frameworks}
    with_options = {name: entry for name, entry in named.items() if entry.options}
    if not with_options:
        return
    yield ""
    yield "# Options of a framework are axes too. Without this each runs at its default."
    yield "# options:"
    for name, entry in with_options.items():
        yield f"#   {name}:"
        for option, about in entry.options.items():
            values = ", ".join(str(value).lower() if isinstance(value, bool) else str(value) for value in about.values)
            yield from textwrap.wrap(
                clean_line(about.help), _WIDTH, initial_indent="#     # ", subsequent_indent="#     # "
            )
            yield f"#     {option}: [{values}]"
