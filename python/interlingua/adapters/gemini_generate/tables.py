"""The names and values of the wire, and its limits."""

import re
from collections.abc import Mapping
from typing import Final

from interlingua.adapters._engine.kit import BiMap, Wire
from interlingua.adapters._engine.writing import ToolNames
from interlingua.adapters._requests.members import BodyMembers

NAME: Final = "gemini_generate"
FRAMING: Final = "sse_or_array"

PATH: Final = "/models/{model}"
MODEL_IN_PATH: Final = re.compile(
    r"(?:^|/)(?:models/|(?=(?:tunedModels|endpoints)/))([^?]+?)(?::(\w*(?:Content|Tokens|[pP]redict)\w*))?(?:\?|$)"
)
"""The name of the model, which may have colons and slashes (a gateway has models of all providers), and the operation."""

SENTINEL: Final = "skip_thought_signature_validator"
"""The text that the provider takes for a signature that the history of another provider lacks. It is sent verbatim."""
STAND_INS: Final = frozenset((SENTINEL, "context_engineering_is_the_way_to_go"))
"""All documented stand-ins for a signature."""

TOOL_NAMES: Final = ToolNames(64, "A-Za-z0-9_:.-", "A-Za-z_")
MEDIA_TYPE: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9!#$&^_.+-]*/[A-Za-z0-9][A-Za-z0-9!#$&^_.+*-]*( *;.*)?")
MODEL_MAJOR: Final = re.compile(r"gemini-(\d+)")

EFFORTS: Final = ("minimal", "low", "medium", "high", "xhigh")
BUDGETS: Final = {"minimal": 512, "low": 1024, "medium": 8192, "high": 24576, "xhigh": 24576}
MOST_STOPS: Final = 5
SEEDS: Final = 2**31  # seeds are below this number, and not below its negative
TIERS: Final = ("standard", "flex", "priority", "unspecified")

FINISH_NUMBERS: Final = ("FINISH_REASON_UNSPECIFIED", "STOP", "MAX_TOKENS", "SAFETY", "RECITATION", "OTHER")
"""Enums are numbers if a client requests this. For larger numbers, the meaning differs between the two surfaces."""

DETAIL: Final = BiMap({"low": "MEDIA_RESOLUTION_LOW", "high": "MEDIA_RESOLUTION_HIGH"})
"""The resolution of an image. The wire has a level between these and one above, which are kept as state."""

TYPE_NUMBERS: Final = ("TYPE_UNSPECIFIED", "STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT", "NULL")
MODE_NUMBERS: Final = ("MODE_UNSPECIFIED", "AUTO", "ANY", "NONE", "VALIDATED")

CAMEL: Final = {
    name: re.sub(r"_(\w)", lambda found: found[1].upper(), name)
    for name in (
        "allowed_function_names any_of audio_metadata cached_content candidate_count code_execution code_execution_result "
        "computer_use display_name document_metadata enterprise_web_search executable_code file_data file_search file_uri frequency_penalty "
        "function_call function_calling_config function_declarations function_response generation_config google_maps "
        "google_search google_search_retrieval include_thoughts inline_data max_items max_length max_output_tokens "
        "max_properties mcp_servers media_resolution mime_type min_items min_length min_properties parameters_json_schema "
        "part_metadata presence_penalty property_ordering response_json_schema response_logprobs response_mime_type "
        "response_schema safety_settings service_tier stop_sequences stream_function_call_arguments system_instruction thinking_budget thinking_config "
        "thinking_level thought_signature tool_call tool_config tool_response top_k top_p url_context video_metadata "
        "will_continue"
    ).split()
}
"""The names that the wire takes in two cases; the key is the name that it documents second."""
SNAKE: Final = frozenset(CAMEL)


def camelised(item: Wire) -> Wire:
    """Return the item under the names that the wire documents first; the item itself when it has only those."""
    if SNAKE.isdisjoint(item):
        return item
    return {name if (camel := CAMEL.get(name, name)) != name and camel in item else camel: value
            for name, value in item.items()}  # fmt: skip


def in_first_names(item: Wire, rows: BodyMembers, names: dict[str, str], above: str = "") -> Wire:
    """Return the members under the names that the wire documents first; `names` gets the original names, by place."""
    found = item
    if not SNAKE.isdisjoint(item):
        found = {}
        for name, value in item.items():
            first = CAMEL.get(name, name)
            if first == name or item.get(first) is not None:
                found.setdefault(name, value)  # sent twice: it is unknown how the provider treats the second
                continue
            if first in item:  # null: the two exchange their names
                names[above + name], found[name] = first, None
            names[above + first], found[first] = name, value
    for name, value in found.items():
        if type(value) is dict and (row := rows.get(name)) is not None and type(row.kind) is dict:
            inner = in_first_names(value, row.kind, names, f"{above}{name}/")
            if inner is not value:
                found = {**found, name: inner}
    return found


def in_their_names(item: Wire, names: Mapping[str, str], above: str = "") -> Wire:
    """Return the members under their original names."""
    found: Wire = {}
    for name, value in item.items():
        place = above + name
        there = names.get(place, name)
        if there in item and above + there not in names:
            there = name
        found[there] = in_their_names(value, names, f"{place}/") if type(value) is dict else value
    return found


def path_as_sent(path: str, names: Mapping[str, str]) -> str:
    """Return a pointer with the original names of the members of the body."""
    place, sent = "", ""
    for step in path.split("/")[1:]:
        sent += "/" + names.get(place + step, step)
        place += f"{step}/"
    return sent
