"""Bounds of the names in a plan, both those of a matrix and those that planning makes of them."""

import re
from collections.abc import Callable, Iterator

from orchestrator import limits
from orchestrator.domain import Cell, Framework, ImageSpec, Plan, System, Workload
from orchestrator.matrix.values import kinds
from orchestrator.matrix.values.variables import is_variable, name_problem, value_problem
from orchestrator.modes.parts.load import Scenario
from orchestrator.modes.parts.settings import Feed

Check = Callable[[str], bool]
_SHOWN = 100


def _all_of(pattern: str, most: int | None = None) -> Check:
    """Return a check that a whole text matches a pattern and is not too long."""
    compiled = re.compile(pattern)
    return lambda text: (most is None or len(text) <= most) and compiled.fullmatch(text) is not None


_LETTERS = "letters, digits and . _ + -"
_is_word = _all_of(kinds.WORD, kinds.MAX_WORD)
_is_plan_name = _all_of(kinds.WORD, 255)
"""A matrix without a name takes that of its file."""
_is_version = _all_of(r"[A-Za-z0-9_][A-Za-z0-9._+-]{0,127}")
"""The version of an image of the user's own is its tag."""
_is_distribution = _all_of(kinds.DISTRIBUTION, kinds.MAX_WORD)
_is_python = _all_of(kinds.PYTHON)
_is_own_image = _all_of(kinds.IMAGE)
_is_path = _all_of(r"[^\x00-\x1f\x7f-\x9f]{1,4096}")
_is_system = _all_of(kinds.SYSTEM_NAME)
_is_dataset = _all_of(kinds.DATASET)
_is_repository = _all_of(r"bench/[a-z0-9][a-z0-9._+-]{0,99}")
_is_alias = _all_of(r"[A-Za-z0-9_][A-Za-z0-9._+=-]{0,127}")
_is_sum = _all_of(r"[0-9a-f]{64}")
_is_builder = _all_of(r"[a-z][a-z0-9_]{0,39}")
_is_option = _all_of(r"[A-Za-z][A-Za-z0-9_.-]{0,59}")
_is_setting = _all_of(r"[^\x00-\x1f\x7f-\x9f]{0,100}")
_IMAGE_CLASSES = frozenset({"cpu", *(f"{gpus}_gpu" for gpus in range(1, limits.MAX_GPUS + 1))})


def problems(plan: Plan) -> Iterator[str]:
    """Yield a line for each name of a plan that no matrix can give."""
    yield from _wrong(_is_plan_name, plan.name, "name of a plan", _LETTERS)
    known = dict.fromkeys(image.name for image in plan.images)
    for image in plan.images:
        yield from (f"image {image.name[:_SHOWN]!r}: {problem}" for problem in _image(image))
    frameworks = dict.fromkeys((*(image.framework for image in plan.images), *(cell.framework for cell in plan.cells)))
    for framework in frameworks:
        yield from (f"framework {framework.name[:_SHOWN]!r}: {problem}" for problem in _framework(framework))
    for system in dict.fromkeys(cell.system for cell in plan.cells):
        yield from _system(system)
    for workload in dict.fromkeys(cell.workload for cell in plan.cells):
        yield from _workload(workload)
    for model in plan.models:
        yield from _wrong(_is_word, model.name, "name of a model", _LETTERS)
        yield from _wrong(_is_sum, model.sha256, "SHA-256 of a model")
    for each in plan.definitions:
        yield from _wrong(_is_word, each.model, "name of a model", _LETTERS)
        yield from _wrong(_is_builder, each.builder, "name of a framework builder")
        yield from _wrong(_is_sum, each.sha256, "SHA-256 of a definition")
    for data in plan.data:
        yield from _wrong(_is_dataset, data.name, "name of a dataset")
    for cell in plan.cells:
        yield from (f"cell {cell.id[:200]!r}: {problem}" for problem in _cell(cell, known))


def _image(image: ImageSpec) -> Iterator[str]:
    yield from _wrong(_is_builder, image.environment.builder, "name of a framework builder")
    yield from _wrong(_is_repository, image.repository, "repository of ours")
    yield from _wrong(_is_alias, image.alias, "tag of an image of ours")
    if image.image_class not in _IMAGE_CLASSES:
        yield f"{image.image_class[:_SHOWN]!r} is no image class, such as cpu or 1_gpu"


