"""`interlingua check`: list the rules of the contract that a value breaks."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from interlingua.canonical import json
from interlingua.canonical.errors import InvalidRequest
from interlingua.cli._shared import AsJson, File, json_text, print_json, read, say, write


def check(
    file: File = "-",
    kind: Annotated[
        str,
        typer.Option(
            "--type", help="Type in the schema, e.g. Request or Message; or Policy or Keys for a file of a server."
        ),
    ] = "Request",
    profile: Annotated[str, typer.Option(help="Profile to check as well, e.g. strict-004.")] = "core",
    as_json: AsJson = False,
) -> None:
    """Check a value against the rules of the contract, or the file of a server (--type Policy, --type Keys); exit
    status 2 if it breaks any. Doubts, such as a model that the registry does not list, do not change the status."""
    from interlingua.canonical import validate
    from interlingua.canonical.check import check as check_rules

    if kind in _FILES:
        if profile != "core":
            raise InvalidRequest(f"--profile applies to the types {', '.join(_RULED)}, not to {kind}")
        _report(kind, *_FILES[kind](Path(file)), as_json=as_json)
        return
    if kind not in validate.schema()["$defs"]:
        raise InvalidRequest(f"there is no type {kind!r}; try Request, Message, Response, Policy or Keys")
    if profile != "core" and kind not in _RULED:
        raise InvalidRequest(f"--profile applies to the types {', '.join(_RULED)}, not to {kind}")
    value = json.loads(json_text(file))
    if kind in _RULED:
        check_rules([], profile)  # an unknown profile is reported first
    found = validate.violations(value, kind)
    if not found and kind in _RULED:
        found = check_rules(value, profile)
    _report(kind, found, as_json=as_json)


def _report(kind: str, found: list[dict[str, str]], doubts: Sequence[str] = (), *, as_json: bool) -> None:
    if as_json:
        print_json({"violations": found} | ({"doubts": list(doubts)} if kind in _FILES else {}))
    elif found:
        for one in found:
            write(f"{one['path'] or 'the root'}: {one['message']} [{one['rule']}]\n".encode())
    else:
        write(f"valid {kind.lower()}\n".encode())
    if not as_json:
        for doubt in doubts:
            say(f"doubtful: {doubt}")
    if found:
        raise typer.Exit(2)


def _policy(file: Path) -> tuple[list[dict[str, str]], list[str]]:
    from interlingua.client.routing import Routing
    from interlingua.client.settings_file import read_settings
    from interlingua.router import check_policy

    try:
        policy = read_settings(read(str(file)), file)
    except InvalidRequest as problem:
        raise InvalidRequest(f"{file}: {problem.message}", path=problem.path) from None
    routing = Routing()
    found = check_policy(policy, routing.catalog)
    return found, [] if found else [f"{message} (at {path})" for path, message in routing.doubts(policy)]


def _keys(file: Path) -> tuple[list[dict[str, str]], list[str]]:
    if str(file) == "-":
        raise InvalidRequest("keys are checked in a file: name it")
    from interlingua import registry
    from interlingua.access import read_keys
    from interlingua.cli._doubts import doubtful_patterns

    try:
        keys = read_keys(file)
    except InvalidRequest as problem:
        return [{"rule": "form", "path": problem.path or "", "message": problem.message}], []
    return [], doubtful_patterns(keys, registry.default())


_FILES = {"Policy": _policy, "Keys": _keys}
"""The types of the files of a server, which have their own checks."""

_RULED = ("Request", "Message", "Response")
"""The types that have rules in addition to their schema."""
