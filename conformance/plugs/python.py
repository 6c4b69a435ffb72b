"""A plug to start from: fill in `to_wire`, run it, and grow.

python3 conformance/runner doctor -- python3 conformance/plugs/python.py
python3 conformance/runner run --adapter openai_chat -- python3 conformance/plugs/python.py
"""

import json
import sys

ADAPTER = "openai_chat"  # one of the folders of conformance/cases


class Refused(Exception):
    """Raise it for an input that cannot be used; the category is one of spec/8-errors.md."""

    def __init__(self, category, message, path=""):
        super().__init__(message)
        self.error = {"category": category, "message": message, "path": path}


def hello(adapter, given):
    return {
        "protocol": 1,
        "implementation": {"name": "skeleton", "version": "0", "language": "python"},
        "adapters": {ADAPTER: ["to_wire"]},  # claim only what you do
        "operations": [],
        "capabilities": [],  # "tools", "images", … as you add them: until then no check asks for more than text
    }


def to_wire(adapter, given):
    """Texts and a limit; any other member of the request is reported in `loss`, any other content refused."""
    request, messages = given["request"], []
    for number, turn in enumerate(request["messages"]):
        texts = [block["text"] for block in turn["content"] if block["type"] == "text"]
        if len(texts) != 1 or len(turn["content"]) != 1:
            raise Refused("unsupported", "only messages with one text", f"/messages/{number}/content")
        messages.append({"role": turn["role"], "content": texts[0]})
    body = {"model": request.get("model", "").partition(":")[2], "messages": messages}
    if "max_output_tokens" in request:
        body["max_completion_tokens"] = request["max_output_tokens"]
    loss = [
        {"op": "drop", "path": f"/{name}", "code": "unsupported_field", "severity": "lost", "message": "not yet"}
        for name in request
        if name not in ("model", "messages", "max_output_tokens")
    ]
    return {"wire": {"method": "POST", "path": "/chat/completions", "headers": {}, "body": body}, "loss": loss}


OPERATIONS = {"hello": hello, "to_wire": to_wire, "bye": lambda adapter, given: {}}


def handle(message):
    """The answer to one message: exactly one of output, error and unsupported."""
    operation = OPERATIONS.get(message["op"])
    if operation is None or message.get("adapter") not in (None, ADAPTER):
        return {"id": message["id"], "unsupported": True}
    try:
        return {"id": message["id"], "output": operation(message.get("adapter"), message.get("input", {}))}
    except Refused as refused:
        return {"id": message["id"], "error": refused.error}
    except (KeyError, TypeError, AttributeError) as error:
        return {"id": message["id"], "error": {"category": "invalid_request", "message": f"not understood: {error}"}}


if __name__ == "__main__":
    for line in sys.stdin:
        asked = json.loads(line)
        print(json.dumps(handle(asked)), flush=True)
        if asked["op"] == "bye":
            break
