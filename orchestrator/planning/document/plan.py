"""The JSON document of a plan, which `orchestrator plan --json` prints and `docs/matrix.md` explains."""

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from orchestrator.documents import DocumentKind, Envelope, json_text
from orchestrator.domain import Cell, Duration, Framework, ImageSpec, Plan, System, Workload
from orchestrator.modes.parts.settings import PARITY_BATCH, Feed, Scaling
from orchestrator.planning import parity
from orchestrator.planning.cost.estimate import PlanEstimate
from orchestrator.planning.document.types import (
    FedCell,
    FrontierCell,
    GeneratingCell,
    GpuCell,
    LoadedCell,
    PlanData,
    PlannedCell,
    PlannedFile,
    PlannedImage,
    PlannedNetwork,
    PlannedScript,
    SearchedCell,
    SharedCell,
    ShorterCell,
    WantedPrecisionData,
)
from orchestrator.user_files import Frozen, Network, Script

PLAN = DocumentKind("plan", 1, PlanData)


def plan_envelope(plan: Plan, estimate: PlanEstimate, precision: WantedPrecisionData | None = None) -> Envelope:
    """Return the document of a plan with one row to a line. It is never whole in memory.

    `precision` is what a wanted interval takes, where one was asked for.
    """
    return Envelope(PLAN, _json(plan, estimate, precision))


def _json(plan: Plan, estimate: PlanEstimate, precision: WantedPrecisionData | None) -> Iterator[str]:
    lead = "{"
    for key, part in (*_parts(plan, estimate), *([("precision", precision)] if precision else [])):
        yield f"{lead}\n {json_text(key)}: "
        if isinstance(part, Iterator):
            yield from _list(json_text(row) for row in part)
        else:
            yield json_text(part)
        lead = ","
    yield "\n}"


def _list(rows: Iterator[str]) -> Iterator[str]:
    lead = "["
    for row in rows:
        yield f"{lead}\n  {row}"
        lead = ","
    yield "[]" if lead == "[" else "\n ]"


def _parts(plan: Plan, estimate: PlanEstimate) -> Iterator[tuple[str, Any]]:
    """Yield the keys and values of the document, with lists of rows as iterators."""
    yield "name", plan.name
    yield "seed", plan.seed
    yield "cells", (_cell(cell) for cell in plan.cells)
    yield "images", (_image(image) for image in plan.images)
    yield "models", [{"name": model.name, "sha256": model.sha256} for model in plan.models]
    if plan.networks:
        yield "networks", [_network(network) for network in plan.networks]
    yield (
        "definitions",
        [{"model": each.model, "builder": each.builder, "sha256": each.sha256} for each in plan.definitions],
    )
    yield (
        "scripts",
        script_documents(plan),
    )
    yield "skips", ({"id": skip.cell_id, "reason": skip.reason} for skip in plan.skips)
    yield "warnings", list(plan.warnings)
    yield "parity", ({"id": check.id, "image": check.image, "model": check.model} for check in parity.checks(plan))
    if plan.study is not None:
        yield "study", asdict(plan.study)
    if plan.profile:
        yield "profile", asdict(plan.profile)
    yield "estimate", asdict(estimate)


def _cell(cell: Cell) -> PlannedCell:
    framework, system, workload = cell.framework, cell.system, cell.workload
    return {
        "id": cell.id,
        "framework": framework.name,
        "version": framework.version,
        "backend": _pin(framework.backend),
        "python": framework.python,
        "packages": dict(framework.packages),
        "system": system.name,
        "cpus": system.cpus,
        "gpus": system.gpus,
        "memory_bytes": system.memory_bytes,
        **_wished(system),
        "model": workload.model,
        "mode": workload.mode,
        "batch_size": workload.batch_size,
        "dataset": workload.dataset,
        **_searched(workload),
        **_of_frontier(cell),
        **_loaded(workload),
        **_generating(workload),
        **_fed(workload),
        **_shared(workload),
        "options": dict(cell.options),
        "script": cell.script.file if cell.script else None,
        "definition": cell.definition or None,
        "image": cell.image,
        "warmup_steps": cell.duration.warmup_steps,
        "steps": cell.duration.steps,
        "epochs": cell.duration.epochs,
        **_shorter(cell),
        "timeout_s": cell.timeout_s,
        "output_bytes": cell.output.size_bytes,
        "output_files": cell.output.files,
        "repeats": cell.repeats,
        "expect": cell.expect,
    }


