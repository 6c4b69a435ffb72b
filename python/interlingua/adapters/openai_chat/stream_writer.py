"""Streams to the wire: `stream_encoder` writes the chunks that a provider of this wire would send for the events."""

from collections.abc import Mapping
from typing import Any, Final

from interlingua.adapters._answers.answers import has_tokens, written_end
from interlingua.adapters._answers.stream_writer import (
    NO_ANSWER,
    TEXT,
    Encoder,
    OpenBlock,
    Writer,
    encoded,
    identity_of,
    model_of,
)
from interlingua.adapters._engine.kit import NOTHING, Event, Wire, data_of, state_of
from interlingua.adapters._openai.errors import error_in_stream
from interlingua.adapters.openai_chat.parts import ASSISTANT, Block, annotations_to_wire
from interlingua.adapters.openai_chat.reasoning import DETAILS, PART
from interlingua.adapters.openai_chat.responses import (
    COUNTS,
    ENDS,
    answer_id,
    fitted_refusals,
    logprobs_to_wire,
    message_path,
    stop_to_wire,
    to_wire_response,
)
from interlingua.adapters.openai_chat.tables import Writing
from interlingua.adapters.openai_chat.tools import CALLS, call_to_wire
from interlingua.adapters.openai_chat.turns import answer_to_wire
from interlingua.canonical import types
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.loss import Entry, Loss, pointer
from interlingua.canonical.types import Error
from interlingua.wire.sse import Frame

_DELTAS: Final[dict[str, Wire]] = {"text": {"content": TEXT}, "refusal": {"refusal": TEXT}}
_NOT_IN_CHUNKS: Final = frozenset(("object", "created", "choice"))


def stream_encoder(endpoint: Endpoint, *, created: int = 0) -> Encoder[Frame]:
    """Return the encoder of events of any origin: role first, then deltas, finish, usage and the end mark.

    Reasoning is written where the dialect has a place for it (`reasoning_replay`), and where it came from this
    provider; otherwise it is left out. `created` is the creation time in the chunks, in seconds since 1970.
    """
    return encoded(_Writer(endpoint, created), "prose")


def stream_loss(answer: types.Response, endpoint: Endpoint) -> list[Entry]:
    """Return the losses of a stream of this answer, as far as they are known before its pieces are read. Names of calls
    are written unchanged, and a message has no name of its participant."""
    response = data_of(answer)
    _, found = to_wire_response(answer, endpoint)
    found = [entry for entry in found if entry["code"] != "name_rewritten"]
    reported = {entry["path"] for entry in found}
    loss = Loss()
    for number, choice in enumerate([response, *response.get("alternatives", ())]):
        message = choice["message"]
        if message.get("name") is None or state_of(response, endpoint) or state_of(message, endpoint):
            continue
        where = (*message_path(number), "name")
        if pointer(where) not in reported:
            loss.drop(where, "unsupported_field", "weakened", "a stream does not support names of participants")
    return [*found, *loss.entries]


