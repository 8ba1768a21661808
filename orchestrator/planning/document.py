"""A plan for programs: what `orchestrator plan --json` prints; `docs/matrix.md` documents its keys."""

from collections.abc import Callable
from dataclasses import asdict
from functools import cache
from typing import Any

from orchestrator.domain import Cell, Framework, ImageSpec, Plan
from orchestrator.planning.estimate import Estimate

_Shared = Callable[[Any], dict[str, Any]]


def plan_document(plan: Plan, estimate: Estimate) -> dict[str, Any]:
    """A plan and its estimate as plain JSON values; rows are flat, and equal parts are shared objects."""
    shared: _Shared = cache(dict)
    return {
        "name": plan.name,
        "seed": plan.seed,
        "cells": [_cell(cell, shared) for cell in plan.cells],
        "images": [_image(image) for image in plan.images],
        "skips": [{"id": skip.cell_id, "reason": skip.reason} for skip in plan.skips],
        "warnings": list(plan.warnings),
        "estimate": asdict(estimate),
    }


def _cell(cell: Cell, shared: _Shared) -> dict[str, Any]:
    framework, system, workload = cell.framework, cell.system, cell.workload
    return {
        "id": cell.id,
        "framework": framework.name,
        "version": framework.version,
        "backend": _pin(framework.backend),
        "python": framework.python,
        "packages": shared(framework.packages),
        "system": system.name,
        "cpus": system.cpus,
        "gpus": system.gpus,
        "memory_bytes": system.memory_bytes,
        "model": workload.model,
        "mode": workload.mode.value,
        "batch_size": workload.batch_size,
        "dataset": workload.dataset,
        "options": shared(cell.options),
        "image": cell.image,
        "warmup_steps": cell.duration.warmup_steps,
        "steps": cell.duration.steps,
        "epochs": cell.duration.epochs,
        "timeout_s": cell.timeout_s,
        "repeats": cell.repeats,
        "expect": cell.expect.value,
    }


def _pin(framework: Framework | None) -> str | None:
    return f"{framework.name}=={framework.version}" if framework else None


def _image(image: ImageSpec) -> dict[str, Any]:
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
