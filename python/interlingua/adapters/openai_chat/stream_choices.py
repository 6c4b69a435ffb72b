"""One choice of a stream: takes its deltas, in the dialects of all vendors, and knows it as a whole answer would have it."""

from typing import Any, Final

from interlingua.adapters._kit import Event, Wire
from interlingua.adapters.openai_chat.context import Reading
from interlingua.adapters.openai_chat.parts import Block
from interlingua.adapters.openai_chat.reasoning import DETAILS, TEXTS
from interlingua.adapters.openai_chat.stream_blocks import IMAGES_LANE, Blocks, Said
from interlingua.adapters.openai_chat.stream_calls import Calls
from interlingua.adapters.openai_chat.stream_contents import take_content, take_detail, words_of
from interlingua.adapters.openai_chat.turns import answer_from_wire

_STREAM_ONLY: Final = frozenset(("index", "delta", "message", "finish_reason", "logprobs", "usage"))


class Choice:
    """One of the answers: what has been said, the blocks and calls that have been told, and how it ended."""

    __slots__ = ("_blocks", "_calls", "_media_told", "_reading", "_rest", "_said", "finish", "logprobs", "number")

    def __init__(self, number: int, reading: Reading) -> None:
        self.number = number
        self.finish: str | None = None
        self.logprobs: Wire | None = None
        self._reading = reading
        self._said = Said()
        self._blocks = Blocks(number, self._said, reading)
        self._calls = Calls(self._blocks, reading)
        self._media_told = False
        self._rest: Wire = {}

    def mark(self, event: Event) -> Event:
        """The event, with the number of this choice unless it is the first."""
        return self._blocks.mark(event)

    # -- chunks

    def word(self, delta: Wire) -> list[Event] | None:
        """The event of a delta that goes on with the text that is being told; None for any other."""
        text = delta.get("content")
        blocks, said = self._blocks, self._said
        if type(text) is not str or not text or blocks.kind != "text" or said.parts is not None:
            return None
        said.texts["content"].append(text)
        return [blocks.word(text)]

    def take(self, wire: Wire, events: list[Event]) -> None:
        """Takes the choice of one chunk."""
        delta = wire.get("delta")
        if isinstance(delta, dict):
            content = delta.get("content")
            if type(content) is str and content and len(delta) == 1 and self._said.parts is None:
                self._said.more("content", content)
                self._blocks.text("text", content, events)
            else:
                self._delta(delta, events)
        elif isinstance(message := wire.get("message"), dict):
            self._delta(self._news(message), events)
        for name, value in wire.items():
            if name not in _STREAM_ONLY and value is not None:
                before = self._rest.get(name)
                self._rest[name] = (
                    {**before, **value} if isinstance(before, dict) and isinstance(value, dict) else value
                )
        if isinstance(logprobs := wire.get("logprobs"), dict):
            self._take_logprobs(logprobs)
        finish = wire.get("finish_reason")
        if isinstance(finish, str) and finish:
            self.finish = finish

    def _news(self, message: Wire) -> Wire:
        """A message that stands in the place of a delta tells all so far: what of it is new."""
        news = dict(message)
        for name in ("content", "refusal", *TEXTS):
            text, told = news.get(name), self._said.text(name)
            if isinstance(text, str) and told and text.startswith(told):
                news[name] = text[len(told) :]
        for name in ("annotations", "images"):
            items, before = news.get(name), self._said.members.get(name)
            if isinstance(items, list) and before and items[: len(before)] == before:
                news[name] = items[len(before) :]
        details, calls = news.get(DETAILS), news.get("tool_calls")
        if isinstance(details, list) and self._said.worded and words_of(details) == words_of(self._said.details):
            news[DETAILS] = []
        if isinstance(calls, list) and self._calls.told:
            known = {call.id for call in self._calls.told}
            news["tool_calls"] = [call for call in calls if call.get("id") not in known]
        return news

    def _delta(self, delta: Wire, events: list[Event]) -> None:
        """Takes a delta: reasoning is told before content, a refusal behind it, calls last."""
        said, blocks = self._said, self._blocks
        details = delta.get(DETAILS)
        told = False
        if isinstance(details, list):
            for item in details:
                told = take_detail(item, said, blocks, self._reading, events) or told
        for name, value in delta.items():
            match name:
                case "reasoning_content" | "reasoning" | "reasoning_text" if isinstance(value, str):
                    if value and not told and not said.worded and not self._echoes(name, value, delta):
                        blocks.text("thinking", value, events, name)
                    said.more(name, value)
                case "content" | "refusal" | "tool_calls" | "function_call" | "reasoning_details":
                    pass
                case _:
                    _take_member(said.members, name, value)
        take_content(delta.get("content"), said, blocks, self._reading, events)
        refusal = delta.get("refusal")
        if isinstance(refusal, str):
            said.more("refusal", refusal)
            if refusal:
                blocks.text("refusal", refusal, events)
        elif "refusal" in delta:
            said.texts.setdefault("refusal", [])
        for call in delta.get("tool_calls") or ():
            self._calls.take(call, events)
        if isinstance(legacy := delta.get("function_call"), dict):
            self._calls.take_legacy(legacy, events)

    def _echoes(self, name: str, value: str, delta: Wire) -> bool:
        """Whether the other member of plain reasoning says the same in this delta."""
        return (
            name == "reasoning_content" and delta.get("reasoning") == value and self._blocks.key == "reasoning"
        ) or (name == "reasoning" and delta.get("reasoning_content") == value)

    def _take_logprobs(self, logprobs: Wire) -> None:
        merged = self.logprobs = self.logprobs or {}
        for name, value in logprobs.items():
            if isinstance(value, list) and isinstance(merged.get(name), list):
                merged[name] = merged[name] + value
            elif value is not None or name not in merged:
                merged[name] = value

    # -- the end

    def close(self, events: list[Event]) -> None:
        """Ends all blocks that are being told, and tells those that came whole."""
        blocks, members = self._blocks, self._said.members
        blocks.end(events)
        if "annotations" in members:
            blocks.cite_late(events)
        self._calls.end(events)
        if not self._media_told and ("images" in members or "audio" in members):
            self._media_told = True
            whole: Wire = {name: members[name] for name in ("images", "audio") if name in members}
            for block in answer_from_wire({"role": "assistant", "content": None, **whole}, self._reading)["content"]:
                blocks.whole(block, (IMAGES_LANE, blocks.count()), events)

    def whole(self) -> Wire:
        """The choice as a whole answer would have it."""
        message = self._said.wire(calls=bool(self._calls.told))
        self._calls.add_to(message)
        choice: Wire = {"index": self.number, **self._rest, "message": message, "finish_reason": self.finish}
        choice["logprobs"] = self.logprobs
        return choice

    def settle(self, answer: dict[str, Any]) -> None:
        """Gives the calls of the answer as it was read the ids that the events told."""
        message = answer["message"]
        read: list[Block] = message["content"]
        told = self._blocks.in_members()
        if [block["type"] for block in read] != [block["type"] for block in told]:
            message["content"] = told  # the wire has no whole answer that says this
            return
        for position, block in enumerate(told):
            if block["type"] == "tool_use":
                read[position] = {**read[position], "id": block["id"]}

    def places(self) -> list[int] | None:
        """Where each block stands in the message; None when that is where it was told."""
        return self._blocks.places()

    def partial(self) -> dict[str, Any]:
        """What had arrived: a call that is not whole keeps its argument text and is not one to run."""
        content = self._blocks.so_far()
        self._calls.add_unended(content)
        answer = failed_answer([block for block in content if block is not None])
        if self.finish is not None:
            answer["finish_reason_raw"] = self.finish
        return answer


