"""Instructor beside `ask`: the same model, the same client, the same prompt."""

from typing import Any

import instructor
from openai import OpenAI
from order import Order
from seamgate import ask

PROMPT = "Order for Ms Lee: two of A-7."


def with_instructor(client: OpenAI) -> dict[str, Any]:
    patched = instructor.from_openai(client, mode=instructor.Mode.MD_JSON)
    try:
        order = patched.chat.completions.create(
            model="gpt-5-mini",
            response_model=Order,
            max_retries=2,
            messages=[{"role": "user", "content": PROMPT}],
        )
    except Exception as error:
        return {"data": None, "says": type(error).__name__}
    return {"data": order, "says": "Order"}


def with_seamgate(client: OpenAI) -> dict[str, Any]:
    answer = ask(
        Order,
        lambda messages: client.chat.completions.create(model="gpt-5-mini", messages=messages),
        PROMPT,
        contract={"retry": {"limit": 2}},
    )
    return {"data": answer.data, "says": f"{answer.disposition.value}, {answer.stop}"}
