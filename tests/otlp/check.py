"""Reads the spans of a trace with OpenTelemetry's own messages: those of `tests/trace`, or of files that are named."""

import base64
import json
import sys
from pathlib import Path

from google.protobuf.json_format import ParseDict
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
)
from opentelemetry.proto.trace.v1.trace_pb2 import Span

IDS = ("traceId", "spanId", "parentSpanId")


def protobuf(value):
    """OTLP/JSON as the JSON of Protocol Buffers: they differ in ids, which are hexadecimal in OTLP."""
    if isinstance(value, list):
        return [protobuf(item) for item in value]
    if not isinstance(value, dict):
        return value
    members = {name: protobuf(member) for name, member in value.items()}
    for name in IDS:
        if name in members:
            members[name] = base64.b64encode(bytes.fromhex(members[name])).decode()
    return members


def check(path):
    # An unknown member, or one of another type, is an error.
    request = ParseDict(protobuf(json.loads(path.read_text())), ExportTraceServiceRequest())
    (resource,) = request.resource_spans
    (scope,) = resource.scope_spans
    assert scope.scope.name == "seamgate"
    spans = {span.span_id: span for span in scope.spans}
    assert len(spans) == len(scope.spans) > 0
    assert len({span.trace_id for span in scope.spans}) == 1
    operations = set()
    for span in scope.spans:
        assert len(span.trace_id) == 16
        assert len(span.span_id) == 8
        assert any(span.trace_id)
        assert any(span.span_id)
        attributes = {attribute.key: attribute.value for attribute in span.attributes}
        assert len(attributes) == len(span.attributes), span.name
        operation = attributes["gen_ai.operation.name"].string_value
        operations.add(operation)
        assert span.name.startswith(operation)
        assert span.kind == (Span.SPAN_KIND_CLIENT if operation == "chat" else Span.SPAN_KIND_INTERNAL)
        assert 0 < span.start_time_unix_nano <= span.end_time_unix_nano
        if operation == "execute_tool":
            assert attributes["gen_ai.tool.name"].string_value in span.name
            assert attributes["gen_ai.tool.call.id"].string_value
        if operation == "invoke_agent":
            assert attributes["gen_ai.agent.name"].string_value in span.name
        if span.parent_span_id:
            parent = spans[span.parent_span_id]
            assert parent.start_time_unix_nano <= span.start_time_unix_nano
    assert {"chat", "execute_tool", "invoke_agent"} <= operations
    print(f"{path.name}: {len(spans)} spans")


if __name__ == "__main__":
    ours = Path(__file__).parent.parent / "trace" / "family.otlp.json"
    for path in map(Path, sys.argv[1:] or [ours]):
        check(path)
