"""Spans in the JSON of OTLP, which OpenTelemetry collectors take by HTTP.

Source: https://github.com/open-telemetry/opentelemetry-proto, trace.proto and the rules for its JSON
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from orchestrator.documents import json_text
from orchestrator.reporting.measures import TimeSpan, Trace
from orchestrator.wording import clean_line

_INTERNAL = 1
_OK, _ERROR = 1, 2


def texts(traces: Sequence[Trace]) -> Iterator[str]:
    """Render one request with all spans. The ids come of the run: sent twice, spans are the same ones."""
    yield json_text({"resourceSpans": [_resource_spans(trace) for trace in traces]}, indent=1) + "\n"


def _resource_spans(trace: Trace) -> dict[str, Any]:
    of_host = {f"orchestrator.host.{name}": value for name, value in trace.host_facts.items() if name != "hostname"}
    resource = {"service.name": "orchestrator", "service.version": trace.version}
    resource |= {"host.name": trace.host_facts["hostname"]} if "hostname" in trace.host_facts else {}
    scope = {"name": "orchestrator", "version": trace.version}
    spans = list(_spans(trace.span, _digest(trace.run, 16), "", trace.run))
    return {
        "resource": {"attributes": _attributes(resource | of_host)},
        "scopeSpans": [{"scope": scope, "spans": spans}],
    }


def _spans(span: TimeSpan, trace_id: str, parent_id: str, path: str) -> Iterator[dict[str, Any]]:
    """Yield a span and those within it. `path` tells spans of one name apart."""
    span_id = _digest(path, 8)
    yield {
        "traceId": trace_id,
        "spanId": span_id,
        **({"parentSpanId": parent_id} if parent_id else {}),
        "name": clean_line(span.name),
        "kind": _INTERNAL,
        "startTimeUnixNano": str(span.begin_ns),
        "endTimeUnixNano": str(span.end_ns),
        "attributes": _attributes(span.facts or {}),
        "status": {"code": _ERROR, "message": clean_line(span.failure)} if span.failure else {"code": _OK},
    }
    for number, each in enumerate(span.spans):
        yield from _spans(each, trace_id, span_id, f"{path}/{number}")


def _attributes(facts: Mapping[str, str | int | float]) -> list[dict[str, Any]]:
    return [{"key": name, "value": _value(value)} for name, value in facts.items()]


def _value(value: str | float) -> dict[str, Any]:
    if isinstance(value, str):
        return {"stringValue": clean_line(value)}
    return {"intValue": str(value)} if isinstance(value, int) else {"doubleValue": value}


def _digest(text: str, size: int) -> str:
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[: 2 * size]
