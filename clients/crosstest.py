"""
The cross test: every canonical value of the suite, written as bytes by each language, is read by each other one.

Python stands beside the clients, with the converter of the server. Two things are asked of each reader: the value is the
same, and what a later version added (a field that nobody here knows, at the top and inside) does not get in the way.
When the message is written again, such a field is still there, but for the languages in `FORGETFUL`.
"""

import base64
import subprocess
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any, Protocol

from interlingua.canonical import json as canonical
from interlingua.v1 import types_pb2
from interlingua.verbs import convert

CASES = Path(__file__).resolve().parent.parent / "conformance" / "cases"
KINDS = {"request.canonical.json": "Request", "response.canonical.json": "Response", "request.read.json": "Request"}
FORGETFUL = {"rust"}
"""Whose messages keep no field that they do not know: prost's."""

LATER = 4000
"""The number of a field that a later version has."""


class Language(Protocol):
    """Who writes and reads bytes."""

    def encode(self, kind: str, value: Any) -> bytes: ...

    def decode(self, kind: str, data: bytes) -> tuple[Any, bytes]:
        """The value, and the bytes of the message when it is written again."""
        ...


class Python:
    """The reference, by the converter of its server."""

    def encode(self, kind: str, value: Any) -> bytes:
        return convert.to_proto(getattr(types_pb2, kind), value).SerializeToString()

    def decode(self, kind: str, data: bytes) -> tuple[Any, bytes]:
        message = getattr(types_pb2, kind).FromString(data)
        return convert.from_proto(message), message.SerializeToString()


class Plug:
    """A client's plug, see conformance/protocol.md; `encode` and `decode` are operations beside those of the suite."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        self._process = process

    def encode(self, kind: str, value: Any) -> bytes:
        return base64.b64decode(self._ask("encode", {"type": kind, "value": value})["bytes"])

    def decode(self, kind: str, data: bytes) -> tuple[Any, bytes]:
        output = self._ask("decode", {"type": kind, "bytes": base64.b64encode(data).decode()})
        return output["value"], base64.b64decode(output["bytes"])

    def _ask(self, operation: str, given: Any) -> Any:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(canonical.dumps({"id": 1, "op": operation, "input": given}) + b"\n")
        self._process.stdin.flush()
        answer = canonical.loads(self._process.stdout.readline())
        if "output" not in answer:
            raise ValueError(f"{operation}: {answer}")
        return answer["output"]


@contextmanager
def plug(command: list[str]) -> Generator[Plug]:
    """A running plug."""
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        yield Plug(process)
    finally:
        process.communicate(timeout=15)


def run(plugs: dict[str, Plug]) -> tuple[int, list[str]]:
    """How many values were carried, and what went wrong."""
    languages: dict[str, Language] = {"python": Python(), **plugs}
    wrong: list[str] = []
    count = 0
    for where, kind, value in values():
        count += 1
        for writer, writing in languages.items():
            try:
                data = writing.encode(kind, value)
            except Exception as problem:  # noqa: BLE001 whatever it is, it is told and counts
                wrong.append(f"{where}: {writer} does not write it: {problem}")
                continue
            for reader, reading in languages.items():
                wrong += [f"{where}, by {writer}: {what}" for what in _read(reader, reading, kind, data, value)]
    return count, wrong


def _read(name: str, reading: Language, kind: str, data: bytes, value: Any) -> Iterator[str]:
    try:
        if not same(reading.decode(kind, data)[0], value):
            yield f"{name} reads another value"
        read, again = reading.decode(kind, _of_later_version(kind, data))
        if not same(read, value):
            yield f"{name} reads another value beside fields of a later version"
        if name not in FORGETFUL and not (later(b"above") in again and later(b"inside") in again):
            yield f"{name} drops a field of a later version"
    except Exception as problem:  # noqa: BLE001 likewise
        yield f"{name} does not read it: {problem}"


def _of_later_version(kind: str, data: bytes) -> bytes:
    """The same message with a field that nobody here knows, at the top and in its first message."""
    message = getattr(types_pb2, kind).FromString(data)
    (message.messages[0] if kind == "Request" else message.message).MergeFromString(later(b"inside"))
    message.MergeFromString(later(b"above"))
    return message.SerializeToString()


def values() -> Iterator[tuple[str, str, Any]]:
    """Every canonical request and response of the cases: where it stands, its type, and itself."""
    for path in sorted(CASES.rglob("*.json")):
        if path.name in KINDS:
            yield str(path.parent.relative_to(CASES)), KINDS[path.name], canonical.loads(path.read_bytes())
    for name, value in EDGES.items():
        yield name, "Request", value


MESSAGE = {"role": "user", "content": [{"type": "text", "text": "é 漢 🙂 \u0000"}]}
EDGES: dict[str, Any] = {
    "integers of 64 bits": {"messages": [MESSAGE], "seed": 2**63 - 1},
    "the least integer of 64 bits": {"messages": [MESSAGE], "seed": -(2**63)},
    "an integer beyond them": {"messages": [MESSAGE], "seed": 2**80, "max_output_tokens": 2**40},
    "decimals": {
        "messages": [MESSAGE],
        "temperature": 0.1,
        "top_p": Decimal("0.12345678901234567890123"),
        "metadata": {"exact": Decimal("0.12345678901234567890123"), "huge": 10**60},
    },
    "members of a later version": {
        "messages": [{**MESSAGE, "mood": None}, {"role": "user", "content": [{"type": "hologram", "depth": 2**80}]}],
        "holograms": {"on": True, "layers": [1, 2.5, "x", None]},
    },
    "nulls and empty lists": {"messages": [MESSAGE], "model": None, "tools": [], "stop": [], "metadata": {}},
}


def same(one: Any, other: Any) -> bool:
    """Whether two values of JSON are the same: 1 is 1.0 and true is not 1."""
    match one, other:
        case dict(), dict():
            return one.keys() == other.keys() and all(same(item, other[name]) for name, item in one.items())
        case list(), list():
            return len(one) == len(other) and all(map(same, one, other))
        case bool(), _:
            return one is other
        case _, bool():
            return False
        case ((int() | float() | Decimal()), (int() | float() | Decimal())):
            return Decimal(repr(one) if isinstance(one, float) else one) == Decimal(
                repr(other) if isinstance(other, float) else other
            )
        case _:
            return type(one) is type(other) and one == other


def later(text: bytes) -> bytes:
    """The bytes of a field that nobody here knows."""
    return _varint(LATER << 3 | 2) + _varint(len(text)) + text


def _varint(number: int) -> bytes:
    groups = []
    while number > 127:
        groups.append(number & 127 | 128)
        number >>= 7
    return bytes([*groups, number])
