"""Writes the request rightly when asked to, and sends another one when it generates."""

CAUGHT_BY = ["*#generate", "*#generate:stream"]


def handle(message, reference):
    if message["op"] == "generate" and isinstance(message["input"].get("request"), dict):
        turn = {"role": "user", "content": [{"type": "text", "text": "Be kind."}]}
        message["input"]["request"]["messages"] = [*message["input"]["request"]["messages"], turn]
    return reference(message)
