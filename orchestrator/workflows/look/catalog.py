"""The models, the frameworks and the published schemas."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from orchestrator import matrix
from orchestrator.bundles.format.manifest import manifest_schema
from orchestrator.catalog import ModelInfo
from orchestrator.catalog.model import Entry
from orchestrator.regression.history.acknowledged import acknowledged_schema
from orchestrator.regression.nightly import settings as nightly_settings
from orchestrator.regression.nightly.state import Night
from orchestrator.regression.search import record as search_record
from orchestrator.regression.trials.files import regression_schema
from orchestrator.reporting.live.lines import event_schema
from orchestrator.results.schemas import contract_schema
from orchestrator.workflows.host.shipped import shipped_catalog
from orchestrator.workflows.inputs.models import listed_models
from orchestrator.workflows.inputs.planned_matrix import MATRIX_HERE
from orchestrator.workflows.option_values import SchemaName


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelsOptions:
    """The options of `models`."""

    file: Path | None = None
    """A matrix with a `models_folder`. `matrix.yaml` in the working folder by default, if there is one."""
    models: Path | None = None
    """Folder with models of your own."""


def models(options: ModelsOptions) -> tuple[ModelInfo, ...]:
    """Return the models of the program, of the matrix's `models_folder`, and of a folder of your own.

    Raises `InputError` if a folder holds a file that is no model.
    """
    here = MATRIX_HERE if MATRIX_HERE.exists() else None
    return listed_models(options.file or here, options.models)


def frameworks() -> Mapping[str, Entry]:
    """Return the frameworks of the catalog by name, with releases that were seen to train and their options."""
    return shipped_catalog().entries


def _night_schema() -> dict[str, Any]:
    body = Night.model_json_schema(mode="serialization", by_alias=True)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **body}


_SCHEMAS: Mapping[SchemaName, Callable[[], dict[str, Any]]] = {
    SchemaName.MATRIX: matrix.schema,
    SchemaName.EVENT: event_schema,
    SchemaName.MANIFEST: manifest_schema,
    SchemaName.NIGHTLY: nightly_settings.schema,
    SchemaName.ACKNOWLEDGED: acknowledged_schema,
    SchemaName.NIGHT: _night_schema,
    SchemaName.REGRESSION: regression_schema,
    SchemaName.BISECT: search_record.schema,
}
"""The schemas of other files than those of the contract."""


def schema(name: SchemaName) -> dict[str, Any]:
    """Return the JSON Schema of a file that people write, of a stored file, or of a line of progress."""
    make = _SCHEMAS.get(name)
    return make() if make is not None else contract_schema(name)
