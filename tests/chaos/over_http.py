"""
Runs through the HTTP faces of a gateway: clients of every wire, on connections that they keep, who read slowly, break off
while they send and while they read; what they are answered is read as a client of their wire reads it.

The clients are h11's, and for every third connection h2's: what is no HTTP, or breaks off before its end, is no answer.
"""

import asyncio
import base64
import contextlib
import gzip
import socket
import struct
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any
from unittest import mock

import brotli
import h11
import zstandard
from client.upstream import Upstream
from gateway import wires
from google.protobuf import json_format
from google.rpc import error_details_pb2
from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.events import ConnectionTerminated, DataReceived, Event, ResponseReceived, StreamEnded, StreamReset
from h2.exceptions import H2Error
from hyperframe.frame import Frame, GoAwayFrame

from chaos.faults import FAULTS, KEY
from chaos.plans import CANONICAL, CONNECT_S, Failure, Run, client_of
from interlingua import translate
from interlingua.access import Access, Key, digest, new_key
from interlingua.canonical import json
from interlingua.client.httptools_transport import HttptoolsTransport
from interlingua.client.httpx_transport import HttpxTransport
from interlingua.client.routing import Routing
from interlingua.events import Events, log_event
from interlingua.gateway import guard, server
from interlingua.gateway.gateway import Gateway, Limits
from interlingua.sessions import Objects, Sessions
from interlingua.v1 import types_pb2 as types
from interlingua.verbs import convert

ENDS = {
    "anthropic_messages": b"event: message_stop\n",
    "openai_chat": b"data: [DONE]\n",
    "openai_responses": b"event: response.completed\n",
    "gemini_generate": b'"finishReason":"STOP"',
    "ollama_chat": b'"done":true',
    "bedrock_converse": b"messageStop",
    "cohere_chat": b'"finish_reason":"COMPLETE"',
}
"""What a stream of each wire has once, when its answer is whole, and never else."""

_ENCODED = {
    "": bytes,
    "gzip": gzip.compress,
    "zstd": lambda body: zstandard.ZstdCompressor().compress(body),
    "br": brotli.compress,
}
_PIECE = 700
_MAX_CALLS = 28
_PATIENCE_S = 10.0


@dataclass
class Answer:
    """What a client received: whole, or as far as it came."""

    status: int = 0
    headers: dict[str, str] = field(default_factory=dict[str, str])
    body: bytes = b""
    whole: bool = False
    begun: asyncio.Event = field(default_factory=asyncio.Event)
    broken: str = ""
    """How the connection broke, or what was no HTTP in it."""


