"""
Escape reserved words that a caller uses: a choice of the reserved name, and instructions that are the text of a
format. A reader would read them as the format of the answer (spec/2-requests.md#form-reserved).
"""

from typing import Any, Final

from interlingua.adapters._structured.finding import is_read_as
from interlingua.adapters._structured.form import BEGIN, END, INSTRUCTIONS, NAME, of_text
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.errors import InvalidRequest
from interlingua.canonical.loss import Entry, Loss, Path

Request = dict[str, Any]
Block = dict[str, Any]

_CALLS_AND_RESULTS: Final = frozenset(("tool_use", "tool_result"))


def _may_hold_reserved(request: Request) -> bool:
    """Whether a request may contain reserved words where a reader looks for them."""
    choice = request.get("tool_choice")
    if choice is not None and choice.get("name") == NAME:
        return True
    if request.get("system") and _has_end(request["system"]):
        return True
    messages: list[Request] = request["messages"]
    for message in messages:
        if message["role"] not in INSTRUCTIONS:
            if _has_content(message["content"]):
                break
        elif _has_end(message["content"]):
            return True
    return False


def _has_end(content: list[Block]) -> bool:
    """Whether a text ends like the text of a format."""
    for block in content:
        kind: str = block["type"]
        if kind == "text" and block["text"].endswith(END):
            return True
    return False


def _has_content(content: list[Block]) -> bool:
    """Whether a turn remains a turn on every wire, so that instructions after it are leading ones on no wire."""
    for block in content:
        kind: str = block["type"]
        if kind in _CALLS_AND_RESULTS or (kind == "text" and block["text"] and not block["text"].isspace()):
            return True
    return False


def escape_reserved(request: Request, endpoint: Endpoint) -> tuple[Request, list[Entry]]:
    """Return the request to write, and the report of its changes: a line feed is added after reserved words that
    would be read as the format of the answer.

    Raises `InvalidRequest` for the choice of a tool of the reserved name if there is no other tool.
    """
    if not _may_hold_reserved(request) or _is_as_read(request, endpoint):
        return request, []
    if (request.get("tool_choice") or {}).get("name") == NAME and not _has_others(request):
        raise InvalidRequest(
            f"the name {NAME} is reserved for the response format; rename the tool, or use response_format",
            path="/tool_choice/name",
        )
    loss = Loss()
    escaped = dict(request)
    if "system" in request:
        escaped["system"] = _ended(request["system"] or [], ("system",), loss)
    messages: list[Any] = list(request["messages"])
    escaped["messages"] = messages
    for position, message in enumerate(messages):
        if message["role"] in INSTRUCTIONS:
            content = _ended(message["content"], ("messages", position, "content"), loss)
            messages[position] = {**message, "content": content}
        elif _has_content(message["content"]):
            break
    return escaped, loss.entries


def _has_others(request: Request) -> bool:
    """Whether the request has another tool than that of the reserved name on every wire."""
    return any(
        tool["name"] != NAME and (tool.get("kind") or "function") != "provider" for tool in request.get("tools") or ()
    )


def _ended(content: list[Block], path: Path, loss: Loss) -> list[Block]:
    """Return the blocks with a line feed after each text of a format."""
    ended = list(content)
    for index, block in enumerate(content):
        if block["type"] != "text" or not block["text"].endswith(END):
            continue
        _, begin, asked = block["text"].rpartition(BEGIN)
        if begin and of_text(begin + asked) is not None:
            text = f"{block['text']}\n"
            ended[index] = {**block, "text": text}
            message = "the text is reserved for the response format"
            loss.replace((*path, index, "text"), text, "unsupported_value", "representation", message)
    return ended


def _is_as_read(request: Request, endpoint: Endpoint) -> bool:
    """Whether this wire read the words in the same place and recognised no format in them."""
    state = request.get("provider_state")
    if state is None or not endpoint.owns(state) or request.get("system"):
        return False
    return is_read_as(request, request)
