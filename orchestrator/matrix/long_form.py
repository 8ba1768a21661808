"""The long form of a matrix.

Every field is written, with null where there is nothing; rules have only the keys that they set. Settings of
heavy cells are written where they are set.
"""

from dataclasses import asdict
from typing import Any

from orchestrator.build_settings import BuildSettings
from orchestrator.domain import System
from orchestrator.matrix import networks, own_data
from orchestrator.matrix.file import VERSION
from orchestrator.matrix.model import FrameworkAxes, Include, Matrix, ModelAxes, Rule, Settings
from orchestrator.matrix.scripts import section as scripts
from orchestrator.matrix.studies import section as studies
from orchestrator.matrix.subjects import section as subjects
from orchestrator.matrix.values import generations, loads
from orchestrator.modes.parts.settings import Feed, Scaling, Shortening


def long_form(matrix: Matrix) -> dict[str, Any]:
    """Return a matrix as plain values for YAML, which load as an equal matrix."""
    files = {network.name: networks.long_form(network, folder) for network, folder in matrix.networks}
    return {
        "version": VERSION,
        "name": matrix.name,
        "seed": matrix.seed,
        "systems": {system.name: _system(system) for system in matrix.systems},
        "frameworks": [_framework(framework) for framework in matrix.frameworks],
        "models_folder": matrix.models_folder,
        "data_folder": matrix.data_folder,
        "datasets": {info.name: own_data.long_form(info) for info in matrix.own_datasets},
        **({"models": [_model(model, files.get(model.name, {})) for model in matrix.models]} if matrix.models else {}),
        "scripts": [scripts.long_form(script) for script in matrix.scripts],
        **subjects.long_form(matrix.subjects),
        "modes": [mode.value for mode in matrix.modes],
        "options": {name: _lists(axes) for name, axes in matrix.options},
        "repeats": matrix.repeats,
        "warmup_steps": matrix.duration.warmup_steps,
        "steps": matrix.duration.steps,
        "epochs": matrix.duration.epochs,
        "timeout": matrix.timeout_s,
        "output": {"size": matrix.output.size_bytes, "files": matrix.output.files},
        **_shortening(matrix.shortening),
        "parity": matrix.parity,
        "exclude": [_rule(rule) for rule in matrix.exclude],
        "include": [_include(include) for include in matrix.include],
        "build": _build(matrix.build),
        **studies.long_form(matrix.study, _rule),
    }


def _set_fields(fields: dict[str, Any]) -> dict[str, Any]:
    """Return the fields that are set, with tuples as lists."""
    return {
        key: list(value) if isinstance(value, tuple) else value
        for key, value in fields.items()
        if value is not None and value not in ((), {})
    }


def _lists(axes: tuple[tuple[str, tuple[Any, ...]], ...]) -> dict[str, list[Any]]:
    return {name: list(values) for name, values in axes}


def _system(system: System) -> dict[str, Any]:
    limits = {"cpus": system.cpus, "gpus": system.gpus, "memory": system.memory_bytes}
    wishes = {"gpu": system.gpu, "gpu_memory": system.gpu_memory_bytes, "mig": system.mig}
    return limits | {name: value for name, value in wishes.items() if value is not None}


def _framework(axes: FrameworkAxes) -> dict[str, Any]:
    return {
        "name": axes.name,
        "version": list(axes.versions),
        "backend": [f"{name}=={version}" for name, version in axes.backends] or None,
        "python": list(axes.pythons) or None,
        "packages": _lists(axes.packages),
        "options": _lists(axes.options),
        "image": axes.image,
        "dockerfile": axes.dockerfile,
        "expect": axes.expect and axes.expect.value,
    }


def _model(axes: ModelAxes, file: dict[str, Any]) -> dict[str, Any]:
    settings = _settings(axes.settings)
    del settings["expect"]
    return {
        "name": axes.name,
        **file,
        "batch_size": list(axes.batch_sizes),
        "dataset": list(axes.datasets),
        **({"feed": [feed.value for feed in axes.feeds]} if axes.feeds != (Feed.PLACED,) else {}),
        **({"workers": list(axes.workers)} if axes.workers != (0,) else {}),
        **({"scaling": [each.value for each in axes.scalings]} if axes.scalings != (Scaling.WEAK,) else {}),
        **loads.long_form(axes.load),
        **generations.long_form(axes.generation),
        **({"size": list(axes.sizes)} if axes.sizes else {}),
        **_lists(axes.axes),
        **settings,
    }


def _settings(settings: Settings) -> dict[str, Any]:
    fields = asdict(settings)
    fields |= _shortening(settings.shortening)
    del fields["shortening"]
    fields["timeout"] = fields.pop("timeout_s")
    fields["output"] = scripts.output_form(settings)
    del fields["output_bytes"], fields["output_files"]
    fields["expect"] = settings.expect and settings.expect.value
    return fields


def _shortening(shortening: Shortening) -> dict[str, Any]:
    """Return the fields that are set, so that a matrix without any stays as it was before there were such fields."""
    return {key: value for key, value in asdict(shortening).items() if value is not None}


def _rule(rule: Rule) -> dict[str, Any]:
    return _set_fields({
        "framework": rule.frameworks,
        "system": rule.systems,
        "model": rule.models,
        "mode": tuple(mode.value for mode in rule.modes),
        "batch_size": rule.batch_sizes,
        "dataset": rule.datasets,
        "feed": tuple(feed.value for feed in rule.feeds),
        "workers": rule.workers,
        "scaling": tuple(each.value for each in rule.scalings),
        **loads.long_form(rule.load),
        **generations.long_form(rule.generation),
        "python": rule.pythons,
        **_lists(rule.options),
        **_lists(rule.axes),
        "reason": rule.reason or None,
    })  # fmt: skip


def _include(include: Include) -> dict[str, Any]:
    return {**_rule(include.rule), **_set_fields(_settings(include.settings))}


def _build(settings: BuildSettings) -> dict[str, Any]:
    fields = asdict(settings)
    for name in ("base_images", "cuda_images"):
        images = dict(fields.pop(name))
        fields |= {name: images} if images else {}
    fields["proxy"] = {name.removesuffix("_proxy"): url for name, url in fields.pop("proxies")} or None
    return {key: (list(value) or None) if isinstance(value, tuple) else value for key, value in fields.items()}
