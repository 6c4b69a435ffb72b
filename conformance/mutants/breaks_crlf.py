"""Looks for CR LF inside each chunk alone: a line end that is cut in two is not seen."""

import base64

CAUGHT_BY = ["*#chunks:crlf"]
NOT_ON = {"*": {"bedrock_converse": "its messages have no lines"}}


def handle(message, reference):
    if message["op"] == "stream" and "chunks" in message.get("input", {}):
        chunks = [base64.b64decode(chunk) for chunk in message["input"]["chunks"]]
        chunks = [chunk.replace(b"\r\n", b"\n").replace(b"\r", b"~") for chunk in chunks]
        message["input"]["chunks"] = [base64.b64encode(chunk).decode() for chunk in chunks]
    return reference(message)
