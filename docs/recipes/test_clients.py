"""`ask` and `ask_stream` take what clients of models return, of their own types: responses, streams and tool calls."""

import asyncio
import unittest

from anthropic import Anthropic, AsyncAnthropic
from google.genai.types import GenerateContentResponse
from langchain_core.messages import AIMessage
from langchain_openai import ChatOpenAI
from local_models import LocalModels
from ollama import ChatResponse, GenerateResponse
from openai import AsyncOpenAI, OpenAI
from order import Order
from seamgate import Rejected, ask, ask_stream, ask_stream_async

FENCED = 'Sure:\n```json\n{"sku":"A-7","count":2}\n```'
CALL = {"arguments": '{"sku":"A-7","count":2}'}
ORDER = Order(sku="A-7", count=2)


def openai(models, cls=OpenAI):
    return cls(base_url=f"{models.url}/v1", api_key="test-key", max_retries=0)


def anthropic(models, cls=Anthropic):
    return cls(base_url=models.url, api_key="test-key", max_retries=0)


def streams(models):
    """Every way in which a client of the packages streams, by its name."""
    chat = {"model": "gpt-5-mini"}
    message = {"model": "claude-sonnet-5-5", "max_tokens": 100}
    langchain = ChatOpenAI(model="gpt-5-mini", base_url=f"{models.url}/v1", api_key="test-key", max_retries=0)
    return {
        "chat": lambda asked: openai(models).chat.completions.create(**chat, messages=asked, stream=True),
        "chat helper": lambda asked: openai(models).chat.completions.stream(**chat, messages=asked),
        "responses": lambda asked: openai(models).responses.create(**chat, input=asked, stream=True),
        "messages": lambda asked: anthropic(models).messages.create(**message, messages=asked, stream=True),
        "messages helper": lambda asked: anthropic(models).messages.stream(**message, messages=asked),
        "langchain": langchain.stream,
    }


def streams_async(models):
    chat = {"model": "gpt-5-mini"}
    message = {"model": "claude-sonnet-5-5", "max_tokens": 100}
    langchain = ChatOpenAI(model="gpt-5-mini", base_url=f"{models.url}/v1", api_key="test-key", max_retries=0)

    def of_openai():
        return openai(models, AsyncOpenAI)

    def of_anthropic():
        return anthropic(models, AsyncAnthropic)

    return {
        "chat": lambda asked: of_openai().chat.completions.create(**chat, messages=asked, stream=True),
        "chat helper": lambda asked: of_openai().chat.completions.stream(**chat, messages=asked),
        "responses": lambda asked: of_openai().responses.create(**chat, input=asked, stream=True),
        "messages": lambda asked: of_anthropic().messages.create(**message, messages=asked, stream=True),
        "messages helper": lambda asked: of_anthropic().messages.stream(**message, messages=asked),
        "langchain": langchain.astream,
    }


class Clients(unittest.TestCase):
    def test_streams(self):
        script = ['{"sku":"A-7","count":0}', FENCED]
        for name in ("chat", "chat helper", "responses", "messages", "messages helper", "langchain"):
            with self.subTest(name), LocalModels(script) as models:
                events = list(ask_stream(Order, streams(models)[name], "Order for Ms Lee."))
                self.check(events, models)

            async def later(models, name=name):
                return [event async for event in ask_stream_async(Order, streams_async(models)[name])]

            with self.subTest(f"{name}, asynchronous"), LocalModels(script) as models:
                self.check(asyncio.run(later(models)), models)

    def check(self, events, models):
        assert events[-1].result.data == ORDER
        partials = [event.partial for event in events if event.type == "progress" and event.attempt == 2]
        assert {"sku": "A-7"} in partials, partials
        assert len(models.requests) == 2

    def test_finish_and_refusals(self):
        cut_off = ('{"sku":"A-7"', "length", None)
        for name in ("chat", "responses", "messages", "langchain"):
            with self.subTest(name), LocalModels([cut_off]) as models:
                result = ask_stream(Order, streams(models)[name]).result()
                assert isinstance(result, Rejected)
                assert result.stop == "not_retryable", result.stop
        for name in ("chat", "responses", "messages"):
            with self.subTest(name), LocalModels([("", "stop", "I cannot help with that.")]) as models:
                assert ask_stream(Order, streams(models)[name]).result().stop == "refused"

    def test_tool_calls(self):
        for name in ("chat", "chat helper", "messages", "messages helper", "langchain"):
            with self.subTest(name), LocalModels([CALL]) as models:
                assert ask_stream(Order, streams(models)[name]).result().data == ORDER
        message = AIMessage("Let me see.", tool_calls=[{"name": "answer", "args": ORDER.model_dump(), "id": "1"}])
        assert ask(Order, lambda asked: message).data == ORDER

    def test_gemini(self):
        def response(*parts, finish="STOP"):
            content = {"role": "model", "parts": list(parts)}
            candidates = [{"content": content, "finishReason": finish}]
            return GenerateContentResponse.model_validate({"candidates": candidates})

        whole = response({"text": "Hm.", "thought": True}, {"text": FENCED})
        call = response({"functionCall": {"name": "answer", "args": ORDER.model_dump()}})
        for reply in (whole, call, whole.model_dump(by_alias=True, mode="json"), whole.model_dump(mode="json")):
            assert ask(Order, lambda asked, reply=reply: reply).data == ORDER
        counted = GenerateContentResponse.model_validate({"usageMetadata": {"totalTokenCount": 9}})
        chunks = [response({"text": FENCED[:20]}, finish=None), response({"text": FENCED[20:]}), counted]
        assert ask_stream(Order, lambda asked: iter(chunks)).result().data == ORDER
        assert ask_stream(Order, lambda asked: iter([call])).result().data == ORDER
        cut_off = response({"text": FENCED[:20]}, finish="MAX_TOKENS")
        assert ask(Order, lambda asked: cut_off).stop == "not_retryable"
        blocked = GenerateContentResponse.model_validate({"promptFeedback": {"blockReason": "SAFETY"}})
        assert ask(Order, lambda asked: blocked).stop == "not_retryable"
        assert ask_stream(Order, lambda asked: iter([blocked])).result().stop == "not_retryable"

    def test_ollama(self):
        def chat(text, done=True, reason="stop", **rest):
            message = {"role": "assistant", "content": text, **rest}
            return ChatResponse.model_validate({"model": "m", "done": done, "done_reason": reason, "message": message})

        call = chat("", tool_calls=[{"function": {"name": "answer", "arguments": ORDER.model_dump()}}])
        generated = GenerateResponse(model="m", done=True, done_reason="stop", response=FENCED)
        whole = chat(FENCED, thinking="Hm.")
        for reply in (whole, call, generated, whole.model_dump(), generated.model_dump()):
            assert ask(Order, lambda asked, reply=reply: reply).data == ORDER
        chunks = [chat(FENCED[:20], False, None), chat(FENCED[20:])]
        assert ask_stream(Order, lambda asked: iter(chunks)).result().data == ORDER
        assert ask_stream(Order, lambda asked: iter([call])).result().data == ORDER
        assert ask(Order, lambda asked: chat(FENCED[:20], reason="length")).stop == "not_retryable"


if __name__ == "__main__":
    unittest.main()
