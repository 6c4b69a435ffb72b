"""Read calls of the reserved name as the texts that they represent, in responses and streams."""

from collections.abc import Mapping
from typing import Any, Final, cast

from interlingua.adapters._engine.kit import arguments_text, encoding_in, with_spelling
from interlingua.adapters._structured.form import NAME
from interlingua.canonical import types

Response = dict[str, Any]
Event = dict[str, Any]
Block = dict[str, Any]

_TEXT_WORDS: Final = {"tool_use": "end_turn", "tool_calls": "stop", "function_call": "stop", "TOOL_CALL": "COMPLETE"}
"""The wire's finish reason for an answer in text, by its finish reason for calls, on wires that distinguish them."""


def unwrap_answer_call(response: Response, texts: Mapping[str, str] | None = None) -> types.Response:
    """Return a response that was read, with calls of the reserved name replaced by the texts that they represent.

    `texts` are the texts as they were streamed, by the ids of the calls.
    """
    _answer(response, texts)
    for other in response.get("alternatives") or ():
        _answer(other, texts)
    return cast("types.Response", response)


def _answer(choice: dict[str, Any], texts: Mapping[str, str] | None) -> None:
    content: list[Block] = choice["message"]["content"]
    is_answer = False
    for block in content:
        kind: str = block["type"]
        if kind == "tool_use" and block["name"] == NAME:
            is_answer = True
    if not is_answer:
        return
    texts = texts or {}
    with_texts = [
        text_of(block, texts.get(block["id"])) if block["type"] == "tool_use" and block["name"] == NAME else block
        for block in content
    ]
    choice["message"] = {**choice["message"], "content": with_texts}
    if choice.get("finish_reason") == "tool_calls" and not any(block["type"] == "tool_use" for block in with_texts):
        choice["finish_reason"] = "stop"
        raw = choice.get("finish_reason_raw")
        if raw in _TEXT_WORDS:
            choice["finish_reason_raw"] = _TEXT_WORDS[raw]


def text_of(call: Block, text: str | None = None) -> Block:
    """Return the text that a call of the reserved name represents; it keeps the id of the call."""
    state = call.get("provider_state") or {}
    if text is None:
        text = call.get("input_raw")
    if text is None:
        spellings = encoding_in(state).get("arguments")
        text = spellings if type(spellings) is str else arguments_text(call["input"])
    block: Block = {"type": "text", "text": text}
    if state:
        kept = {name: state[name] for name in _IDENTITY if name in state}
        rest = {name: value for name, value in state.items() if name not in _IDENTITY}
        block["provider_state"] = with_spelling(kept, "answer", rest)
    return block


_IDENTITY: Final = ("adapter", "provider", "origin", "id")


class AnswerCalls:
    """Replace the calls of the reserved name in a stream that is read with the texts that they represent.

    While it has not `begun`, single events need not be passed to it; several events that come together must be,
    because a call begins with two events.
    """

    __slots__ = ("_pieces", "_places", "begun")

    def __init__(self) -> None:
        self.begun = False
        self._places: dict[tuple[int, int], list[str]] = {}
        self._pieces: dict[str, list[str]] = {}  # the same, by the ids of the calls

    def events(self, events: list[Event]) -> list[Event]:
        """Return the events; those of such calls become events of texts."""
        if not self.begun:
            for event in events:
                if event["type"] == "tool_use_start" and event["name"] == NAME:
                    self.begun = True
            if not self.begun:
                return events
        given: list[Event] = []
        for event in events:
            kind: str = event["type"]
            if kind == "message_complete" or kind == "error":
                given.append(self._ended(event))
            elif kind == "block_start" and event["block"]["type"] == "tool_use" and event["block"]["name"] == NAME:
                self._places[_place(event)] = self._pieces[event["block"]["id"]] = []
                given.append({**event, "block": text_of(event["block"], "")})
            elif "index" in event and (pieces := self._places.get(_place(event))) is not None:
                self._of_call(event, pieces, given)
            else:
                given.append(event)
        return given

    def _of_call(self, event: Event, pieces: list[str], given: list[Event]) -> None:
        match event["type"]:
            case "tool_use_input_delta":
                pieces.append(event["text"])
                given.append({**_without(event, "id"), "type": "text_delta"})
            case "block_stop" if event["block"]["type"] != "tool_use":
                given.append(event)  # the complete item shows that it was no call
            case "block_stop":
                text = text_of(event["block"], "".join(pieces) if pieces else None)
                if not pieces and text["text"]:  # a call that came in one piece
                    pieces.append(text["text"])
                    given.append({**_without(event, "block"), "type": "text_delta", "text": text["text"]})
                given.append({**event, "block": text})
            case _:
                pass  # the start and the end of a call; a text has no such events

    def _ended(self, event: Event) -> Event:
        response = event.get("response")
        texts = {identity: "".join(pieces) for identity, pieces in self._pieces.items()}
        return event if response is None else {**event, "response": unwrap_answer_call({**response}, texts)}


def _without(event: Event, *names: str) -> Event:
    return {name: value for name, value in event.items() if name not in names}


def _place(event: Event) -> tuple[int, int]:
    choice: int = event.get("choice") or 0
    index: int = event["index"]
    return choice, index
