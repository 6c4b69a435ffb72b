"""A whole implementation of a wire that nobody speaks: what the suite demands, in two pages. Also a process plug.

The wire: `{"model", "limit", "turns": [{"who", "say": [text]}]}`, streams of JSON lines.
"""

from __future__ import annotations

import base64
import http.client
import json
import sys
import time
from typing import Any
from urllib.parse import urlsplit

Data = dict[str, Any]
OPERATIONS = [
    "to_wire",
    "from_wire_request",
    "from_wire_response",
    "to_wire_response",
    "stream",
    "error",
    "to_wire_error",
    "generate",
]
MEMBERS = {"model", "messages", "max_output_tokens", "options", "stream"}


def handle(message: Data) -> Data:
    operation = globals().get("op_" + message["op"])
    if operation is None or message.get("adapter", "toy") != "toy":
        return {"id": message["id"], "unsupported": True}
    try:
        return {"id": message["id"], "output": operation(message.get("input", {}))}
    except Refusal as refusal:
        return {"id": message["id"], "error": refusal.args[0]}
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        return {"id": message["id"], "error": {"category": "invalid_request", "message": f"not understood: {error}"}}


def op_hello(given: Data) -> Data:
    return {"protocol": 1, "implementation": {"name": "toy", "version": "1"}, "adapters": {"toy": OPERATIONS}}


def op_bye(given: Data) -> Data:
    return {}


def op_to_wire(given: Data) -> Data:
    request, loss = given["request"], []
    body: Data = {"model": request.get("model", ":").partition(":")[2], "turns": []}
    if "max_output_tokens" in request:
        body["limit"] = request["max_output_tokens"]
    for name in request:
        if name not in MEMBERS:
            loss.append(drop(f"/{name}", "unsupported_field"))
    for number, turn in enumerate(request["messages"]):
        said: list[str] = []
        for index, block in enumerate(turn["content"]):
            if block["type"] != "text":
                loss.append(drop(f"/messages/{number}/content/{index}", "unsupported_block"))
                continue
            said.append(block["text"])
            loss += [
                drop(f"/messages/{number}/content/{index}/{name}", "unsupported_field")
                for name in block
                if name not in ("type", "text")
            ]
        body["turns"].append({"who": turn["role"], "say": said, **turn.get("provider_state", {}).get("fields", {})})
    body.update(request.get("options", {}).get("toy", {}))
    loss += [drop(f"/options/{name}", "foreign_options") for name in request.get("options", {}) if name != "toy"]
    return {"wire": {"method": "POST", "path": "/talk", "headers": {}, "body": body}, "loss": loss}


def drop(path: str, code: str) -> Data:
    return {"op": "drop", "path": path, "code": code, "severity": "lost", "message": "this wire holds texts only"}


def op_from_wire_request(given: Data) -> Data:
    body = given["wire"]["body"]
    turns = [turn_of(turn) for turn in body["turns"]]
    request: Data = {"model": f"toy:{body['model'] or 'none'}", "messages": turns}
    if "limit" in body:
        request["max_output_tokens"] = a(int, body["limit"])
    rest = {name: value for name, value in body.items() if name not in ("model", "limit", "turns")}
    return {"request": {**request, **({"options": {"toy": rest}} if rest else {})}, "loss": []}


def turn_of(turn: Data) -> Data:
    rest = {name: value for name, value in turn.items() if name not in ("who", "say")}
    state = {"provider_state": {"adapter": "toy", "fields": rest}} if rest else {}
    said = [{"type": "text", "text": a(str, text)} for text in a(list, turn["say"])]
    return {"role": a(str, turn["who"]), "content": said, **state}


def a(kind: type, value: Any) -> Any:
    """A value that is of a type, and of no other: what is made of it has to be valid."""
    if type(value) is not kind or (kind is int and value < 1):
        raise TypeError(kind.__name__)
    return value


def op_from_wire_response(given: Data) -> Data:
    body = given["body"]
    rest = {name: value for name, value in body.items() if name not in ("say", "end")}
    message = turn_of({"who": "assistant", "say": body["say"]})
    state = {"provider_state": {"adapter": "toy", "fields": rest}} if rest else {}
    finish = {"finish_reason": "stop" if body["end"] == "done" else "other", "finish_reason_raw": a(str, body["end"])}
    return {"response": {"message": message, **finish, **state}, "loss": []}


def op_to_wire_response(given: Data) -> Data:
    response = given["response"]
    said = [block["text"] for block in response["message"]["content"]]
    rest = response.get("provider_state", {}).get("fields", {})
    return {"body": {"say": said, "end": response.get("finish_reason_raw") or "done", **rest}, "loss": []}


