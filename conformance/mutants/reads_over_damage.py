"""Does not look at the checksums of an event stream."""

import base64
import struct
from binascii import crc32

CAUGHT_BY = ["wire/eventstream/*checksum*", "wire/eventstream/*changed*"]


def mended(data):
    """The same messages, their checksums made to fit what they hold."""
    found = b""
    while len(data) >= 16:
        total, headers = struct.unpack_from("!II", data)
        if not 16 + headers <= total <= len(data):
            break
        start = data[:8] + struct.pack("!I", crc32(data[:8])) + data[12 : total - 4]
        found += start + struct.pack("!I", crc32(start))
        data = data[total:]
    return found + data


def handle(message, reference):
    if message["op"] == "stream" and message.get("adapter") == "bedrock_converse" and "chunks" in message["input"]:
        data = b"".join(base64.b64decode(chunk) for chunk in message["input"]["chunks"])
        message["input"]["chunks"] = [base64.b64encode(mended(data)).decode()]
    return reference(message)