def _shorter(cell: Cell) -> ShorterCell:
    """Return the settings that make a measurement shorter than usual, or the axes of a mode that set its length."""
    duration, usual, shorter = cell.duration, Duration(), ShorterCell()
    if cell.workload.axes and cell.workload.rules.subjects:
        shorter["axes"] = dict(cell.workload.axes)
        return shorter
    if cell.workload.load:
        return shorter
    if duration.blocks != usual.blocks:
        shorter["blocks"] = duration.blocks
    if duration.latency_steps != usual.latency_steps and not cell.workload.generation:
        shorter["latency_steps"] = duration.latency_steps
    if not duration.evaluate_every_epoch:
        shorter["evaluate_every_epoch"] = False
    if cell.parity_batch != PARITY_BATCH:
        shorter["parity_batch"] = cell.parity_batch
    return shorter


def _wished(system: System) -> GpuCell:
    """Return the wishes for GPUs that a system has."""
    wishes = GpuCell()
    if system.gpu is not None:
        wishes["gpu"] = system.gpu
    if system.gpu_memory_bytes is not None:
        wishes["gpu_memory_bytes"] = system.gpu_memory_bytes
    if system.mig is not None:
        wishes["mig"] = system.mig
    return wishes


def _searched(workload: Workload) -> SearchedCell:
    """Return the mark of a search for the largest batch."""
    return {"searches": True} if workload.searches else {}


def _of_frontier(cell: Cell) -> FrontierCell:
    """Return the mark of a cell that is a part of a frontier."""
    return {"frontier": True} if cell.frontier else {}


def _loaded(workload: Workload) -> LoadedCell:
    """Return the keys of a load."""
    load, keys = workload.load, LoadedCell()
    if load is None:
        return keys
    keys["scenario"], keys["requests"] = load.scenario, load.requests
    if load.concurrency is not None:
        keys["concurrency"] = load.concurrency
    if load.rate is not None:
        keys["rate"] = load.rate
    if load.latency_limit_s is not None:
        keys["latency_limit_s"] = load.latency_limit_s
    if load.first_token_limit_s is not None:
        keys["first_token_limit_s"] = load.first_token_limit_s
    if load.per_token_limit_s is not None:
        keys["per_token_limit_s"] = load.per_token_limit_s
    return keys


def _generating(workload: Workload) -> GeneratingCell:
    """Return the keys of the lengths of a generation."""
    lengths = workload.generation
    return {"prompt_length": lengths.prompt, "output_length": lengths.output} if lengths else {}


def _fed(workload: Workload) -> FedCell:
    """Return the keys of a feed that is off its default."""
    if workload.feed is Feed.PLACED:
        return {}
    return {"feed": workload.feed, "workers": workload.workers}


def _shared(workload: Workload) -> SharedCell:
    """Return the key of a scaling that is off its default."""
    return {} if workload.scaling is Scaling.WEAK else {"scaling": workload.scaling}


def script_documents(plan: Plan) -> list[PlannedScript]:
    """Return every script of a plan, once."""
    return [script_document(script) for script in dict.fromkeys(cell.script for cell in plan.cells if cell.script)]


def script_document(script: Script) -> PlannedScript:
    """Return a script with the sizes and hashes of its files."""
    planned: PlannedScript = {"name": script.name, "entry": script.file, "files": _files(script)}
    if script.has_copy:
        planned["workdir"] = script.workdir
    return planned


def _files(frozen: Frozen) -> list[PlannedFile]:
    return [{"path": file.path, "size_bytes": file.size_bytes, "sha256": file.sha256} for file in frozen.files]


def _network(network: Network) -> PlannedNetwork:
    """Return a network with the sizes and hashes of its files."""
    return {
        "name": network.name,
        "entry": network.entry,
        "files": _files(network),
        "opset": network.opset,
        "inputs": [
            {"name": each.name, "kind": each.kind, "shape": list(each.shape), "below": each.below, "value": each.value}
            for each in network.inputs
        ],
        "outputs": list(network.outputs),
        "parameters": network.parameters,
        "multiply_adds": network.multiply_adds,
        "dimensions": dict(network.dimensions),
    }


def _pin(framework: Framework | None) -> str | None:
    return f"{framework.name}=={framework.version}" if framework else None


def _image(image: ImageSpec) -> PlannedImage:
    framework, environment = image.framework, image.environment
    return {
        "name": image.name,
        "class": image.image_class,
        "framework": framework.name,
        "version": framework.version,
        "backend": _pin(framework.backend),
        "builder": environment.builder,
        "python": environment.python,
        "requirements": list(environment.requirements),
        "system_packages": list(environment.system_packages),
        "cuda_image": environment.cuda_image,
        "image": framework.image,
        "dockerfile": framework.dockerfile,
    }
