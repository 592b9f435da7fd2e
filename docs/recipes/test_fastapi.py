"""The routes of fastapi_route.py, with a client of HTTP and a scripted model."""

import asyncio
import json
import unittest

import fastapi_route
import httpx
from local_models import LocalModels
from openai import AsyncOpenAI
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

SPANS = InMemorySpanExporter()

GOOD = '{"sku":"A-7","count":2}'
MAIL = {"text": "Order for Ms Lee: two of A-7."}


trace.set_tracer_provider(TracerProvider())
trace.get_tracer_provider().add_span_processor(SimpleSpanProcessor(SPANS))


class Routes(unittest.TestCase):
    def ask(self, path, script):
        """Returns the text of a response, and how often the model was asked."""

        async def asked(models):
            client = AsyncOpenAI(base_url=f"{models.url}/v1", api_key="test-key", max_retries=0)
            fastapi_route.app.dependency_overrides[fastapi_route.client] = lambda: client
            transport = httpx.ASGITransport(fastapi_route.app)
            async with client, httpx.AsyncClient(transport=transport, base_url="http://test") as http:
                response = await http.post(path, json=MAIL)
                assert response.status_code == 200, response.text
                return response.text

        with LocalModels(script) as models:
            return asyncio.run(asked(models)), len(models.requests)

    def test_an_order_is_typed_and_asked_for_again(self):
        text, count = self.ask("/order", ['{"sku":"A-7","count":0}', f"Sure:\n```json\n{GOOD}\n```"])
        assert (json.loads(text), count) == ({"sku": "A-7", "count": 2}, 2)
        text, count = self.ask("/order", ['{"sku":"A-7","count":0}'] * 2)
        assert json.loads(text) == {"stop": "repeated", "reasons": ["must be >= 1"]}, text

    def test_an_order_is_streamed(self):
        text, count = self.ask("/order/stream", ["Which one?", GOOD])
        *partial, last = map(json.loads, text.splitlines())
        assert (last, count) == ({"order": {"sku": "A-7", "count": 2}}, 2)
        assert {"partial": {"sku": "A-7"}} in partial, partial
        text, _ = self.ask("/order/stream", [("", "stop", "I cannot help with that.")])
        assert json.loads(text.splitlines()[-1])["stop"] == "refused", text

    def test_questions_are_spans(self):
        SPANS.clear()
        self.ask("/order/stream", ["Which one?", GOOD])
        spans = SPANS.get_finished_spans()
        (question,) = [span for span in spans if span.name == "seamgate.ask"]
        assert question.attributes["seamgate.attempts"] == 2, question.attributes
        assert question.attributes["gen_ai.agent.name"] == "order"
        verdicts = [span for span in spans if span.name == "seamgate.validate"]
        assert {span.parent.span_id for span in verdicts} == {question.context.span_id}
        assert [span.attributes["seamgate.disposition"] for span in verdicts][-1] == "accepted"

    def test_the_route_says_what_it_returns(self):
        schemas = fastapi_route.app.openapi()["components"]["schemas"]
        assert set(schemas["Order"]["properties"]) == {"sku", "count"}


if __name__ == "__main__":
    unittest.main()
