"""The three ways to reach an implementation: a process speaking JSON lines, a function in this process, a gRPC server.

Each class has `hello()`, `call(operation, adapter, input)`, `restart()` and `close()`. An answer is an `Answer`;
everything that is not an answer (a crash, a timeout, a line that breaks the protocol) is a `PlugError`.
"""

from __future__ import annotations

import collections
import contextlib
import difflib
import os
import queue
import re
import signal
import subprocess
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Protocol

from . import PROTOCOL_VERSION, SUITE_VERSION
from .compare import dumps, loads, show

OPERATIONS = (
    "to_wire",
    "from_wire_request",
    "from_wire_response",
    "to_wire_response",
    "stream",
    "stream_encode",
    "error",
    "to_wire_error",
    "estimate",
    "generate",
    "relay",
    "cost",
    "route",
    "route_by_file",
    "validate",
    "check",
    "check_call",
    "content_hash",
)
ADAPTER_OPERATIONS = OPERATIONS[:11]

CAPABILITIES = frozenset(
    "tools streaming images documents audio reasoning structured_output citations caching choices state_in_ids calls_as_offered".split()
)

ERROR_CATEGORIES = frozenset(
    "invalid_request unsupported loss_refused authentication permission billing not_found rate_limit context_overflow "
    "content_filter timeout network server_error overloaded invalid_response stream_truncated cancelled no_candidate "
    "internal other".split()
)


class PlugError(Exception):
    """The plug did not answer as the protocol demands. `question` is set when others may ask the same."""

    question: str | None = None


class PlugCrashError(PlugError):
    """The process ended."""


class PlugTimeoutError(PlugError):
    """No answer in time."""


class ProtocolError(PlugError):
    """An answer that the protocol does not allow."""


class InternalError(ProtocolError):
    """The plug caught a bug of its own: no answer, but the process is sound."""


@dataclass(frozen=True)
class Answer:
    """Exactly one of the three is set."""

    output: Any = None
    error: dict[str, Any] | None = None
    unsupported: bool = False


class Plug(Protocol):
    def hello(self) -> dict[str, Any]: ...
    def call(self, operation: str, adapter: str | None, input: Any) -> Answer: ...
    def restart(self) -> None: ...
    def close(self) -> None: ...


# The scripted upstream stands on loopback: no proxy lies between.
NO_PROXY = {"NO_PROXY": "127.0.0.1,localhost", "no_proxy": "127.0.0.1,localhost"}

HELLO_INPUT = {"protocol": PROTOCOL_VERSION, "suite": SUITE_VERSION}


def message_of(number: int, operation: str, adapter: str | None, input: Any) -> dict[str, Any]:
    message = {"id": number, "op": operation, "adapter": adapter, "input": input}
    if adapter is None:
        del message["adapter"]
    return message


def read_answer(message: Any, number: int) -> Answer:
    """Check one answer against the protocol; ProtocolError says in words what is wrong."""
    if not isinstance(message, dict):
        raise ProtocolError(f"an answer is a JSON object, got {show(message, 60)}")
    if message.get("id") != number or isinstance(message.get("id"), bool):
        raise ProtocolError(f"the answer to id {number} carries id {show(message.get('id'), 40)}")
    kinds = [name for name in ("output", "error", "unsupported") if name in message]
    if len(kinds) != 1:
        raise ProtocolError(
            f"an answer has exactly one of output, error and unsupported, this one has {kinds or 'none'}"
        )
    extra = sorted(set(message) - {"id", *kinds})
    if extra:
        raise ProtocolError(f"an answer has no member {extra[0]!r}")
    if kinds == ["unsupported"]:
        return Answer(unsupported=True)
    if kinds == ["error"]:
        return Answer(error=_checked_error(message["error"]))
    if not isinstance(message["output"], dict):
        raise ProtocolError(f"output is a JSON object, got {show(message['output'], 60)}")
    return Answer(output=message["output"])


def _checked_error(error: Any) -> dict[str, Any]:
    if not isinstance(error, dict) or not isinstance(error.get("message"), str):
        raise ProtocolError("an error is an object with category and message")
    if error.get("category") not in ERROR_CATEGORIES:
        raise ProtocolError(f"{show(error.get('category'), 40)} is not an error category of the specification")
    if error["category"] == "internal":
        raise InternalError(f"the implementation failed internally: {error['message'][:300]}")
    return error


HELLO_MEMBERS = ("protocol", "implementation", "adapters", "operations", "capabilities")


