"""`interlingua check`: list the rules of the contract that a value breaks."""

from typing import Annotated

import typer

from interlingua.canonical import json
from interlingua.canonical.errors import InvalidRequest
from interlingua.cli._shared import AsJson, File, json_text, print_json, write


def check(
    file: File = "-",
    kind: Annotated[str, typer.Option("--type", help="Type in the schema, e.g. Request or Message.")] = "Request",
    profile: Annotated[str, typer.Option(help="Profile to check as well, e.g. strict-004.")] = "core",
    as_json: AsJson = False,
) -> None:
    """Check a value against the rules of the contract; exit status 2 if it breaks any."""
    from interlingua.canonical import validate
    from interlingua.canonical.check import check as check_rules

    if kind not in validate.schema()["$defs"]:
        raise InvalidRequest(f"the schema has no type {kind!r}; try Request, Message or Response")
    if profile != "core" and kind not in _RULED:
        raise InvalidRequest(f"--profile applies to the types {', '.join(_RULED)}, not to {kind}")
    value = json.loads(json_text(file))
    if kind in _RULED:
        check_rules([], profile)  # an unknown profile is reported first
    found = validate.violations(value, kind)
    if not found and kind in _RULED:
        found = check_rules(value, profile)
    if as_json:
        print_json({"violations": found})
    elif found:
        for one in found:
            write(f"{one['path'] or 'the root'}: {one['message']} [{one['rule']}]\n".encode())
    else:
        write(f"valid {kind.lower()}\n".encode())
    if found:
        raise typer.Exit(2)


_RULED = ("Request", "Message", "Response")
"""The types that have rules in addition to their schema."""
