"""A plug that claims everything and answers nothing. The suite must not give it a single pass."""

import json
import sys

OPERATIONS = (
    "to_wire from_wire_request from_wire_response to_wire_response stream stream_encode error to_wire_error estimate "
    "generate relay".split()
)
ADAPTERS = (
    "anthropic_messages bedrock_converse cohere_chat gemini_generate ollama_chat openai_chat openai_responses".split()
)


def handle(message):
    """`{}` to every question."""
    if message["op"] == "hello":
        return {
            "id": message["id"],
            "output": {
                "protocol": 1,
                "implementation": {"name": "null", "version": "0"},
                "adapters": dict.fromkeys(ADAPTERS, OPERATIONS),
                "operations": ["cost", "route", "route_by_file", "validate", "check", "check_call", "content_hash"],
            },
        }
    return {"id": message["id"], "output": {}}


if __name__ == "__main__":
    for line in sys.stdin:
        print(json.dumps(handle(json.loads(line))), flush=True)