def op_stream(given: Data) -> Data:
    buffer, texts, parts, done = b"", [], [], False
    for chunk in given["chunks"]:
        events: list[Data] = []
        buffer += base64.b64decode(chunk)
        *lines, buffer = buffer.replace(b"\r\n", b"\n").split(b"\n")
        for line in lines:
            done = read_line(line, texts, events, done)
        parts.append(events)
    response = answer(texts, "stop" if done else "error")
    if not done:
        error = {"category": "stream_truncated", "message": "the stream ended early"}
        parts.append([{"type": "error", "error": error, "response": response}])
    else:
        parts.append([])
    return {"events": parts, "response": response}


def read_line(line: bytes, texts: list[str], events: list[Data], done: bool) -> bool:
    value = json.loads(line) if line.strip() and not done else {}
    if not texts and "say" in value:
        events += [
            {"type": "message_start"},
            {"type": "block_start", "index": 0, "block": {"type": "text", "text": ""}},
        ]
    if "say" in value:
        texts.append(value["say"])
        events.append({"type": "text_delta", "index": 0, "text": value["say"]})
    if "end" in value:
        block = {"type": "text", "text": "".join(texts)}
        events.append({"type": "block_stop", "index": 0, "block": block})
        events.append({"type": "message_complete", "response": answer(texts, "stop")})
        return True
    return done


def answer(texts: list[str], finish: str) -> Data:
    content = [{"type": "text", "text": "".join(texts)}] if texts else []
    return {"message": {"role": "assistant", "content": content}, "finish_reason": finish}


def op_error(given: Data) -> Data:
    busy = given["status"] == 503
    raw = {"raw": given["body"]} if given.get("raw") and given.get("body") else {}
    return {"category": "overloaded" if busy else "other", "message": "the provider failed", "retryable": busy, **raw}


def op_to_wire_error(given: Data) -> Data:
    error = given["error"]
    body = error.get("raw", {"why": error["message"]})
    return {
        "wire": {"status": 503 if error["category"] == "overloaded" else 418, "headers": {}, "body": body},
        "loss": [],
    }


def op_generate(given: Data) -> Data:
    """Calls the provider; a stream is read line by line, so that events come while it is still at work."""
    written = op_to_wire(given)
    address = urlsplit(given["base_url"])
    connection = http.client.HTTPConnection(address.netloc, timeout=given.get("deadline") or 10)
    headers = {"content-type": "application/json"}
    path, body = address.path + written["wire"]["path"], json.dumps(written["wire"]["body"])
    try:
        connection.request("POST", path, body, headers)
        answer = connection.getresponse()
        if answer.status >= 300:
            raise Refusal({**op_error({"status": answer.status}), "status": answer.status})
        if answer.headers.get_content_type() == "text/html":
            raise Refusal({"category": "invalid_response", "message": "a page", "retryable": False})
        if given.get("stream"):
            return streamed(answer, given.get("cancel_after"), given["request"]["model"])
        response = op_from_wire_response({"body": json.loads(answer.read())})["response"]
        loss = {"loss": written["loss"]} if written["loss"] else {}
        return {"response": {**response, "requested_model": given["request"]["model"], **loss}}
    except TimeoutError:
        raise Refusal({"category": "timeout", "message": "too late", "retryable": True}) from None
    except (http.client.HTTPException, OSError):
        raise Refusal({"category": "network", "message": "no connection", "retryable": True}) from None
    finally:
        connection.close()


class Refusal(Exception):
    """A canonical error."""


def streamed(answer: http.client.HTTPResponse, most: int | None, model: str) -> Data:
    chunks: list[str] = []
    events: list[Data] = []
    at: list[float] = []
    error: Data | None = None
    while True:
        try:
            line = answer.readline()
        except (http.client.HTTPException, OSError):
            error, line = {"category": "network", "message": "broken off", "retryable": True}, b""
        chunks.append(base64.b64encode(line).decode())
        found = op_stream({"chunks": chunks})["events"]
        known = [event for part in (found if not line else found[:-1]) for event in part]
        if known and known[0]["type"] == "message_start":
            known[0]["model"] = model
        at += [time.monotonic()] * (len(known) - len(events))
        events = known
        if most is not None and len(events) >= most:
            return {"events": events[:most]}
        if not line:
            break
    if events[-1]["type"] == "error":
        error = events[-1]["error"] = error or events[-1]["error"]
    return {"events": events, "at": at, **({"error": error} if error else {})}


if __name__ == "__main__":
    for text in sys.stdin:
        asked = json.loads(text)
        print(json.dumps(handle(asked)), flush=True)
        if asked["op"] == "bye":
            break