class OverHttp:
    """A running gateway and its clients, with the connections that they keep."""

    def __init__(self, running: server.Running, key: str) -> None:
        self._running = running
        self._key = key
        self._kept: list[_Connection] = []
        self._opened = 0
        self._watched = Answer()
        self._live = asyncio.ensure_future(self._watch(self._watched))

    @property
    def running(self) -> int:
        """How many calls are counted."""
        return self._running.calls.running

    @property
    def held(self) -> object:
        """What everything that belongs to the server holds."""
        return self._running.gateway

    async def is_well(self) -> bool:
        """Whether it says that it serves, however busy it is."""
        connection = await self._open()
        answer = Answer()
        try:
            await connection.ask("GET", "/healthz", {}, b"", answer)
        finally:
            connection.close()
        return answer.status == 200

    async def stop(self, grace: float) -> None:
        """Ends the server."""
        await self._running.stop(grace)

    async def watcher_was_told(self) -> bool:
        """Whether the list of calls, which a page watches, came to its end."""
        await asyncio.wait_for(self._live, 5)
        return self._watched.whole

    async def watching(self) -> None:
        """Waits until the list of calls has begun to come, before there are calls enough to refuse it."""
        await self._watched.begun.wait()

    async def call(self, run: Run) -> None:
        """Makes the call of a run, as its caller does."""
        answer = run.answer = Answer()
        if run.face != CANONICAL and run.deadline is not None:  # a wire has no word for it: its client goes away
            run.leaves, run.deadline = run.deadline, None
        connection = self._kept.pop() if self._kept and run.number % 3 else await self._open()
        asking = asyncio.ensure_future(self._ask(run, connection, answer))
        await asyncio.wait({asking}, timeout=run.leaves)
        if not asking.done():
            run.left = True
            connection.leave(run.way_out)
        if not (await asyncio.wait({asking}, timeout=_PATIENCE_S))[0]:
            run.violations.append(f"the gateway holds the connection of a client that went away ({run.way_out})")
            connection.leave("reset")
        await asking
        _read(run, answer)

    async def _ask(self, run: Run, connection: "_Connection", answer: Answer) -> None:
        path, body = _request(run)
        headers = {"content-type": "application/json", **_proof(run.face, self._key)}
        if run.face == CANONICAL and run.deadline is not None:
            headers["connect-timeout-ms"] = str(max(1, round(run.deadline * 1000)))
        if run.encoding:
            headers["content-encoding"] = run.encoding
        sent = _ENCODED[run.encoding](json.dumps(body))
        try:
            await connection.ask("POST", path, headers, sent, answer, pause=run.pause, dribbles=run.dribbles)
        except (OSError, h11.RemoteProtocolError, H2Error) as problem:
            answer.broken = f"{type(problem).__name__}: {problem}"
        if not answer.whole or not connection.again():
            connection.close()
        elif run.number % 5:
            self._kept.append(connection)
        else:  # that it was answered is no reason to stay
            connection.leave("reset" if run.way_out == "reset" else "close")

    async def _open(self) -> "_Connection":
        self._opened += 1
        kind = _Connection if self._opened % 3 else _Http2Connection
        return kind(*await asyncio.open_connection("127.0.0.1", self._running.port, limit=4096))

    async def _watch(self, answer: Answer) -> None:
        connection = await self._open()
        try:
            await connection.ask("GET", "/v1/interlingua/live", _proof("", self._key), b"", answer)
        finally:
            connection.close()

    def settle(self, runs: list[Run]) -> None:
        """Adds to what was answered what the record of the call tells of it."""
        for connection in self._kept:
            connection.close()
        gateway = self._running.gateway
        for run in runs:
            record = gateway.calls.find(run.answer.headers.get("interlingua-request-id", ""), "chaos")
            _settle(run, record.to_dict() if record is not None else None)
        for record in gateway.calls.of("chaos"):
            if record.status is None:
                runs[0].violations.append(f"the record of a call does not end: {record.to_dict()}")
        if b"interlingua_running_calls 0.0" not in gateway.metrics.text():
            runs[0].violations.append("the metrics count calls that do not run")