def read_hello(output: Any) -> dict[str, Any]:
    """The checked answer to hello. Which adapters there are is not known here: see `unknown_adapters`."""
    if not isinstance(output, dict):
        raise ProtocolError("hello must be answered with an output object")
    if output.get("protocol") != PROTOCOL_VERSION:
        raise ProtocolError(
            f"protocol {PROTOCOL_VERSION} is spoken here, the plug says {show(output.get('protocol'), 40)}"
        )
    implementation = output.get("implementation")
    if not isinstance(implementation, dict) or not implementation.get("name") or not implementation.get("version"):
        raise ProtocolError("hello needs implementation.name and implementation.version")
    for member in output:
        if member not in HELLO_MEMBERS:
            raise ProtocolError(f"hello has no member {show(member, 40)}{nearest(member, HELLO_MEMBERS)}")
    adapters = output.get("adapters", {})
    if not isinstance(adapters, dict):
        raise ProtocolError("hello.adapters maps adapter names to lists of operations")
    for name, operations in adapters.items():
        _known_words(f"hello.adapters.{name}", operations, ADAPTER_OPERATIONS, "an operation of an adapter")
    _known_words("hello.operations", output.get("operations", []), OPERATIONS, "an operation")
    _known_words("hello.capabilities", output.get("capabilities", []), sorted(CAPABILITIES), "a capability")
    return output


def _known_words(place: str, words: Any, known: Iterable[str], what: str) -> None:
    if not isinstance(words, list):
        raise ProtocolError(f"{place}: a list is due, got {show(words, 40)}")
    for word in words:
        if word in known:
            continue
        if word in OPERATIONS:  # of those without an adapter
            raise ProtocolError(f"{place}: {show(word, 40)} has no adapter; claim it in hello.operations")
        raise ProtocolError(f"{place}: {show(word, 40)} is not {what}{nearest(word, known)}")


def unknown_adapters(hello: dict[str, Any], wires: Iterable[str]) -> list[str]:
    """What is wrong with the names of the adapters: each must be a wire for which there is an adapter.json."""
    return [
        f"hello.adapters: {show(name, 40)} is not an adapter of the suite{nearest(name, wires)}. "
        "For a wire of your own, give the folder of its adapter.json with --cases"
        for name in hello.get("adapters", {})
        if name not in wires
    ]


def nearest(word: Any, known: Iterable[str], most: int = 20) -> str:
    """The end of a sentence about an unknown word: the known one that may be meant, else all when they are few."""
    names = sorted(known)
    found = difflib.get_close_matches(str(word), names, 1)
    if found:
        return f"; the nearest is {found[0]!r}"
    return f"; there are {', '.join(names)}" if len(names) <= most else ""


class FunctionPlug:
    """A function `handle(message) -> answer` in this process. Messages pass through JSON, as on a pipe."""

    def __init__(self, handle: Callable[[dict[str, Any]], Any]) -> None:
        self._handle = handle
        self._number = 0

    def hello(self) -> dict[str, Any]:
        return read_hello(self.call("hello", None, HELLO_INPUT).output)

    def call(self, operation: str, adapter: str | None, input: Any) -> Answer:
        self._number += 1
        message = loads(dumps(message_of(self._number, operation, adapter, input)))
        try:
            answer = loads(dumps(self._handle(message)))
        except Exception as error:
            raise PlugCrashError(f"the plug raised {type(error).__name__}: {error}") from error
        return read_answer(answer, self._number)

    def restart(self) -> None:
        """A function has nothing to start again."""

    def close(self) -> None:
        """A function has nothing to close."""


