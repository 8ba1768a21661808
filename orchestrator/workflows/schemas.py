"""The published schemas of files, of lines of progress and of documents."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from orchestrator import matrix
from orchestrator.bundles.format.manifest import manifest_schema
from orchestrator.errors import InputError, did_you_mean
from orchestrator.regression.history.acknowledged import acknowledged_schema
from orchestrator.regression.nightly import settings as nightly_settings
from orchestrator.regression.nightly.state import Night
from orchestrator.regression.search import record as search_record
from orchestrator.regression.trials.files import regression_schema
from orchestrator.reporting.live.lines import event_schema
from orchestrator.results.schemas import NAMES, contract_schema
from orchestrator.workflows.documents.registry import DOCUMENTS, document_schema


def _night_schema() -> dict[str, Any]:
    body = Night.model_json_schema(mode="serialization", by_alias=True)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **body}


SCHEMAS: Mapping[str, Callable[[], dict[str, Any]]] = {
    "matrix": matrix.schema,
    **{name: partial(contract_schema, name) for name in NAMES},
    "event": event_schema,
    "manifest": manifest_schema,
    "regression": regression_schema,
    "nightly": nightly_settings.schema,
    "acknowledged": acknowledged_schema,
    "night": _night_schema,
    "bisect": search_record.schema,
    **{kind.name: partial(document_schema, kind) for kind in DOCUMENTS},
}
"""The schemas by name, those of files before those of documents."""


def schema(name: str) -> dict[str, Any]:
    """Return the JSON Schema of a file, of a line of progress or of a document.

    Raises `InputError` if there is none of this name.
    """
    if name not in SCHEMAS:
        raise InputError(f"{name!r}: there is no such schema{did_you_mean(name, tuple(SCHEMAS))}")
    return SCHEMAS[name]()