def _framework(framework: Framework) -> Iterator[str]:
    yield from _wrong(_is_word, framework.name, "name of a framework", _LETTERS)
    yield from _wrong(_is_version, framework.version, "version", _LETTERS)
    if framework.python:
        yield from _wrong(_is_python, framework.python, "Python version, such as 3.11")
    for name, version in framework.packages:
        yield from _wrong(_is_distribution, name, "name of a Python package")
        yield from _wrong(_is_word, version, "version", _LETTERS)
    if framework.image is not None:
        yield from _wrong(_is_own_image, framework.image, "name of your own image")
    if framework.dockerfile is not None:
        yield from _wrong(_is_path, framework.dockerfile, "path of a Dockerfile")
    if framework.backend is not None:
        if framework.backend.backend is not None:
            yield "its backend has a backend"
            return
        yield from _framework(framework.backend)


def _system(system: System) -> Iterator[str]:
    yield from _wrong(_is_system, system.name, "name of a system", "lowercase letters, digits, _ - and .")


def _workload(workload: Workload) -> Iterator[str]:
    yield from _wrong(_is_word, workload.model, "name of a model", _LETTERS)
    yield from _wrong(_is_dataset, workload.dataset, "name of a dataset")
    most = limits.MAX_WORKERS if workload.feed is Feed.LOADER else 0
    if not 0 <= workload.workers <= most:
        yield f"{workload.workers} workers do not go with the feed {workload.feed}"
    yield from _load(workload)
    yield from _generation(workload)


def _load(workload: Workload) -> Iterator[str]:
    load = workload.load
    if (load is not None) is not workload.rules.takes_load:
        yield f"the mode {workload.mode} {'takes no' if load else 'needs a'} load"
    if load is None:
        return
    fitting = (load.concurrency is not None, load.rate is not None)
    if fitting != (load.scenario is Scenario.CLOSED, load.scenario is Scenario.SERVER):
        yield f"the scenario {load.scenario} has a concurrency if it is closed, and a rate if it is server"
    numbers = {
        "requests": (load.requests, 1, limits.MAX_LATENCY_STEPS),
        "concurrency": (load.concurrency, 1, limits.MAX_CLIENTS),
        "rate": (load.rate, limits.MIN_RATE, limits.MAX_RATE),
        "latency_limit": (load.latency_limit_s, 0, limits.MAX_SECONDS),
        "first_token_limit": (load.first_token_limit_s, 0, limits.MAX_SECONDS),
        "per_token_limit": (load.per_token_limit_s, 0, limits.MAX_SECONDS),
    }
    for name, (value, least, most) in numbers.items():
        if value is not None and not least <= value <= most:
            yield f"{value:g} is no {name} from {least:g} to {most:g}"


def _generation(workload: Workload) -> Iterator[str]:
    lengths = workload.generation
    if (lengths is not None) is not workload.rules.generates:
        yield f"the mode {workload.mode} {'has no' if lengths else 'needs a'} prompt_length and output_length"
    if lengths is None:
        return
    for name, value in (("prompt_length", lengths.prompt), ("output_length", lengths.output)):
        if not 1 <= value <= limits.MAX_TOKENS:
            yield f"{value} is no {name} from 1 to {limits.MAX_TOKENS:,}"


def _cell(cell: Cell, images: dict[str, None]) -> Iterator[str]:
    if cell.image not in images:
        yield f"{cell.image[:_SHOWN]!r} is none of the plan's images"
    if cell.definition:
        yield from _wrong(_is_sum, cell.definition, "SHA-256 of a definition")
    for name, value in cell.options:
        if is_variable(name):
            if problem := name_problem(name) or value_problem(name, value):
                yield f"options: {problem}"
            continue
        yield from _wrong(_is_option, name, "name of an option")
        if isinstance(value, str):
            yield from _wrong(_is_setting, value, "value of an option")


def _wrong(check: Check, text: str, kind: str, letters: str = "") -> Iterator[str]:
    if not check(text):
        length = f" of {len(text):,} characters" if len(text) > _SHOWN else ""
        yield f"{text[:_SHOWN]!r}{length} is no {kind}{letters and f': {letters}'}"