class _Connection:
    """One connection of a client."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._http = h11.Connection(h11.CLIENT)
        self._left = False

    def _send(self, event: h11.Event) -> None:
        if self._left:
            raise ConnectionAbortedError("left before all was sent")
        self._writer.write(self._http.send(event) or b"")

    async def ask(
        self,
        method: str,
        path: str,
        headers: dict[str, str],
        body: bytes,
        answer: Answer,
        *,
        pause: float = 0.0,
        dribbles: bool = False,
    ) -> None:
        """Asks, and fills the answer in while it comes."""
        length = {"content-length": str(len(body))} if method == "POST" else {}
        head = h11.Request(method=method, target=path, headers=list({"host": "localhost", **headers, **length}.items()))
        self._send(head)
        step = max(1, len(body) // 3) if dribbles else max(1, len(body))
        for begin in range(0, len(body), step):
            if dribbles:
                await asyncio.sleep(0.003)
            self._send(h11.Data(data=body[begin : begin + step]))
        self._send(h11.EndOfMessage())
        await self._writer.drain()
        while True:
            event = self._http.next_event()
            if event is h11.NEED_DATA:
                if pause and answer.status:
                    await asyncio.sleep(pause)
                self._http.receive_data(await self._reader.read(_PIECE if pause else 65536))
            elif isinstance(event, h11.Response):
                answer.status = event.status_code
                answer.begun.set()
                answer.headers = {name.decode(): value.decode() for name, value in event.headers}
            elif isinstance(event, h11.Data):
                answer.body += bytes(event.data)
            elif isinstance(event, h11.EndOfMessage):
                answer.whole = True
                return
            elif isinstance(event, h11.ConnectionClosed):
                raise ConnectionResetError("closed without an answer")

    def again(self) -> bool:
        """Makes ready for another call; whether the connection can have one."""
        if self._left or self._http.our_state is not h11.DONE or self._http.their_state is not h11.DONE:
            return False
        self._http.start_next_cycle()
        return not self._writer.is_closing() and not self._reader.at_eof()

    def leave(self, way: str) -> None:
        """Goes away, in the middle of a call or after it: `half` still listens, and is not answered."""
        self._left = True
        with contextlib.suppress(OSError):
            {"close": self._writer.close, "reset": self._reset, "half": self._writer.write_eof}[way]()

    def _reset(self) -> None:
        # without this the other side sees an ordinary end
        self._writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._writer.transport.abort()

    def close(self) -> None:
        """Closes it."""
        self._writer.close()


class _Library(H2Connection):
    def _receive_goaway_frame(self, frame: GoAwayFrame) -> tuple[list[Frame], list[Event]]:  # noqa: ARG002
        return [], [ConnectionTerminated()]  # what was asked before it is still answered


class _Http2Connection(_Connection):
    """One of HTTP/2, which asks for one thing after another: it gives room as it reads, and goes away by a reset of its
    stream where the other closes."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        super().__init__(reader, writer)
        self._library = _Library(H2Configuration(header_encoding="utf-8"))
        self._library.initiate_connection()
        self._stream = 0
        self._ended = False

    def _flush(self) -> None:
        if self._left:
            raise ConnectionAbortedError("left before all was sent")
        self._writer.write(self._library.data_to_send())

    async def ask(
        self,
        method: str,
        path: str,
        headers: dict[str, str],
        body: bytes,
        answer: Answer,
        *,
        pause: float = 0.0,
        dribbles: bool = False,
    ) -> None:
        """Asks, and fills the answer in while it comes."""
        pseudo = {":method": method, ":scheme": "http", ":authority": "localhost", ":path": path}
        self._stream = id = self._library.get_next_available_stream_id()
        self._library.send_headers(id, list({**pseudo, **headers}.items()), end_stream=method != "POST")
        self._flush()
        left, step = memoryview(body), max(1, len(body) // 3) if dribbles else max(1, len(body))
        whole = method != "POST"
        while not answer.whole:
            while not whole and (room := min(self._library.local_flow_control_window(id), 16384, step)) > 0:
                if dribbles:
                    await asyncio.sleep(0.003)
                piece, left = left[:room], left[room:]
                whole = not left
                self._library.send_data(id, bytes(piece), end_stream=whole)
                self._flush()
            if pause and answer.status:
                await asyncio.sleep(pause)
            data = await self._reader.read(_PIECE if pause else 65536)
            if not data:
                raise ConnectionResetError("closed without an answer")
            for event in self._library.receive_data(data):
                if self._happened(event, answer):
                    whole = True  # the rest of the body is not asked for
            self._flush()

    def _happened(self, event: Event, answer: Answer) -> bool:
        """Takes what came; whether it ends what may be sent."""
        match event:
            case ConnectionTerminated():
                self._ended = True
            case ResponseReceived(stream_id=self._stream):
                answer.headers = {str(name): str(value) for name, value in event.headers or ()}
                answer.status = int(answer.headers[":status"])
                answer.begun.set()
            case DataReceived(stream_id=self._stream):
                answer.body += event.data or b""
                self._library.acknowledge_received_data(event.flow_controlled_length or 0, self._stream)
            case StreamEnded(stream_id=self._stream):
                answer.whole = True
                return True
            case StreamReset(stream_id=self._stream) if not answer.whole:
                raise ConnectionResetError(f"the stream is reset: {event.error_code}")
            case _:
                pass
        return False

    def again(self) -> bool:
        """Whether the connection can have another call."""
        return not (self._left or self._ended or self._writer.is_closing() or self._reader.at_eof())

    def leave(self, way: str) -> None:
        """Goes away."""
        if way == "close" and not self._left:
            with contextlib.suppress(H2Error, OSError):
                self._library.reset_stream(self._stream)
                self._flush()
        super().leave(way)


@contextlib.asynccontextmanager
async def serving(upstream: Upstream, runs: list[Run], number: int) -> AsyncIterator[OverHttp]:
    """A gateway over providers: in every other round one that stores objects, keeps contents, and uses httpx."""
    key, events = new_key(), Events(log_event)
    transport = HttpxTransport(connect_timeout=CONNECT_S) if number % 2 else HttptoolsTransport(connect_timeout=1.0)
    client = client_of(upstream, transport, events)
    policy = {"version": 1, "serve": {_model(run): ",".join(run.chain) for run in runs}}
    async with contextlib.AsyncExitStack() as stack:
        stack.push_async_callback(client.aclose)
        sessions = await stack.enter_async_context(Sessions("sqlite://", client=client)) if number % 2 else None
        gateway = Gateway(
            client,
            Routing(client.registry, policy, events=events),
            Access([Key("chaos", digest(key), "chaos")], clock=asyncio.get_running_loop().time, now=client.now),
            Limits(calls=_MAX_CALLS),
            inspect=20 if number % 2 else 0,
            objects=None if sessions is None else Objects(sessions),
        )
        # clients run in the same loop, so that a pause of a busy machine stops them while the gateway's time runs
        stack.enter_context(mock.patch.object(guard, "_LINGER_S", _PATIENCE_S))
        running = await server.start(gateway, port=0)
        over = OverHttp(running, key)
        try:
            await over.watching()
            yield over
        finally:
            await running.stop(0)


def _model(run: Run) -> str:
    return f"chaos-{run.number}"


def _request(run: Run) -> tuple[str, Any]:
    """Where the client of a run asks, and what."""
    if run.face == CANONICAL:
        run.stream = False
        asked = {"messages": [{"role": "user", "content": [{"type": "text", "text": run.said}]}]}
        told = {"requestJson": json.dumps(asked).decode(), "target": ",".join(run.chain), "jsonOutput": run.as_json}
        return "/interlingua.v1.InterlinguaService/Generate", told
    path = wires.path(run.face, stream=run.stream, model=_model(run))
    if run.buffered:  # the other frame that this wire has
        path = path.replace("?alt=sse", "")
    body = json.dumps(wires.body(run.face, stream=run.stream, model=_model(run)))
    return path, json.loads(body.replace(wires.TEXT.encode(), run.said.encode()))


def _proof(face: str, key: str) -> dict[str, str]:
    if face == "anthropic_messages":
        return {"x-api-key": key, "anthropic-version": "2023-06-01"}
    return {"x-goog-api-key": key} if face == "gemini_generate" else {"authorization": f"Bearer {key}"}


# ---------------------------------------------------------------------------------------------------- what was answered


def _read(run: Run, answer: Answer) -> None:
    """What a client of the wire understands: events, an answer, or an error."""
    wrong = run.violations.append
    if KEY.encode() in answer.body or KEY in str(answer.headers):
        wrong("a secret of the provider is told")
    if answer.status == 200 and run.stream:
        run.events = _events(run, answer)
        _judge_frames(run, answer)
    elif answer.status == 200 and answer.whole:
        run.response = _response(run, answer)
    complete = run.response is not None or (bool(run.events) and run.events[-1]["type"] == "message_complete")
    run.error = None if complete else answer
    # who left when all was there was told all the same
    run.left = run.left and not (complete or (answer.whole and answer.status != 200))


def _response(run: Run, answer: Answer) -> dict[str, Any]:
    if run.face != CANONICAL:
        return translate.read_response(answer.body, run.face)[0]
    told = json.loads(answer.body)
    if run.as_json:
        return dict(json.loads(told["responseJson"]))
    return convert.from_proto(json_format.ParseDict(told["response"], types.Response()))


def _events(run: Run, answer: Answer) -> list[dict[str, Any]]:
    """The events of a stream; without those that a client only has for knowing that it left."""
    body = answer.body
    if run.face == "gemini_generate" and answer.headers["content-type"].startswith("application/json"):
        text = body.decode().rstrip()
        elements = json.loads((text if text.endswith("]") else text.rstrip(",") + "]") if text else "[]")
        body = b"".join(b"data: " + json.dumps(element) + b"\n\n" for element in elements)
    reader = translate.StreamReader(run.face)
    events = reader.feed(body)
    done = reader.done
    if not (done or answer.whole):
        return events
    last = reader.end()  # Google's streams have no end but that of the body
    if not done and last and last[-1]["type"] == "error":
        run.violations.append("a stream ends without its end")
    return [*events, *last]


def _judge_frames(run: Run, answer: Answer) -> None:
    """A stream says once that it is whole, or it does not say so."""
    ends = answer.body.count(ENDS[run.face])
    complete = bool(run.events) and run.events[-1]["type"] == "message_complete"
    # Google's streams end with their body: who left before that has the last words and no end
    left_before_the_end = run.face == "gemini_generate" and not answer.whole and ends == 1
    if ends != complete and not left_before_the_end:
        run.violations.append(f"a stream says {ends} times that it is whole")


def _settle(run: Run, record: dict[str, Any] | None) -> None:
    """The record of a call tells the same as its answer; what an answer does not say is taken from there."""
    wrong = run.violations.append
    response = run.response or (run.events[-1].get("response") if run.events else None)
    complete = run.response is not None or (bool(run.events) and run.events[-1]["type"] == "message_complete")
    if record is None:
        if complete:
            wrong("an answer without a record")
        return
    if not complete or response is None:
        return
    told = {name: (response.get("usage") or {}).get(name) for name in ("input_tokens", "output_tokens")}
    if told != {name: (record["usage"] or {}).get(name) for name in told}:
        wrong(f"the answer says {told}, the record {record['usage']}")
    if run.face != CANONICAL and response.get("model", _model(run)).rpartition(":")[2] != _model(run):
        wrong(f"the answer names the model {response['model']}")
    response["requested_model"] = record["model"]
    response["usage"] = {**(response.get("usage") or {}), "cost_usd": (record["usage"] or {}).get("cost_usd")}
    response["attempts"] = [one for one in record["attempts"] if "category" in one]
    response["skipped"] = [one for one in record["attempts"] if "reason" in one]
    if record["status"] != 200 or record["category"] not in (None, "cancelled"):
        wrong(f"the record of an answer tells of {record['status']}, {record['category']}")


def typed(run: Run) -> Failure | str:
    """An error is one of the client's wire, with the status that goes with it."""
    answer: Answer = run.answer
    wrong = run.violations.append
    last = run.events[-1] if run.events else None
    in_stream = last is not None and last["type"] == "error" and answer.whole
    if last is not None and in_stream:
        error = last["error"]
    elif answer.whole and answer.status != 200:
        error = _error(run, answer)
    else:
        # a connection that was idle, or in the backlog, when the server closed
        if run.draining and not run.seen and not answer.status:
            return "shut down"
        wrong(f"neither an answer nor an error: {answer.status}, {answer.broken}, {answer.body[-200:]!r}")
        return "untyped"
    told_as = {} if run.face == CANONICAL else _told_as(run.face, in_stream=in_stream)
    return Failure(error["category"], _code(error), answer.body.decode("latin-1"), told_as=told_as)


@cache
def _told_as(wire: str, *, in_stream: bool) -> Mapping[str, str]:
    """What a client reads of each category: wires have no word for some, and at the end of a stream for fewer."""
    found: dict[str, str] = {}
    for category in frozenset(word for fault in FAULTS for word in fault.categories):
        error = {"category": category, "message": "no", "retryable": False}
        if in_stream:
            frames = translate.write_stream([{"type": "message_start"}, {"type": "error", "error": error}], wire)
            found[category] = list(translate.read_stream(frames, wire))[-1]["error"]["category"]
        else:
            told, _ = translate.write_error(error, wire)
            found[category] = translate.read_error(told["status"], told["headers"], told["body"], wire)["category"]
    return found


def _error(run: Run, answer: Answer) -> dict[str, Any]:
    wrong = run.violations.append
    if not 400 <= answer.status <= 599:
        wrong(f"an error with the status {answer.status}")
    if run.face != CANONICAL:
        return translate.read_error(answer.status, answer.headers, answer.body, run.face)
    info, canonical = error_details_pb2.ErrorInfo(), types.Error()
    for detail in json.loads(answer.body)["details"]:
        value = base64.b64decode(detail["value"] + "==")
        if detail["type"] == "google.rpc.ErrorInfo":
            info.ParseFromString(value)
        elif detail["type"] == "interlingua.v1.Error":
            canonical.ParseFromString(value)
    error = convert.from_proto(canonical)
    if error["category"] != info.reason:
        wrong(f"{error['category']} with {info.reason}")
    return error


def _code(error: dict[str, Any]) -> str:
    """The word of an error that is the gateway's own, which no wire has a place for."""
    told = f"{error['message']} {error.get('provider_message', '')}"
    if "calls, which is its limit" in told:
        return "max_calls"
    return "shutdown" if "shutting down" in told or "shut down" in told else ""
