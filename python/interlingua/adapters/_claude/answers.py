"""Responses of Anthropic's models: how their content is read and written, and which reasoning is shown."""

from collections.abc import Callable
from typing import Any

from interlingua.adapters._answers import answers
from interlingua.adapters._claude.blocks import can_replay
from interlingua.adapters._claude.reading import Reading
from interlingua.adapters._claude.values import ASSISTANT, Item
from interlingua.adapters._claude.writing import Writing
from interlingua.adapters._engine.items import Member
from interlingua.adapters._engine.kit import Wire
from interlingua.adapters._history.messages import OF_MESSAGE, report_rest
from interlingua.canonical.errors import InvalidAnswer
from interlingua.canonical.loss import Path, pointer


def content(
    read_blocks: Callable[[list[Any], str, Reading, Path, type[InvalidAnswer]], list[Item]],
    write_block: Callable[[Item, Any, Path], Wire | None],
    place: Path,
) -> Member:
    """The content of a response, whose path is `place`. The other members of its message are reported."""

    def read(raw: Any, response: Item, reading: Reading) -> None:
        if type(raw) is not list:
            why = "content must be a list of blocks"
            raise InvalidAnswer(why, path=pointer(place), adapter=reading.adapter)
        blocks = read_blocks(raw, ASSISTANT, reading, place, InvalidAnswer)
        response["message"] = {"role": ASSISTANT, "content": blocks}

    def write(response: Item, writing: Writing, path: Path) -> list[Wire]:
        writing.message = message = response["message"]
        wires: list[Wire] = []
        for position, block in enumerate(message["content"]):
            if (wire := write_block(block, writing, (*path, "message", "content", position))) is not None:
                wires.append(wire)
        if len(message) > 2:  # most have only a role and content
            report_rest(message, OF_MESSAGE, writing, (*path, "message"))
        return wires

    return answers.message("content", write, read)


def strict(member: Member) -> Member:
    """Return the member, which must have its type: a body with another type there is no response."""
    member.soft = False
    return member


def is_shown(block: Item, writing: Writing) -> bool:
    """Whether reasoning of a response cannot be replayed, such as that of another provider. It is shown without a
    signature."""
    return block["type"] == "thinking" and not can_replay(block, writing)
