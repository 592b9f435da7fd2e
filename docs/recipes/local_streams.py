"""The streams of OpenAI and Anthropic, as events, for local_models.py."""

USAGE = {"input_tokens": 1, "output_tokens": 1}


def cut(text):
    return [text[at : at + 7] for at in range(0, len(text), 7)]


def chat(model, text, finish, refusal):
    def chunk(delta, reason=None):
        choice = {"index": 0, "delta": delta, "finish_reason": reason, "logprobs": None}
        return {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": model, "choices": [choice]}

    if isinstance(text, dict):
        for at, piece in enumerate(cut(text["arguments"])):
            function = {"name": "answer", "arguments": piece} if at == 0 else {"arguments": piece}
            yield chunk({"tool_calls": [{"index": 0, "id": "t1", "type": "function", "function": function}]})
    else:
        for piece in cut(refusal or text):
            yield chunk({"refusal" if refusal else "content": piece})
    yield chunk({}, "tool_calls" if isinstance(text, dict) else finish)
    yield {**chunk({}), "choices": []}


def response(model, text, finish, refusal):
    kind = "response.refusal.delta" if refusal else "response.output_text.delta"
    place = {"item_id": "m1", "output_index": 0, "content_index": 0, "logprobs": []}
    for number, piece in enumerate(cut(refusal or text)):
        yield {"type": kind, "delta": piece, "sequence_number": number, **place}
    is_whole = finish == "stop"
    whole = {
        **{"id": "r1", "object": "response", "created_at": 1, "model": model, "output": [], "tools": []},
        **{"status": "completed" if is_whole else "incomplete", "parallel_tool_calls": True, "tool_choice": "auto"},
        "incomplete_details": None if is_whole else {"reason": "max_output_tokens"},
    }
    yield {
        "type": "response.completed" if is_whole else "response.incomplete",
        "response": whole,
        "sequence_number": 99,
    }


def message(model, text, finish, refusal):
    begun = {"id": "m1", "type": "message", "role": "assistant", "content": [], "model": model, "usage": USAGE}
    yield {"type": "message_start", "message": {**begun, "stop_reason": None, "stop_sequence": None}}
    is_call = isinstance(text, dict)
    block = {"type": "tool_use", "id": "t1", "name": "answer", "input": {}} if is_call else {"type": "text", "text": ""}
    yield {"type": "content_block_start", "index": 0, "content_block": block}
    for piece in cut(text["arguments"] if is_call else refusal or text):
        delta = (
            {"type": "input_json_delta", "partial_json": piece} if is_call else {"type": "text_delta", "text": piece}
        )
        yield {"type": "content_block_delta", "index": 0, "delta": delta}
    yield {"type": "content_block_stop", "index": 0}
    reason = "tool_use" if is_call else "refusal" if refusal else {"stop": "end_turn", "length": "max_tokens"}[finish]
    yield {"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": None}, "usage": USAGE}
    yield {"type": "message_stop"}
