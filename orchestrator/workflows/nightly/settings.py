"""The settings of a nightly, with the packages that its matrix names."""

from collections.abc import Collection
from pathlib import Path

from orchestrator import matrix
from orchestrator.catalog import shipped_catalog
from orchestrator.regression.nightly.loading import Nightly, load
from orchestrator.regression.package_sides import held_packages
from orchestrator.workflows.inputs.planned_matrix import known_models


def load_nightly(file: Path, models: Path | None = None) -> Nightly:
    """Load a `nightly.yaml`. `models` is a folder with models of the user's own, which its matrix may name.

    Raises `InputError` with every mistake.
    """
    catalog = shipped_catalog()

    def held(path: Path) -> Collection[str]:
        return held_packages(matrix.load(path, catalog, known_models(models)), catalog)

    return load(file, catalog, held)
