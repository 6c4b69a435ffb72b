"""Decodes UTF-8 chunk by chunk instead of over the whole stream."""

import base64

CAUGHT_BY = ["*#chunks:bytewise", "*#chunks:utf8", "bedrock_converse/*#stream"]
NOT_ON = {"*": {"bedrock_converse": "its messages are no text: decoded, even a whole stream is broken"}}


def handle(message, reference):
    if message["op"] == "stream" and "chunks" in message.get("input", {}):
        message["input"]["chunks"] = [
            base64.b64encode(base64.b64decode(chunk).decode("utf-8", "replace").encode()).decode()
            for chunk in message["input"]["chunks"]
        ]
    return reference(message)
