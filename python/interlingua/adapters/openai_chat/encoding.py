"""Streams played: `stream_encoder` writes the chunks with which a provider of this wire would have given some events."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from interlingua.adapters._kit import DELTAS, NOTHING, Encoder, Wire, arguments_text, encoded_in_turn, own_state
from interlingua.adapters.openai_chat.citations import annotations_to_wire
from interlingua.adapters.openai_chat.context import Writing
from interlingua.adapters.openai_chat.errors import error_in_stream
from interlingua.adapters.openai_chat.parts import ASSISTANT, USER, Block, part_to_wire
from interlingua.adapters.openai_chat.reasoning import DETAILS, PART, reasoning_to_wire
from interlingua.adapters.openai_chat.responses import (
    answer_id,
    as_told,
    finish_to_wire,
    is_logprobs,
    logprobs_to_wire,
    message_path,
    stop_to_wire,
    to_wire_response,
    usage_to_wire,
)
from interlingua.adapters.openai_chat.tools import CALLS, call_to_wire
from interlingua.adapters.openai_chat.turns import audio_to_wire
from interlingua.canonical import json
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.loss import Entry, Loss, Path, pointer
from interlingua.wire.sse import Frame

Event = dict[str, Any]

DONE: Final = "[DONE]"
_PROSE: Final = ("text", "refusal", "thinking")
_TAIL: Final = ',"logprobs":null,"finish_reason":null}]}'
_NOT_IN_CHUNKS: Final = frozenset(("object", "created", "choice"))


def stream_encoder(endpoint: Endpoint, *, created: int = 0) -> Encoder[Frame]:
    """The frames for these events, whatever their origin: role first, then deltas, finish, usage and the end mark.

    Reasoning goes out where the dialect has a place for it (`reasoning_replay`), and where it came from this provider;
    elsewhere it is left out. `created` is the time that the chunks bear, in seconds since 1970.
    """
    places = "prose" if endpoint.dialect.get("reasoning_replay") == "content" else "kind"
    return encoded_in_turn(_Encoder(endpoint, created).event, places)


class _Told:
    """What has been told of one block. `around` is what stands around each of its texts, as JSON text."""

    __slots__ = ("around", "block", "call", "kind", "text")

    def __init__(self, kind: str, block: Block) -> None:
        self.kind = kind
        self.block = block
        self.text: list[str] = []
        self.call = 0
        self.around: tuple[str, str] | None = None


def stream_loss(response: dict[str, Any], endpoint: Endpoint) -> list[Entry]:
    """What a stream of this answer does not say: names of calls go as they come, who speaks has none, and content is told
    in pieces, whoever gave it."""
    loss = Loss()
    own = own_state(response, endpoint)
    _, found = to_wire_response(_in_pieces(response, endpoint, loss), endpoint)
    if own:
        _, kept = to_wire_response(response, endpoint)
        found = [
            *(entry for entry in kept if not _of_content(entry)),
            *(entry for entry in found if _of_content(entry)),
        ]
    found = [entry for entry in found if entry["code"] != "name_rewritten"]
    told = {entry["path"] for entry in found}
    gone = {entry["path"] for entry in found if entry["op"] == "drop"}
    unsaid = [
        e for e in loss.entries if e["path"] not in told and e["path"].partition("/provider_state")[0] not in gone
    ]
    loss = Loss()
    for number, choice in enumerate([response, *response.get("alternatives", ())]):
        message = choice["message"]
        if message.get("name") is None or own or own_state(message, endpoint):
            continue
        where = message_path(number)
        if pointer((*where, "name")) not in told:
            loss.drop((*where, "name"), "unsupported_field", "weakened", "a stream has no names of participants")
    return [*unsaid, *found, *loss.entries]


def _of_content(entry: Entry) -> bool:
    return entry["path"].partition("message/")[2].startswith("content/")


def _in_pieces(response: dict[str, Any], endpoint: Endpoint, loss: Loss) -> dict[str, Any]:
    """The answer as one that is told in pieces: nobody says in what parts its content was given."""
    made = {name: value for name, value in response.items() if name != "provider_state"}
    made["message"] = _message_in_pieces(response["message"], 0, endpoint, loss)
    if "alternatives" in response:
        made["alternatives"] = [
            {**choice, "message": _message_in_pieces(choice["message"], number, endpoint, loss)}
            for number, choice in enumerate(response["alternatives"], 1)
        ]
    return made


def _message_in_pieces(message: dict[str, Any], number: int, endpoint: Endpoint, loss: Loss) -> dict[str, Any]:
    content = [
        _block_in_pieces(block, (*message_path(number), "content", place), endpoint, loss)
        for place, block in enumerate(message["content"])
    ]
    return {**message, "content": content}


def _block_in_pieces(block: Block, path: Path, endpoint: Endpoint, loss: Loss) -> Block:
    state = block.get("provider_state")
    if block["type"] not in _PARTS or state is None or not endpoint.owns(state):
        return block
    if (state.get("form") or NOTHING).get("member") == "images" or (block["type"] == "audio" and "id" in state):
        return block  # told whole, in a member of its own
    for name in state.get("fields") or ():
        at = (*path, "provider_state", "fields", name)
        loss.drop(at, "unsupported_field", "weakened", "a stream has no place for members of a part")
    if state.get("signature") is not None:
        at = (*path, "provider_state", "signature")
        loss.drop(at, "unsupported_field", "weakened", "a stream has no place for members of a part")
    return {name: value for name, value in block.items() if name != "provider_state"}


_PARTS: Final = frozenset(("text", "image", "audio", "document", "video"))
"""Blocks that are parts of the content of a whole answer."""


class _Encoder:
    """The identity that all chunks repeat, and what has been told of each block of each choice."""

    __slots__ = ("_calls", "_created", "_endpoint", "_heads", "_id", "_model", "_told", "_whole_calls", "_writing")

    def __init__(self, endpoint: Endpoint, created: int) -> None:
        self._endpoint = endpoint
        self._created = created
        self._id = ""
        self._model: str | None = endpoint.model
        self._heads: dict[int, str] = {}
        self._calls: dict[int, int] = {}
        self._told: dict[tuple[int, int], _Told] = {}
        self._whole_calls = endpoint.dialect.get("call_deltas") == "whole"
        self._writing = Writing({"provider_state": endpoint.state()}, endpoint, Loss(), answering=True)

    def event(self, event: Event) -> list[Frame]:
        """One event gives no frame, one or more."""
        if event["type"] in DELTAS:
            # nearly all events are these
            told = self._more(event.get("choice") or 0, event["index"], event["text"])
            return [] if told is None else [told]
        return list(self._told_of(event))

    def _told_of(self, event: Event) -> Iterator[Frame]:
        number: int = event.get("choice") or 0
        match event["type"]:
            case "message_start":
                self._identify(event)
                yield self._chunk(number, {"role": "assistant", "content": "", "refusal": None})
            case "block_start":
                yield from self._block_start(number, event)
            case "tool_use_start":
                yield from self._call_start(number, event)
            case "tool_use_end":
                yield from self._call_end(number, event)
            case "block_stop":
                yield from self._block_stop(number, event)
            case "message_complete":
                yield from self._finish(event["response"])
            case "error":
                yield _frame({"error": error_in_stream(event["error"], self._endpoint)})
            case _:
                pass

    def _identify(self, event: Event) -> None:
        self._id = self._id or event.get("response_id") or answer_id({"message": {"id": event.get("message_id")}})
        if (model := event.get("model")) is not None:
            self._model = model.partition(":")[2] or model
        self._heads.clear()

    def _chunk(self, number: int, delta: Wire) -> Frame:
        """A chunk of one delta."""
        return Frame(None, self._head(number) + json.dumps(delta).decode() + _TAIL)

    def _head(self, number: int) -> str:
        """What the chunks of a choice begin with. It is written once."""
        head = self._heads.get(number)
        if head is None:
            head = json.dumps(self._identity()).decode()[:-1] + f',"choices":[{{"index":{number},"delta":'
            self._heads[number] = head
        return head

    def _identity(self) -> Wire:
        return {
            "id": self._id,
            "object": "chat.completion.chunk",
            "created": self._created,
            "model": self._model or "",  # clients require it
        }

    def _frame(self, choices: list[Wire], **members: Any) -> Frame:
        return _frame({**self._identity(), "choices": choices, **members})

    # -- blocks

    def _block_start(self, number: int, event: Event) -> Iterator[Frame]:
        block = event["block"]
        told = self._told[number, event["index"]] = _Told(self._kind(block), block)
        if told.kind in _PROSE and (said := self._more(number, event["index"], block["text"])) is not None:
            yield said

    def _kind(self, block: Block) -> str:
        match block["type"]:
            case "text" if "provider_state" in block and self._writing.owned(block).get("fields"):
                return "part"  # its members beside the words come with them
            case "text":
                marked = block.get("refusal") and self._endpoint.dialect.get("refusals") is not False
                return "refusal" if marked else "text"
            case "thinking":
                return "thinking" if self._place(block) is not None else ""
            case "tool_use" if block.get("kind") == "custom" and self._folded(block):
                return "whole"  # free text becomes an argument, which is quoted as a whole
            case "tool_use" if not self._whole_calls:
                return "custom" if block.get("kind") == "custom" else "tool_use"
            case "tool_use":
                return "whole"
            case _:
                return ""

    def _folded(self, block: Block) -> bool:
        return self._endpoint.dialect.get("custom_tools") is False and not self._writing.owned(block)

    def _place(self, block: Block) -> str | None:
        """Where reasoning goes: the dialect's place, also for that of others; own reasoning goes where it came from."""
        own = self._writing.owned(block).get("form", NOTHING).get("member")
        replay = self._endpoint.dialect.get("reasoning_replay")
        return own or (replay if replay != "none" else None)

    def _more(self, number: int, index: int, text: str) -> Frame | None:
        told = self._told.get((number, index))
        if told is None or not text:
            return None
        told.text.append(text)
        if told.kind == "thinking":
            return self._chunk(number, self._thinking_delta(told.block, text, index))
        if told.around is None:
            before, after = _around(told)
            told.around = (self._head(number) + before if before else "", after)
        before, after = told.around
        return Frame(None, f"{before}{json.dumps(text).decode()}{after}") if before else None

    def _thinking_delta(self, block: Block, text: str, index: int) -> Wire:
        match self._place(block):
            case "reasoning_details":
                kind = self._writing.owned(block).get("form", NOTHING).get("type") or "reasoning.text"
                body = "summary" if kind == "reasoning.summary" else "text"
                return {"reasoning": text, DETAILS: [{"type": kind, body: text, "index": index}]}
            case "content" if self._writing.owned(block).get("form", NOTHING).get("type") == "reasoning":
                return {PART: [{"type": "reasoning", "summary": [{"type": "summary_text", "text": text}]}]}
            case "content":
                return {PART: [{"type": "thinking", "thinking": [{"type": "text", "text": text}]}]}
            case member:
                return {str(member): text}

    def _call_start(self, number: int, event: Event) -> Iterator[Frame]:
        told = self._told.setdefault((number, event["index"]), _Told("tool_use", {"id": event["id"]}))
        told.call = self._next_call(number)
        if told.kind == "whole":
            return  # it is told when it has ended
        call: Wire = {
            "index": told.call,
            "id": self._writing.call_id({**told.block, "id": event["id"]}, self._writing.owned(told.block)),
        }
        if told.kind == "custom":
            call |= {"type": "custom", "custom": {"name": event["name"], "input": ""}}
        else:
            call |= {"type": "function", "function": {"name": event["name"], "arguments": ""}}
        yield self._chunk(number, {"tool_calls": [call]})

    def _next_call(self, number: int) -> int:
        """The index of a further call of a choice."""
        call = self._calls.get(number, 0)
        self._calls[number] = call + 1
        return call

    def _call_end(self, number: int, event: Event) -> Iterator[Frame]:
        told = self._told.get((number, event["index"]))
        if told is not None and not told.text:
            # another wire may tell a call only when it is whole, and nothing of one without arguments
            text = event.get("input_raw")
            if text is None:
                text = "" if told.kind == "custom" else arguments_text(event["input"])
            if (said := self._more(number, event["index"], text)) is not None:
                yield said

    def _block_stop(self, number: int, event: Event) -> Iterator[Frame]:
        told = self._told.get((number, event["index"]))
        if told is None:
            return
        block = event["block"]
        said = "".join(told.text)
        text: str = block.get("text", "")  # what began as a text may turn out to be an item of its provider
        if told.kind in _PROSE and len(text) > len(said) and text.startswith(said):
            yield self._more(number, event["index"], text[len(said) :]) or self._chunk(number, {})
        if delta := self._rest(number, block, told, event["index"]):
            yield self._chunk(number, delta)

    def _rest(self, number: int, block: Block, told: _Told, index: int) -> Wire:
        """What the deltas of a block did not tell."""
        state = self._writing.owned(block)
        match block["type"]:
            case "text" if told.kind == "part":
                return {PART: [part_to_wire(block, (), self._writing, ASSISTANT)]}
            case "text" if (annotations := annotations_to_wire(block, self._writing)) is not None:
                return {"annotations": annotations}
            case "tool_use" if told.kind == "whole":
                folded = block.get("kind") == "custom" and self._folded(block)
                writing = Writing({}, self._endpoint, Loss(), answering=True) if folded else self._writing
                call = call_to_wire(block, 0, ("message",), writing, {"messages": []})
                return {CALLS: [{**call, "index": told.call}]}
            case "tool_use" if state.get("fields"):
                return {CALLS: [{**state["fields"], "index": told.call}]}
            case "thinking" if told.kind and self._place(block) == DETAILS:
                return self._detail(block, index, whole=self._place(told.block) != DETAILS)
            case "thinking" if told.kind and self._place(block) == PART:
                return self._part(block, state, empty=not told.text)
            case "redacted_thinking" if self._place(block) == DETAILS:
                return self._detail(block, index)
            case "image" if state.get("form", NOTHING).get("member") == "images":
                return {"images": [part_to_wire(block, (), self._writing, USER)]}
            case "audio" if "id" in state:
                return {"audio": audio_to_wire(block, state)}
            case "image" | "audio" | "video" | "document" if state:
                part = part_to_wire(block, (), self._writing, ASSISTANT)
                return {PART: [part]} if part is not None else {}
            case "opaque" if self._endpoint.owns(block):
                if block.get("kind") == CALLS:
                    return {CALLS: [{**block["value"], "index": self._next_call(number)}]}
                if block.get("kind") == DETAILS:
                    return {DETAILS: [block["value"]]}
                return {PART: [part_to_wire(block, (), self._writing, ASSISTANT)]}
            case _:
                return {}

    def _part(self, block: Block, state: Mapping[str, Any], *, empty: bool) -> Wire:
        """What a part of reasoning has beside its words; one of this provider that has none is told as well."""
        fields: Wire = {**(state.get("fields") or NOTHING)}
        proof: Wire = {"signature": block["signature"]} if "signature" in block else {}
        if not fields and not proof and not (state and empty):
            return {}
        if (state.get("form") or NOTHING).get("type") == "reasoning":
            summary = [{"type": "summary_text", "text": "", **proof}]
            return {PART: [{**fields, "type": "reasoning", "summary": summary}]}
        return {PART: [{**fields, **proof, "type": "thinking", "thinking": []}]}

    def _detail(self, block: Block, index: int, *, whole: bool = False) -> Wire:
        """What a detail has beside its words, or all of it: its words may have been told in another place."""
        _, item = reasoning_to_wire(block, (), self._writing)
        if item is None:
            return {}
        if whole:
            return {DETAILS: [{**item, "index": index}]}
        rest = {name: value for name, value in item.items() if name not in ("text", "summary")}
        return {DETAILS: [{**rest, "index": index}]} if rest.keys() - {"type", "index"} else {}

    # -- the end

    def _finish(self, response: dict[str, Any]) -> Iterator[Frame]:
        fields, own = self._fields(response)
        members = {name: value for name, value in fields.items() if name not in _NOT_IN_CHUNKS}
        for number, choice in enumerate([response, *response.get("alternatives", ())]):
            message = choice["message"]
            said, ours = self._fields(message)
            if (own or ours) and message.get("name") is not None:
                said = {**said, "name": message["name"]}
            if said := self._unsaid(number, said):
                yield self._chunk(number, said)
            beside = fields.get("choice", NOTHING) if number == 0 else self._fields(choice)[0]
            content = message["content"] if own else as_told(message["content"], self._endpoint.dialect)
            finish: Wire = {**beside, "finish_reason": finish_to_wire(choice, content, own=own)}
            finish.update(stop_to_wire(choice, content, self._endpoint.dialect))
            logprobs = choice.get("logprobs")
            if logprobs is not None and (own or is_logprobs(logprobs)):
                finish["logprobs"] = logprobs if own else logprobs_to_wire(logprobs)
            yield self._frame([{"index": number, "delta": {}, "logprobs": None, **finish}])
        if (usage := response.get("usage")) is not None:
            members["usage"] = usage_to_wire(usage, self._endpoint, own=own)
        if members:
            yield self._frame([], **members)
        yield Frame(None, DONE)

    def _unsaid(self, number: int, members: Mapping[str, Any]) -> Wire:
        """The members of a message without what its reasoning told beside its details already: pieces add up."""
        unsaid = dict(members)
        plain = unsaid.get("reasoning")
        said = "".join(
            "".join(told.text)
            for (choice, _), told in self._told.items()
            if choice == number and told.kind == "thinking" and self._place(told.block) == DETAILS
        )
        if isinstance(plain, str) and plain.startswith(said):
            unsaid["reasoning"] = plain[len(said) :]
        return unsaid

    def _fields(self, item: dict[str, Any]) -> tuple[Mapping[str, Any], bool]:
        """The members without canonical meaning that came from this provider; and whether the item did."""
        state = self._writing.owned(item)
        return state.get("fields") or NOTHING, bool(state)


def _around(told: _Told) -> tuple[str, str]:
    """What stands around the texts of a block in a chunk; nothing when they are not told."""
    match told.kind:
        case "text":
            return '{"content":', "}" + _TAIL
        case "refusal":
            return '{"refusal":', "}" + _TAIL
        case "tool_use":
            return f'{{"tool_calls":[{{"index":{told.call},"function":{{"arguments":', "}}]}" + _TAIL
        case "custom":
            return f'{{"tool_calls":[{{"index":{told.call},"custom":{{"input":', "}}]}" + _TAIL
        case _:
            return "", ""


def _frame(chunk: Wire) -> Frame:
    return Frame(None, json.dumps(chunk).decode())
