"""Turns: instructions inside a conversation, and answers that were begun."""

from interlingua.adapters._claude.values import INSTRUCTIONS, Item
from interlingua.adapters._claude.writing import Writing
from interlingua.canonical.errors import CannotAdapt
from interlingua.canonical.loss import Path, pointer


def says_something(message: Item, writing: Writing) -> bool:
    """Whether something of instructions goes onto the wire; what came empty goes back empty."""
    if writing.own and writing.form_of(message).get("blank"):
        return True
    for block in message["content"]:
        if block["type"] != "text" or (block["text"] and not block["text"].isspace()):
            return True
        if writing.own and writing.form_of(block).get("blank"):
            return True
    return False


def marked(message: Item, writing: Writing, path: Path) -> list[Item]:
    """The blocks of instructions that travel in a user turn, each text marked, which is reported.

    The marks are not read back as instructions: a user could write them too.
    """
    note = "instructions inside a conversation travel marked in a user turn"
    writing.loss.replace((*path, "role"), "user", "marker", "weakened", note)
    blocks: list[Item] = []
    for index, block in enumerate(message["content"]):
        if block["type"] == "text" and block["text"] and not block["text"].isspace():
            text = f"<system-message>\n{block['text']}\n</system-message>"
            writing.loss.replace((*path, "content", index, "text"), text, "marker", "weakened", note)
            block = {**block, "text": text}
        blocks.append(block)
    return blocks


def before_answer(messages: list[Item], following: "range | list[int]") -> bool:
    """Whether what follows is an answer, or nothing: behind native instructions no user may speak."""
    for position in following:
        role = messages[position]["role"]
        if role not in INSTRUCTIONS:
            return role == "assistant"
    return True


def check_prefill(position: int, writing: Writing) -> None:
    """Raises `CannotAdapt` where the model does not go on with an answer that was begun."""
    if writing.lacks("prefill"):
        raise CannotAdapt(
            "the model does not continue an answer that was begun; end with a user message",
            path=pointer(("messages", position)),
            adapter=writing.endpoint.adapter,
        )
