"""Takes null for a value of its own when it hashes a message."""

import hashlib
import json

CAUGHT_BY = ["hash/messages#defaults", "hash/messages#unknown-block"]


def handle(message, reference):
    if message["op"] == "content_hash" and "null" in json.dumps(message["input"]):
        text = json.dumps(message["input"]["message"], sort_keys=True)
        return {"id": message["id"], "output": {"hash": hashlib.sha256(text.encode()).hexdigest()}}
    return reference(message)