class _Writer(Writer):
    """The identity that all chunks repeat, the calls of each choice, and its reasoning text sent next to the
    details."""

    def __init__(self, endpoint: Endpoint, created: int) -> None:
        super().__init__(endpoint, _DELTAS, several=True)
        self.identity: Wire = {"id": "", "object": "chat.completion.chunk", "created": created}
        self.identity["model"] = endpoint.model or ""  # clients require it
        self.reasoned: dict[int, str] = {}
        self.whole_calls = endpoint.dialect.get("call_deltas") == "whole"
        self.writing = Writing({**NO_ANSWER, "provider_state": endpoint.state()}, endpoint, Loss())

    def start(self, event: Event) -> None:
        """Begin a choice with its role."""
        self.identity["id"] = self.identity["id"] or identity_of(event, answer_id)
        if event.get("model"):
            self.identity["model"] = model_of(event, self.endpoint)
        self._put(event.get("choice") or 0, {"role": "assistant", "content": "", "refusal": None})

    def _put(self, choice: int, delta: Wire) -> None:
        self.put(None, self._chunk(choice, delta))

    def _chunk(self, choice: int, delta: Wire) -> Wire:
        """Return a chunk of one delta."""
        wire = {"index": choice, "delta": delta, "logprobs": None, "finish_reason": None}
        return {**self.identity, "choices": [wire]}

    # -- blocks

    def begin(self, open_block: OpenBlock) -> None:
        """Begin a call with its name, unless the call is written when it has ended."""
        block = open_block.block
        open_block.kind = self._kind(block)
        if block["type"] == "tool_use":
            open_block.number = self.number(open_block.choice)
            if open_block.kind != "whole":
                member, text = ("custom", "input") if open_block.kind == "custom" else ("function", "arguments")
                call: Wire = {
                    "index": open_block.number,
                    "id": self.writing.call_id(block, self.writing.state_of(block)),
                }
                call |= {"type": member, member: {"name": block["name"], text: ""}}
                self.send(open_block, {CALLS: [call]})

    def _kind(self, block: Block) -> str:
        match block["type"]:
            case "text" if "provider_state" in block and self.writing.state_of(block).get("fields"):
                return "part"  # its other members are sent together with the text
            case "text":
                marked = block.get("refusal") and self.endpoint.dialect.get("refusals") is not False
                return "refusal" if marked else "text"
            case "thinking":
                return "thinking" if self._place(block) is not None else ""
            case "tool_use" if self.whole_calls or self._folded(block):
                return "whole"
            case "tool_use":
                return "custom" if block.get("kind") == "custom" else "tool_use"
            case _:
                return ""

    def _folded(self, block: Block) -> bool:
        """Whether the free text of a call becomes a quoted argument, which must be complete."""
        custom = block.get("kind") == "custom" and self.endpoint.dialect.get("custom_tools") is False
        return custom and not self.writing.state_of(block)

    def _place(self, block: Block) -> str | None:
        """Return the place of reasoning: reasoning of this provider keeps its place, all other gets the dialect's
        place."""
        replay = self.endpoint.dialect.get("reasoning_replay")
        return self.writing.encoding_of(block).get("member") or (replay if replay != "none" else None)

    def placed(self, open_block: OpenBlock, delta: Wire) -> tuple[str | None, Wire]:
        """Return the chunk of a piece."""
        return None, self._chunk(open_block.choice, delta)

    def delta(self, open_block: OpenBlock) -> Wire | None:
        """Return the delta for a piece of a block."""
        match open_block.kind:
            case "thinking":
                return self._thinking(open_block)
            case "tool_use":
                return {CALLS: [{"index": open_block.number, "function": {"arguments": TEXT}}]}
            case "custom":
                return {CALLS: [{"index": open_block.number, "custom": {"input": TEXT}}]}
            case _:
                return super().delta(open_block)

    def _thinking(self, open_block: OpenBlock) -> Wire:
        kind = self.writing.encoding_of(open_block.block).get("type")
        match self._place(open_block.block):
            case "reasoning_details":
                body = "summary" if kind == "reasoning.summary" else "text"
                return {
                    "reasoning": TEXT,
                    DETAILS: [{"type": kind or "reasoning.text", body: TEXT, "index": open_block.index}],
                }
            case "content" if kind == "reasoning":
                return {PART: [{"type": "reasoning", "summary": [{"type": "summary_text", "text": TEXT}]}]}
            case "content":
                return {PART: [{"type": "thinking", "thinking": [{"type": "text", "text": TEXT}]}]}
            case member:
                return {str(member): TEXT}

    def end(self, open_block: OpenBlock) -> None:
        """Write what the pieces of a block did not contain."""
        block = open_block.block
        if block["type"] == "thinking" and self._place(open_block.begun) == DETAILS:
            self.reasoned[open_block.choice] = self.reasoned.get(open_block.choice, "") + block["text"]
        if delta := self._rest(open_block, block):
            self.send(open_block, delta)

    def _rest(self, open_block: OpenBlock, block: Block) -> Wire:
        """Return the message of a block, without the text that was sent in pieces."""
        state = self.writing.state_of(block)
        match block["type"]:
            case "text" if open_block.kind != "part":
                annotations = annotations_to_wire(block, self.writing)
                return {} if annotations is None else {"annotations": annotations}
            case "tool_use" if open_block.kind == "whole":
                folded = self._folded(block)
                writing = Writing(NO_ANSWER, self.endpoint, Loss()) if folded else self.writing
                call = call_to_wire(block, ("message", "content", 0), writing)
                return {CALLS: [{**call, "index": open_block.number}]}
            case "tool_use":
                return {CALLS: [{**state["fields"], "index": open_block.number}]} if state.get("fields") else {}
            case "thinking" if not open_block.kind:
                return {}
            case "image" | "audio" | "video" | "document" if not state:
                return {}
            case _:
                pass
        message = answer_to_wire({"role": ASSISTANT, "content": [block]}, ("message",), self.writing)
        delta: Wire = {name: value for name, value in message.items() if isinstance(value, (dict, list))}
        if CALLS in delta:
            delta[CALLS] = [{**delta[CALLS][0], "index": self.number(open_block.choice)}]
        if block["type"] == "thinking":
            as_detail = self._place(open_block.begun) == DETAILS
            empty = bool(state) and not open_block.sent
            delta = {
                name: [rest]
                for name, items in delta.items()
                if (rest := _without_words(items[0], as_detail=as_detail, empty=empty))
            }
        if DETAILS in delta and block["type"] != "opaque":
            delta[DETAILS] = [{**delta[DETAILS][0], "index": open_block.index}]
        return delta

    # -- the end

    def complete(self, response: dict[str, Any]) -> None:
        """Write the members that no piece contained, the end of each choice, usage and the end mark."""
        fields, same_origin = self._fields(response)
        members = {name: value for name, value in fields.items() if name not in _NOT_IN_CHUNKS}
        for number, choice in enumerate([response, *response.get("alternatives", ())]):
            message = choice["message"]
            fields_of_message, ours = self._fields(message)
            if (same_origin or ours) and message.get("name") is not None:
                fields_of_message = {**fields_of_message, "name": message["name"]}
            if fields_of_message := self._not_streamed(number, fields_of_message):
                self._put(number, fields_of_message)
            beside = fields.get("choice", NOTHING) if number == 0 else self._fields(choice)[0]
            content = message["content"] if same_origin else fitted_refusals(message["content"], self.endpoint.dialect)
            finish: Wire = {**beside, "finish_reason": written_end(choice, content, ENDS, same_origin=same_origin)}
            finish.update(stop_to_wire(choice, content, self.endpoint.dialect))
            logprobs = choice.get("logprobs")
            if logprobs is not None and (same_origin or has_tokens(logprobs)):
                finish["logprobs"] = logprobs if same_origin else logprobs_to_wire(logprobs)
            last = {"index": number, "delta": {}, "logprobs": None, **finish}
            self.put(None, {**self.identity, "choices": [last]})
        if (usage := response.get("usage")) is not None:
            members["usage"] = COUNTS.write(usage, self.endpoint, same_origin=same_origin)
        if members:
            self.put(None, {**self.identity, "choices": [], **members})
        self.frames.append(Frame(None, "[DONE]"))

    def fail(self, error: Error) -> None:
        """Write the error as a chunk."""
        self.put(None, {"error": error_in_stream(error, self.endpoint)})

    def _not_streamed(self, choice: int, members: Mapping[str, Any]) -> Wire:
        """Return the members of a message without the reasoning text that was sent next to its details: pieces add
        up."""
        not_streamed = dict(members)
        plain, reasoning = not_streamed.get("reasoning"), self.reasoned.get(choice, "")
        if isinstance(plain, str) and plain.startswith(reasoning):
            not_streamed["reasoning"] = plain[len(reasoning) :]
        return not_streamed

    def _fields(self, item: dict[str, Any]) -> tuple[Mapping[str, Any], bool]:
        """Return the members without canonical meaning that came from this provider, and whether the item came from
        it."""
        state = self.writing.state_of(item)
        return state.get("fields") or NOTHING, bool(state)


def _without_words(item: Wire, *, as_detail: bool, empty: bool) -> Wire:
    """Return a detail or a part of reasoning without its text, or nothing where it has nothing else. A detail keeps its
    text if this was not sent `as_detail`; an `empty` part is written nevertheless."""
    match item:
        case {"thinking": _, **rest}:
            return {**rest, "thinking": []} if len(rest) > 1 or empty else {}
        case {"summary": [dict(summary)], **rest}:
            return {**rest, "summary": [{**summary, "text": ""}]} if len(rest) > 1 or len(summary) > 2 or empty else {}
        case _ if as_detail:
            proof = {name: value for name, value in item.items() if name not in ("text", "summary")}
            return proof if proof.keys() - {"type", "index"} else {}
        case _:
            return item
