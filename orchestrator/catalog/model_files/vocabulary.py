"""Modules of the measuring side that the host uses too.

They are the layers, their counts and the optimizers of models.
"""

import importlib
import importlib.util
import sys
from functools import cache
from typing import Any

from orchestrator.resources import BENCHMARKS

_PACKAGE = "orchestrator_vocabulary"


@cache
def module(name: str) -> Any:
    """Run `benchmarks/vocabulary/<name>.py` in a separate package, which needs only the standard library."""
    if _PACKAGE not in sys.modules:
        folder = BENCHMARKS / "vocabulary"
        specification = importlib.util.spec_from_file_location(
            _PACKAGE, folder / "__init__.py", submodule_search_locations=[str(folder)]
        )
        if specification is None:
            raise ImportError(f"{folder} is no package")
        sys.modules[_PACKAGE] = importlib.util.module_from_spec(specification)
    return importlib.import_module(f"{_PACKAGE}.{name}")
