"""
The provider's tools that its client runs (spec/adapters/openai_responses.md#openai-responses-built-in): the function
that each of them is, the spelling of its calls, and the spelling of the results from the client.
"""

from collections.abc import Container, Mapping
from typing import Any, Final

from interlingua.adapters._content.built_in import TOOL_ELSEWHERE, Tool, entries
from interlingua.adapters._engine.items import ItemRow, same, text
from interlingua.adapters._engine.kit import NOTHING, Wire, arguments_text
from interlingua.canonical import json
from interlingua.canonical.errors import InvalidRequest

Item = dict[str, Any]

# ---------------------------------------------------------------------------------------------------- the tools

_LOCAL: Final = {"environment": {"type": "local"}}
"""The environment of a shell that the client runs."""
_SEARCH: Final = ItemRow(
    {"type": "tool_search", "execution": "client"},
    text("description", "description"),
    same("parameters", "input_schema", dict),
    elsewhere=TOOL_ELSEWHERE,
)


def _tool(kind: str, entry: Item) -> Tool:
    row = _SEARCH if kind == "tool_search" else ItemRow({"type": kind}, elsewhere=TOOL_ELSEWHERE)
    return Tool(kind, entry, row, _LOCAL if kind == "shell" else NOTHING)


TOOLS: Final[Mapping[str, Tool]] = {kind: _tool(kind, entry) for kind, entry in entries("openai_responses")}
"""The tools by their types on the wire, which are also their names."""


def built_in(definition: Wire) -> Tool | None:
    """Return the built-in tool that a definition offers and the client runs; None for any other tool."""
    kind = definition.get("type")
    tool = TOOLS.get(kind) if isinstance(kind, str) else None
    if kind == "shell" and not _is_local(definition):
        return None
    return None if kind == "tool_search" and definition.get("execution") != "client" else tool


def _is_local(item: Mapping[str, Any]) -> bool:
    """Whether a shell, or a call of it, does not state that it runs in a container of the provider."""
    environment = item.get("environment")
    return environment is None or (isinstance(environment, dict) and environment.get("type") == "local")


# ---------------------------------------------------------------------------------------------------- calls


class Form:
    """The spelling of the calls of a tool: type (`call`) and id prefix of the item; `member`, which holds the arguments
    (or, if `whole`, the value of the argument of that name); members (`made`) and arguments (`filled`) with which an
    item of an answer is completed; and `output`, the type of the items with results.

    `answered` is the kind as which a result is written that was not read here: OpenAI's own agents return results of
    some tools as those of functions. `names` is the member with which a result item names the call.
    """

    __slots__ = ("answered", "call", "filled", "made", "member", "names", "output", "prefix", "whole")

    def __init__(
        self,
        call: str,
        prefix: str,
        member: str,
        *,
        made: Mapping[str, Any] = NOTHING,
        filled: Mapping[str, Any] = NOTHING,
        output: str = "",
        whole: bool = False,
        answered: str = "",
        names: str = "call_id",
    ) -> None:
        self.call = call
        self.prefix = prefix
        self.member = member
        self.made = made
        self.filled = filled
        self.output = output or f"{call}_output"
        self.answered = answered
        self.names = names
        self.whole = whole


_UNCHECKED: Final[Mapping[str, Any]] = {"pending_safety_checks": []}
FORMS: Final[Mapping[str, Form]] = {
    "local_shell": Form("local_shell_call", "lsh_", "action", filled={"env": {}}, answered="function", names="id"),
    "shell": Form(
        "shell_call",
        "sh_",
        "action",
        made=_LOCAL,
        filled={"timeout_ms": None, "max_output_length": None},
    ),
    "apply_patch": Form("apply_patch_call", "apc_", "operation"),
    "computer": Form("computer_call", "cu_", "actions", made=_UNCHECKED, whole=True),
    "computer_use_preview": Form("computer_call", "cu_", "action", made=_UNCHECKED, whole=True),
    "tool_search": Form(
        "tool_search_call",
        "tsc_",
        "arguments",
        made={"execution": "client"},
        output="tool_search_output",
        answered="function",
    ),
}
"""The forms by the name of the tool."""
CALLS: Final = frozenset(form.call for form in FORMS.values())
OUTPUTS: Final[Mapping[str, str]] = {form.output: name for name, form in FORMS.items()}
"""The name of a tool by the type of its result items; both computer tools have the same type."""


