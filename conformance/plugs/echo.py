"""A plug that claims everything and gives every input back. The suite must not give it a single pass."""

import json
import sys

OPERATIONS = (
    "to_wire from_wire_request from_wire_response to_wire_response stream stream_encode error to_wire_error estimate "
    "generate relay".split()
)
ADAPTERS = (
    "anthropic_messages bedrock_converse cohere_chat gemini_generate ollama_chat openai_chat openai_responses".split()
)

# The names under which the protocol takes a value in and gives one out: the echo is dressed as an answer.
PAIRS = {
    "request": "wire",
    "wire": "request",
    "body": "response",
    "response": "body",
    "events": "chunks",
    "chunks": "events",
}


def handle(message):
    """The input as output, also under the names that an output has."""
    if message["op"] == "hello":
        return {
            "id": message["id"],
            "output": {
                "protocol": 1,
                "implementation": {"name": "echo", "version": "0"},
                "adapters": dict.fromkeys(ADAPTERS, OPERATIONS),
                "operations": ["cost", "route", "route_by_file", "validate", "check", "check_call", "content_hash"],
            },
        }
    given = message.get("input", {})
    return {
        "id": message["id"],
        "output": {"loss": [], **given, **{PAIRS[name]: value for name, value in given.items() if name in PAIRS}},
    }


if __name__ == "__main__":
    for line in sys.stdin:
        print(json.dumps(handle(json.loads(line))), flush=True)