class ProcessPlug:
    """A long-lived process: one JSON message per line on stdin, one answer per line on stdout, stderr free for logs."""

    def __init__(self, command: list[str], timeout: float = 10.0) -> None:
        self.command = command
        self.timeout = timeout
        self.log: collections.deque[str] = collections.deque(maxlen=200)
        self._number = 0
        self._process: subprocess.Popen[bytes] | None = None
        self._lines: queue.Queue[bytes | None] = queue.Queue()
        self._early: dict[int, Any] = {}

    def hello(self) -> dict[str, Any]:
        """What the plug claims; a PlugError that begins with what the plug did instead of saying hello."""
        try:
            answer = self.call("hello", None, HELLO_INPUT)
        except PlugCrashError as error:
            if self._process is None:
                raise
            raise PlugCrashError(f"the plug ended before it said hello: {error}") from None
        except PlugTimeoutError as error:
            hint = "does it write one line for each, and flush standard output?"
            raise PlugTimeoutError(f"the plug did not say hello: {error}; {hint}") from None
        if answer.output is None:
            raise ProtocolError("hello must be answered with an output object")
        return read_hello(answer.output)

    def call(self, operation: str, adapter: str | None, input: Any) -> Answer:
        process = self._started()
        self._number += 1
        number = self._number
        line = dumps(message_of(number, operation, adapter, input)).encode() + b"\n"
        # A plug may write a long answer while a long message is still being sent to it: send from a thread of its own.
        sender = threading.Thread(target=self._send, args=(process, line), daemon=True)
        if len(line) > 32_000:
            sender.start()
        else:
            self._send(process, line)
        return read_answer(self._receive(number), number)

    def _send(self, process: subprocess.Popen[bytes], line: bytes) -> None:
        assert process.stdin is not None
        with contextlib.suppress(OSError, ValueError):
            process.stdin.write(line)
            process.stdin.flush()

    def _receive(self, number: int) -> Any:
        if number in self._early:
            return self._early.pop(number)
        while True:
            try:
                line = self._lines.get(timeout=self.timeout)
            except queue.Empty:
                raise PlugTimeoutError(f"no answer within {self.timeout:g} seconds") from None
            if line is None:
                raise PlugCrashError(self._last_words())
            message = _parse_line(line)
            if isinstance(message, dict) and isinstance(message.get("id"), int) and message["id"] > number:
                self._early[message["id"]] = message
                continue
            return message

    def _last_words(self) -> str:
        assert self._process is not None
        code = self._process.wait(timeout=5)
        self._logger.join(timeout=1)  # what it wrote last may still be on its way
        told = " | ".join(telling(self.log))
        return f"the process ended with {_status(code)}" + (f"; on stderr: {told}" if told else "")

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            try:
                self._process = subprocess.Popen(
                    self.command,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    env={**os.environ, **NO_PROXY},
                )
            except OSError as error:
                raise PlugCrashError(f"{self.command[0]} does not start: {error.strerror or error}") from error
            self._lines = queue.Queue()
            self._early = {}
            threading.Thread(target=_pump, args=(self._process.stdout, self._lines), daemon=True).start()
            self._logger = threading.Thread(target=_keep_log, args=(self._process.stderr, self.log), daemon=True)
            self._logger.start()
        return self._process

    def restart(self) -> None:
        self._end()

    def close(self) -> None:
        self.say_goodbye()
        self._end()

    def say_goodbye(self) -> bool:
        """Send bye and the end of input; whether the process then ends by itself."""
        process = self._process
        if process is None or process.poll() is not None:
            return True
        self._number += 1
        self._send(process, dumps(message_of(self._number, "bye", None, {})).encode() + b"\n")
        with contextlib.suppress(OSError, ValueError, AttributeError):
            process.stdin.close()  # type: ignore[union-attr]
        try:
            process.wait(timeout=2)
        except subprocess.TimeoutExpired:
            return False
        return True

    def _end(self) -> None:
        if self._process is None:
            return
        process, self._process = self._process, None
        if process.poll() is None:
            process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout, process.stderr):
            with contextlib.suppress(OSError, ValueError):
                pipe.close()  # type: ignore[union-attr]


def _parse_line(line: bytes) -> Any:
    try:
        return loads(line)
    except (ValueError, UnicodeDecodeError) as error:
        text = line.decode("utf-8", "replace").strip()
        raise ProtocolError(
            f"stdout holds {show(text, 120)}, which is not one JSON message ({error}); "
            "write logs to stderr, one message per line, and flush after each"
        ) from None


def _pump(pipe: Any, lines: queue.Queue[bytes | None]) -> None:
    with contextlib.suppress(OSError, ValueError):
        for line in pipe:
            if line.strip():
                lines.put(line)
    lines.put(None)


def _keep_log(pipe: Any, log: collections.deque[str]) -> None:
    with contextlib.suppress(OSError, ValueError):
        for line in pipe:
            log.append(line.decode("utf-8", "replace").rstrip())


_TELLING = re.compile(r"error|exception|panic|fatal|cannot|can't|unable|not found|no such", re.IGNORECASE)


def telling(log: Iterable[str], most: int = 3) -> list[str]:
    """The lines of a log that say why a process ended: the first that name an error, else the last ones."""
    lines = [line for line in log if line.strip()]
    naming = [line for line in lines if not line[0].isspace() and _TELLING.search(line)]
    return naming[:most] or lines[-most:]


def _status(code: int) -> str:
    """How a process ended, in words."""
    if code >= 0:
        return f"exit status {code}"
    try:
        return f"signal {signal.Signals(-code).name}"
    except ValueError:
        return f"signal {-code}"
