"""OpenAI: `ask` with chat completions, and with responses."""

from openai import OpenAI
from order import Order
from seamgate import AskResult, Messages, ask


def chat_completions(client: OpenAI, prompt: str) -> AskResult[Order]:
    def call_llm(messages: Messages) -> object:
        return client.chat.completions.create(model="gpt-5-mini", messages=messages)

    return ask(Order, call_llm, prompt, contract={"retry": {"limit": 2}})


def responses(client: OpenAI, prompt: str) -> AskResult[Order]:
    def call_llm(messages: Messages) -> object:
        return client.responses.create(model="gpt-5-mini", input=messages)

    return ask(Order, call_llm, prompt, contract={"retry": {"limit": 2}})


if __name__ == "__main__":
    answer = chat_completions(OpenAI(), "Order for Ms Lee: two of A-7.")
    if answer:
        print(answer.data.sku, answer.data.count)
    else:
        print(answer.disposition.value, answer.feedback)
