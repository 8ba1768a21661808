"""Modules of the measuring side that the host uses itself: the layers, their counts and the optimizers of models."""

import importlib.util
from functools import cache
from typing import Any

from orchestrator.resources import BENCHMARKS


@cache
def module(name: str) -> Any:
    """Run `benchmarks/vocabulary/<name>.py` as a module of its own, which needs the standard library alone."""
    path = BENCHMARKS / "vocabulary" / f"{name}.py"
    specification = importlib.util.spec_from_file_location(f"orchestrator_vocabulary_{name}", path)
    if specification is None or specification.loader is None:
        raise ImportError(f"{path} is no module")
    loaded = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(loaded)
    return loaded
