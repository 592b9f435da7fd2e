"""Anthropic: `ask_async` with messages. Many questions at the same time share one event loop."""

import asyncio

from anthropic import AsyncAnthropic
from order import Order
from seamgate import AskResult, Messages, ask_async


async def order(client: AsyncAnthropic, prompt: str) -> AskResult[Order]:
    async def call_llm(messages: Messages) -> object:
        return await client.messages.create(model="claude-sonnet-5-5", max_tokens=1000, messages=messages)

    return await ask_async(Order, call_llm, prompt, contract={"retry": {"limit": 2}})


async def main() -> None:
    client = AsyncAnthropic()
    prompts = ["Order for Ms Lee: two of A-7.", "Order for Mr Roy: one of B-2."]
    for answer in await asyncio.gather(*[order(client, prompt) for prompt in prompts]):
        print(answer.data if answer else answer.feedback)


if __name__ == "__main__":
    asyncio.run(main())
