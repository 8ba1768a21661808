"""`ImageSpec` → Dockerfile text and content tag (pure), and whatever is missing built, several at once."""

from orchestrator.images.bases import base_problems, unresolved
from orchestrator.images.build import absent, build, missing, present, recipes
from orchestrator.images.cuda_images import without_source
from orchestrator.images.making import STOPPED, BuildFailure, Built
from orchestrator.images.recipe import BuildStep, Inputs, Recipe, gather, render

__all__ = [
    "STOPPED",
    "BuildFailure",
    "BuildStep",
    "Built",
    "Inputs",
    "Recipe",
    "absent",
    "base_problems",
    "build",
    "gather",
    "missing",
    "present",
    "recipes",
    "render",
    "unresolved",
    "without_source",
]
