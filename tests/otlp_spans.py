"""Spans in OTLP's JSON, read by OpenTelemetry's own messages, and a receiver that takes them by HTTP."""

import base64
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from google.protobuf.json_format import ParseDict, ParseError
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

Received = list[ExportTraceServiceRequest]


def read(text: str | bytes) -> ExportTraceServiceRequest:
    """Read a request. Its JSON has ids in hexadecimal, and that of protobuf in base64."""
    request: Any = json.loads(text)
    for resource in request["resourceSpans"]:
        for span in resource["scopeSpans"][0]["spans"]:
            for key in {"traceId", "spanId", "parentSpanId"} & span.keys():
                span[key] = base64.b64encode(bytes.fromhex(span[key])).decode()
    return ParseDict(request, ExportTraceServiceRequest())


@contextmanager
def receiver() -> Iterator[tuple[str, Received]]:
    """Listen as a collector does, and give the address and the requests. What is no request is refused with 400."""
    received: Received = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            asked = (self.path, self.headers["Content-Type"])
            try:
                request = read(body) if asked == ("/v1/traces", "application/json") else None
            except (KeyError, ValueError, ParseError):
                request = None
            if request is not None:
                received.append(request)
            self.send_response(400 if request is None else 200)
            self.end_headers()
            self.wfile.write(b"{}")

        def log_message(self, *arguments: object) -> None:
            return

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as made:
        thread = threading.Thread(target=made.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{made.server_port}", received
        finally:
            made.shutdown()
            thread.join()
