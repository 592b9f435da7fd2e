"""A server on this machine that speaks as OpenAI and Anthropic do, for the tests of the recipes. It has a script."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import local_streams

USAGE = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2, "input_tokens": 1, "output_tokens": 1}


def chat(model, text, finish, refusal):
    message = {"role": "assistant", "content": text, "refusal": refusal}
    choice = {"index": 0, "message": message, "finish_reason": finish, "logprobs": None}
    return {"id": "c1", "object": "chat.completion", "created": 1, "model": model, "choices": [choice], "usage": USAGE}


def response(model, text, finish, refusal):
    part = {"type": "output_text", "text": text, "annotations": []}
    part = {"type": "refusal", "refusal": refusal} if refusal else part
    message = {"type": "message", "id": "m1", "status": "completed", "role": "assistant", "content": [part]}
    details = {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
    return {
        **{"id": "r1", "object": "response", "created_at": 1, "model": model, "output": [message], "tools": []},
        **{"status": "completed" if finish == "stop" else "incomplete", "usage": {**USAGE, **details}},
        **{"incomplete_details": None if finish == "stop" else {"reason": "max_output_tokens"}, "error": None},
        **{"parallel_tool_calls": True, "tool_choice": "auto", "metadata": {}, "instructions": None},
    }


def message(model, text, finish, refusal):
    reason = "refusal" if refusal else {"stop": "end_turn", "length": "max_tokens"}[finish]
    content = [{"type": "text", "text": refusal or text}]
    rest = {"model": model, "stop_reason": reason, "stop_sequence": None, "usage": USAGE}
    return {"id": "m1", "type": "message", "role": "assistant", "content": content, **rest}


# Of each interface: where the conversation is in a request, and what makes the response and the stream.
INTERFACES = {
    "/v1/chat/completions": ("messages", chat, local_streams.chat),
    "/v1/responses": ("input", response, local_streams.response),
    "/v1/messages": ("messages", message, local_streams.message),
}


def event(data):
    """An event of a stream, as it is sent."""
    name = f"event: {data['type']}\n" if "type" in data else ""
    return f"{name}data: {json.dumps(data)}\n\n"


class LocalModels:
    """`with LocalModels(script) as models`: each reply is a text, or a tuple of text, finish and refusal."""

    def __init__(self, script):
        self.script, self.requests = list(script), []

    def __enter__(self):
        models = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
                told, make, stream = INTERFACES[self.path]
                key = self.headers["authorization"] or self.headers["x-api-key"]
                assert key.endswith("test-key"), self.headers
                models.requests.append(asked[told])
                if not models.script:
                    self.send_error(500, "nothing is left in the script")
                    return
                reply = models.script.pop(0)
                text, finish, refusal = reply if isinstance(reply, tuple) else (reply, "stop", None)
                given = (asked["model"], text, finish, refusal)
                if asked.get("stream"):
                    body = "".join(map(event, stream(*given))).encode() + b"data: [DONE]\n\n"
                    kind = "text/event-stream"
                else:
                    body, kind = json.dumps(make(*given)).encode(), "application/json"
                self.send_response(200)
                self.send_header("content-type", kind)
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._server.server_close()