def called(item: Wire) -> tuple[str, Item] | None:
    """Return the name of the tool that an item calls, and the arguments, including nulls. None for an item that is no
    readable call, or that the client does not run."""
    kind = item.get("type")
    for name, form in FORMS.items():
        given: Any = item.get(form.member)
        if form.call == kind and _is_readable(name, given, item):
            if name == "local_shell":
                given = {member: value for member, value in given.items() if member != "type"}
            return name, ({form.member: given} if form.whole else given)
    return None


def _is_readable(name: str, given: Any, item: Wire) -> bool:
    """Whether an item has all that a call of a tool needs, and the client runs it."""
    if name == "computer":
        return isinstance(given, list) and item.get("action") is None and bool(given) and all(map(_is_action, given))
    if not isinstance(given, dict):
        return False
    match name:
        case "local_shell":
            return given.get("type") == "exec" and _are_texts(given.get("command"))
        case "shell":
            return _are_texts(given.get("commands")) and _is_local(item)
        case "apply_patch":
            known = given.get("type") in ("create_file", "update_file", "delete_file") and isinstance(
                given.get("path"), str
            )
            return known and (given["type"] == "delete_file" or isinstance(given.get("diff"), str))
        case "computer_use_preview":
            return item.get("actions") is None and _is_action(given)
        case _:
            return item.get("execution") == "client"


def _are_texts(values: Any) -> bool:
    return isinstance(values, list) and all(isinstance(value, str) for value in values)


def _is_action(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("type"), str)


def call_members(name: str, arguments: Item) -> Wire | None:
    """Return the members of an item that calls a tool with these arguments; None where the item cannot express them."""
    form = FORMS[name]
    given: Any = arguments.get(form.member) if form.whole else arguments
    if name == "local_shell":
        given = {"type": "exec", **arguments}
    item: Wire = {"type": form.call, **form.made, form.member: given}
    return {form.member: given} if called(item) == (name, arguments) else None


# ---------------------------------------------------------------------------------------------------- outputs


def answered(item: Wire, name: str) -> bool:
    """Whether an item can be read as the client's result of a call of a tool."""
    match item:
        case {"type": "local_shell_call_output", "output": str()}:
            return name == "local_shell"
        case {"type": "shell_call_output", "output": list(output)}:
            return name == "shell" and _are_objects(output)
        case {"type": "apply_patch_call_output", "status": "completed" | "failed"}:
            return name == "apply_patch" and isinstance(item.get("output"), (str, type(None)))
        case {"type": "computer_call_output", "output": {"type": "computer_screenshot", **place}}:
            at = [place.get("image_url"), place.get("file_id")]
            return name in ("computer", "computer_use_preview") and sum(isinstance(one, str) for one in at) == 1
        case {"type": "tool_search_output", "tools": list(tools)}:
            return name == "tool_search" and _are_objects(tools)
        case _:
            return False


def answered_call(item: Wire) -> Any:
    """Return the wire id of the call of a result item. For one kind of items the documentation names it `id`."""
    named = item.get("call_id")
    return item.get("id") if named is None and item.get("type") == "local_shell_call_output" else named


def is_one_of(item: Wire, kinds: Container[str]) -> bool:
    """Whether an item is of one of these kinds."""
    kind = item.get("type")
    return isinstance(kind, str) and kind in kinds


def ran(items: list[Any]) -> set[str]:
    """Return the calls that stay items of the provider because of their outputs: calls of a shell that the provider has
    run itself, and calls with unreadable outputs."""
    found: set[str] = set()
    for item in items:
        if not isinstance(item, dict) or not is_one_of(item, OUTPUTS):
            continue
        call_id = answered_call(item)
        run_there = item["type"] == "shell_call_output" and isinstance(item.get("id"), str)
        if isinstance(call_id, str) and (run_there or not _is_answer(item)):
            found.add(call_id)
    return found


def _is_answer(item: Wire) -> bool:
    return any(answered(item, name) for name in FORMS)


def _are_objects(values: list[Any]) -> bool:
    return all(isinstance(value, dict) for value in values)


def listed(text: str) -> list[Any] | None:
    """Return the list of objects that a text holds, if the text has the spelling in which the reader stores such a
    list."""
    try:
        value = json.loads(text)
    except InvalidRequest:
        return None
    return value if isinstance(value, list) and _are_objects(value) and arguments_text(value) == text else None
