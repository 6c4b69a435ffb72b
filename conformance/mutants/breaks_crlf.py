"""Takes CR and LF in two chunks for two line ends: loses the frame that is cut there."""

import base64

CAUGHT_BY = ["*#chunks:crlf"]


def handle(message, reference):
    if message["op"] == "stream" and "chunks" in message.get("input", {}):
        chunks = [base64.b64decode(chunk) for chunk in message["input"]["chunks"]]
        chunks = [chunk[:-1] + b"\n" if chunk.endswith(b"\r") else chunk for chunk in chunks]
        message["input"]["chunks"] = [base64.b64encode(chunk).decode() for chunk in chunks]
    return reference(message)
