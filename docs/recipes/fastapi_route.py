"""FastAPI: a route that streams an order as it comes, asks the model again, and ends with a typed, traced answer.

Each line of the response is JSON: the order as far as it has come, then what became of it.
"""

import json
from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import Depends, FastAPI
from fastapi.responses import StreamingResponse
from openai import AsyncOpenAI
from order import Order
from pydantic import BaseModel
from seamgate import AsyncAnswerStream, Messages, ask_async, ask_stream_async, otel

app = FastAPI()
# Spans and metrics of each question and each verdict, in the application's own OpenTelemetry.
otel.instrument()


class Mail(BaseModel):
    text: str


class NoOrder(BaseModel):
    stop: str
    reasons: list[str]


def client() -> AsyncOpenAI:
    return AsyncOpenAI()


Client = Annotated[AsyncOpenAI, Depends(client)]
# Spans, metrics and logs have this name.
POLICY = {"agent": "order", "retry": {"limit": 2}}


@app.post("/order")
async def order(mail: Mail, client: Client) -> Order | NoOrder:
    async def call_llm(messages: Messages) -> object:
        return await client.chat.completions.create(model="gpt-5-mini", messages=messages)

    answer = await ask_async(Order, call_llm, mail.text, contract=POLICY, timeout_seconds=30)
    if answer:
        return answer.data
    return NoOrder(stop=answer.stop, reasons=[violation.message for violation in answer.violations])


@app.post("/order/stream")
async def order_stream(mail: Mail, client: Client) -> StreamingResponse:
    async def call_llm(messages: Messages) -> object:
        return await client.chat.completions.create(model="gpt-5-mini", messages=messages, stream=True)

    stream = ask_stream_async(Order, call_llm, mail.text, contract=POLICY, stop_early=True, timeout_seconds=30)
    return StreamingResponse(lines(stream), media_type="application/x-ndjson")


async def lines(stream: AsyncAnswerStream[Order]) -> AsyncIterator[str]:
    # If the client disconnects, the model's stream is closed as well.
    async with stream:
        async for event in stream:
            if event.type == "progress":
                yield json.dumps({"partial": event.partial}) + "\n"
            elif event.type == "result" and event.result:
                # `data` is an Order.
                yield json.dumps({"order": event.result.data.model_dump()}) + "\n"
            elif event.type == "result":
                yield json.dumps({"stop": event.result.stop, "feedback": event.result.feedback}) + "\n"
