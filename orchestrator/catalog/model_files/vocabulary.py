"""Modules of the measuring side that the host uses too.

They are the layers, their counts and the optimizers of models.
"""

import importlib.util
from functools import cache
from typing import Any

from orchestrator.resources import BENCHMARKS


@cache
def module(name: str) -> Any:
    """Run `benchmarks/vocabulary/<name>.py` as a separate module, which needs only the standard library."""
    path = BENCHMARKS / "vocabulary" / f"{name}.py"
    specification = importlib.util.spec_from_file_location(f"orchestrator_vocabulary_{name}", path)
    if specification is None or specification.loader is None:
        raise ImportError(f"{path} is no module")
    loaded = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(loaded)
    return loaded
