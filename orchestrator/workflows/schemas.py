"""The published schemas of files, of lines of progress and of documents, and every document of a command."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema
from pydantic_core import core_schema

from orchestrator import matrix
from orchestrator.bundles.format.manifest import manifest_schema
from orchestrator.clusters.record import ClusterRecord, PartRecord, record_schema
from orchestrator.clusters.site import file as site_file
from orchestrator.documents import DocumentKind
from orchestrator.errors import InputError, did_you_mean
from orchestrator.images.registries.pushed_file import PUSHED_IMAGES
from orchestrator.planning import PLAN
from orchestrator.regression.history.acknowledged import acknowledged_schema
from orchestrator.regression.nightly import settings as nightly_settings
from orchestrator.regression.nightly.state import Night
from orchestrator.regression.search import record as search_record
from orchestrator.regression.trials.files import regression_schema
from orchestrator.reporting.live.lines import event_schema
from orchestrator.reporting.reports.history.data import HISTORY_SERIES
from orchestrator.reporting.reports.regression.report import REGRESSION_RECORD
from orchestrator.reporting.reports.run.value import REPORT
from orchestrator.reporting.reports.side_by_side.data import RUNS_SIDE_BY_SIDE
from orchestrator.reporting.reports.watch.data import WATCH_STATUS
from orchestrator.results.schemas import CONTRACT, contract_schema
from orchestrator.workflows.documents import host, look, measure, networks, publish, records, ship

DOCUMENTS: tuple[DocumentKind, ...] = (
    PLAN, measure.LONG_MATRIX, measure.IMAGES, measure.DOCKERFILES, measure.CANCELLED_RUN, measure.KUBERNETES_JOBS,
    REPORT, RUNS_SIDE_BY_SIDE, look.RUNS, look.REPEATS, look.REPEATS_OF_CELL, publish.PUBLISHED_SITE,
    look.MODELS, look.FRAMEWORKS,
    REGRESSION_RECORD, records.SEARCH_RECORD, records.NIGHT_RECORD, records.ACCEPTED_RELEASE,
    records.ANSWERED_ALARMS, WATCH_STATUS, HISTORY_SERIES,
    ship.EXPORTED_BUNDLE, ship.VERIFIED_BUNDLE, ship.LOADED_BUNDLE, PUSHED_IMAGES,
    networks.ANONYMISED_NETWORK, ship.COLLECTED_RUNS, ship.MERGED_RUNS,
    host.DATASETS, host.EXPORTED_TABLES, host.FITNESS, host.FLEET, host.SURPLUS,
)  # fmt: skip
"""A row for each kind of document, in the order of the commands."""


class _DocumentSchema(GenerateJsonSchema):
    """Makes schemas of what is written: every field is there but those that say when, and there is no other."""

    def field_is_required(
        self,
        field: core_schema.ModelField | core_schema.DataclassField | core_schema.TypedDictField,
        total: bool,
    ) -> bool:
        """Return true for fields with a default too, which are written like all others.

        Keys that a row may lack, and fields that are written only off their default, are none of them.
        """
        if "serialization_exclude_if" in field:
            return False
        if field["type"] == "typed-dict-field" and field.get("required") is False:
            return False
        return self.mode == "serialization" or super().field_is_required(field, total)


def document_schema(kind: DocumentKind) -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of a document with its envelope."""
    data = TypeAdapter(kind.content).json_schema(mode=kind.mode, by_alias=True, schema_generator=_DocumentSchema)
    definitions = data.pop("$defs", {})
    for schema in (data, *definitions.values()):
        if "properties" in schema:
            schema.setdefault("additionalProperties", False)
    properties = {"schema": {"const": kind.label}, "orchestrator": {"type": "string"}, "data": data}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": kind.label,
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
        **({"$defs": definitions} if definitions else {}),
    }


def _night_schema() -> dict[str, Any]:
    body = Night.model_json_schema(mode="serialization", by_alias=True)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **body}


SCHEMAS: Mapping[str, Callable[[], dict[str, Any]]] = {
    "matrix": matrix.schema,
    **{name: partial(contract_schema, name) for name in CONTRACT},
    "event": event_schema,
    "manifest": manifest_schema,
    "site": site_file.schema,
    "cluster": partial(record_schema, ClusterRecord),
    "part": partial(record_schema, PartRecord),
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
