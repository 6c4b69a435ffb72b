"""One conversation with a plug: what it claimed, what it was asked, and what a check may conclude from an answer."""

from __future__ import annotations

import contextlib
import tempfile
from collections import OrderedDict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .compare import Difference, dumps, show
from .plug import Answer, Plug, PlugError
from .upstream import Upstream


class Failure(Exception):
    """A check found the implementation wrong. `told`: the message already speaks of the difference.

    `question` is set when a question got no usable answer, here as on Refused and PlugError: other checks may ask the same.
    """

    question: str | None = None

    def __init__(self, message: str, difference: Difference | None = None, told: bool = False) -> None:
        parts = [message] if difference is None or told else [message, str(difference)]
        super().__init__(": ".join(part for part in parts if part))
        self.message = message
        self.difference = difference


class Refused(Exception):
    """The implementation answered with a canonical error."""

    question: str | None = None

    def __init__(self, operation: str, error: dict[str, Any]) -> None:
        place = f" at {error['path']}" if error.get("path") else ""
        super().__init__(f"{operation} refused with {error['category']}{place}: {error['message']}")
        self.error = error


class Session:
    """Asks a plug, and remembers recent answers: many checks of one folder begin with the same question."""

    def __init__(self, plug: Plug, upstream: Upstream | None = None, policy: Path | None = None) -> None:
        """`upstream` and `policy` are what a server was told when it was started: its provider, and the file of its policy."""
        self.plug = plug
        self.hello = plug.hello()
        self._answers: OrderedDict[str, Answer] = OrderedDict()
        self._crashed: dict[str, PlugError] = {}
        self._upstream = upstream
        self._own_upstream: Upstream | None = None
        self._policy = policy

    @property
    def upstream(self) -> Upstream:
        """The provider that is scripted: the given one, or one that is started when first needed."""
        if self._upstream is None:
            self._upstream = self._own_upstream = Upstream()
        return self._upstream

    @contextlib.contextmanager
    def policy_file(self) -> Iterator[Path]:
        """A file for the policy of a check: the one that a server reads, which afterwards holds what it held, or a new one."""
        if self._policy is not None:
            before = self._policy.read_bytes()
            try:
                yield self._policy
            finally:
                self._policy.write_bytes(before)
            return
        with tempfile.TemporaryDirectory() as folder:
            yield Path(folder) / "policy.json"

    def close(self) -> None:
        """End the plug, and the upstream if it was started here."""
        self.plug.close()
        if self._own_upstream is not None:
            self._own_upstream.close()
            self._upstream = self._own_upstream = None

    @property
    def adapters(self) -> dict[str, list[str]]:
        return self.hello.get("adapters", {})

    def claims(self, operation: str, adapter: str | None) -> bool:
        if adapter is None:
            return operation in self.hello.get("operations", [])
        return operation in self.adapters.get(adapter, []) or (
            adapter in self.adapters and operation in self.hello.get("operations", [])
        )

    def answer(self, operation: str, adapter: str | None, input: Any) -> Answer:
        key = _question(operation, adapter, input)
        if key in self._crashed:
            raise self._crashed[key]  # a plug is not crashed twice with the same question
        if key not in self._answers:
            try:
                self._answers[key] = self.plug.call(operation, adapter, input)
            except PlugError as error:
                self._crashed[key] = error
                raise
            if len(self._answers) > 200:
                self._answers.popitem(last=False)
        return self._answers[key]

    def ask_anew(self, operation: str, adapter: str | None, input: dict[str, Any]) -> dict[str, Any]:
        """The output of what is not remembered, for it has an effect or hangs on one. A canonical error raises Refused."""
        answer = _offered(operation, self.plug.call(operation, adapter, input))
        if answer.error is not None:
            raise Refused(operation, answer.error)
        return answer.output

    def ask(self, operation: str, adapter: str | None, input: dict[str, Any], *members: str) -> dict[str, Any]:
        """The output, which must hold `members`. A canonical error raises Refused."""
        input = {name: value for name, value in input.items() if value is not None}
        try:
            answer = _offered(operation, self.answer(operation, adapter, input))
            if answer.error is not None:
                raise Refused(operation, answer.error)
            for member in members:
                if member not in answer.output:
                    raise Failure(
                        f"the output of {operation} has no member {member!r}, only {show(sorted(answer.output), 100)}"
                    )
        except (Failure, Refused, PlugError) as unusable:
            unusable.question = _question(operation, adapter, input)
            raise
        return answer.output


def _question(operation: str, adapter: str | None, input: Any) -> str:
    return dumps([operation, adapter, input])


def _offered(operation: str, answer: Answer) -> Answer:
    if answer.unsupported:
        raise Failure(f"false advertising: {operation} is claimed in hello and answers unsupported")
    return answer
