"""
The two spellings in which the format of an answer is requested if a target has no member for it: a tool of a reserved
name, and a text at the end of the instructions (spec/2-requests.md#structured-output). Both are fixed, so that a
reader recognises the format again.
"""

from collections.abc import Container, Mapping
from typing import Any, Final

from interlingua.adapters._engine.kit import arguments_text, parse_arguments
from interlingua.adapters._engine.writing import FILLER

Block = dict[str, Any]

NAME: Final = "interlingua_answer"
"""The reserved name of the tool whose arguments are the answer."""

NOTE: Final = "structured"
"""The member of a request's `encoding` that states how it requested the format."""

# ---------------------------------------------------------------------------------------------- as a call

CHOICE: Final[dict[str, Any]] = {"type": "tool", "name": NAME}
TOOLS: Final = ("tools", "tool_choice", "parallel_tool_calls")
_CALL_IT: Final = "Gives the answer. Its arguments are the answer, whole."


def has_schema(wanted: Mapping[str, Any]) -> bool:
    """Whether a response format has a schema; without one it is any JSON object."""
    return wanted.get("type") == "json_schema" and wanted.get("schema") is not None


def is_any_json(wanted: Mapping[str, Any]) -> bool:
    """Whether a response format is JSON without a schema."""
    return wanted.get("type") in ("json", "json_schema") and not has_schema(wanted)


def as_tool(wanted: dict[str, Any]) -> dict[str, Any]:
    """Return the format of an answer as a tool of the reserved name."""
    return {"name": NAME, "description": wanted.get("description") or _CALL_IT, "input_schema": wanted["schema"]}


def of_tool(tool: dict[str, Any]) -> dict[str, Any]:
    """Return the format that a tool of the reserved name requests."""
    description = tool.get("description")
    wanted: dict[str, Any] = {"type": "json_schema", "schema": tool["input_schema"]}
    if description is not None and description != _CALL_IT:
        wanted["description"] = description
    return wanted


# ---------------------------------------------------------------------------------------------- in the instructions

BEGIN: Final = "<response-format>\n"
END: Final = "\n</response-format>"
_JSON: Final = "The answer is one JSON object and nothing else: no other words, no code fence."
_SCHEMA: Final = (
    "The answer is one JSON value that is valid against the JSON Schema below, and nothing else: no other words, no code"
    " fence.\n"
)
_MEANING: Final = "Its meaning: "
INSTRUCTIONS: Final = frozenset(("system", "developer"))


def as_text(wanted: dict[str, Any]) -> str:
    """Return the format of an answer as a text of instructions."""
    schema = wanted.get("schema") if wanted["type"] == "json_schema" else None
    if schema is None:
        return f"{BEGIN}{_JSON}{END}"
    description: str = wanted.get("description") or ""
    meaning = f"{_MEANING}{arguments_text(description)}\n" if description else ""
    return f"{BEGIN}{_SCHEMA}{meaning}{arguments_text(schema)}{END}"


def of_text(text: str) -> dict[str, Any] | None:
    """Return the format that a text requests; None for a text that `as_text` does not write."""
    inner = text.removeprefix(BEGIN).removesuffix(END)
    if inner == _JSON:
        return {"type": "json"}
    lines = inner.removeprefix(_SCHEMA).split("\n")
    schema = parse_arguments(lines[-1])
    if schema is None:
        return None
    wanted: dict[str, Any] = {"type": "json_schema", "schema": schema}
    if len(lines) == 2 and lines[0].startswith(_MEANING):
        described = parse_arguments(f'{{"it":{lines[0].removeprefix(_MEANING)}}}')
        if described is None or type(described.get("it")) is not str:
            return None
        wanted["description"] = described["it"]
    return wanted if as_text(wanted) == text else None


def place_of_end(messages: list[Any], before: int | None = None) -> tuple[int, int]:
    """Return the message and the block with the last text of the instructions before a position; -1 and -1 if there
    is none.

    If a request has only instructions, its last message is not used: some wires write it as a user message.
    """
    end = len(messages) - 1 if before is None else min(before, len(messages) - 1)
    for position in reversed(range(min(count_instructions(messages), end))):
        index = last_text(messages[position]["content"])
        if index >= 0:
            return position, index
    return -1, -1


def count_instructions(messages: list[Any]) -> int:
    """Return how many messages of instructions precede all others."""
    count = 0
    while count < len(messages) and messages[count]["role"] in INSTRUCTIONS:
        count += 1
    return count


def last_text(content: list[Block]) -> int:
    """Return the position of the last text with content; -1 if there is none."""
    for index in reversed(range(len(content))):
        block = content[index]
        # a reader finds a filler where the caller wrote no text
        if block["type"] == "text" and block["text"] and block["text"] != FILLER:
            return index
    return -1


def instructions_follow(messages: list[Any], left_out: Container[str]) -> bool:
    """Whether more instructions follow after turns that a wire leaves out; on that wire they are leading
    instructions, too."""
    position = count = count_instructions(messages)
    while f"/messages/{position}" in left_out:
        position += 1
    return count < position < len(messages) and messages[position]["role"] in INSTRUCTIONS