def failed_answer(content: list[Block]) -> dict[str, Any]:
    """What had arrived of an answer that failed."""
    message = {"role": "assistant", "content": content, "metadata": {"status": "error"}}
    return {"message": message, "finish_reason": "error"}


# ---------------------------------------------------------------------------------------------------- other members


def _take_member(members: Wire, name: str, value: Any) -> None:
    """Takes a member of a delta that is no piece of content: lists grow, objects are merged, else the last one counts."""
    match name:
        case "role":
            members.setdefault("role", value)
        case "audio" if isinstance(value, dict):
            _take_audio(members, value)
        case "annotations" | "images" if isinstance(value, list):
            members[name] = [*members.get(name, ()), *value]
        case "obfuscation" | "p" | "padding" | "channel":
            pass
        case "thinking_blocks" if isinstance(value, list):
            members[name] = _joined_blocks(members.get(name) or [], value)
        case _:
            before = members.get(name)
            if isinstance(before, dict) and isinstance(value, dict):
                members[name] = {**before, **value}
            elif value is not None:
                members[name] = value
            else:
                members.setdefault(name, None)


def _take_audio(members: Wire, value: Wire) -> None:
    audio = members.setdefault("audio", {})
    for name, item in value.items():
        joins = name in ("data", "transcript") and isinstance(item, str) and isinstance(audio.get(name), str)
        audio[name] = audio[name] + item if joins else item


def _joined_blocks(before: list[Any], blocks: list[Any]) -> list[Any]:
    """LiteLLM's thinking blocks, which come in pieces: one goes on until it has a signature."""
    joined = list(before)
    for block in blocks:
        last = joined[-1] if joined else None
        if (
            isinstance(block, dict)
            and isinstance(last, dict)
            and not last.get("signature")
            and isinstance(block.get("thinking"), str)
            and isinstance(last.get("thinking"), str)
        ):
            joined[-1] = {**last, **block, "thinking": last["thinking"] + block["thinking"]}
        else:
            joined.append(block)
    return joined
