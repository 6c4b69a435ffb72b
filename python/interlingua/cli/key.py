"""`interlingua key`: create a key of a gateway."""

from pathlib import Path
from typing import Annotated, Any

import typer

from interlingua.canonical.errors import InvalidRequest
from interlingua.cli._shared import AsJson, print_json, say, write


def key(
    name: Annotated[str, typer.Argument(help="Name of the key in logs and records.", show_default=False)],
    signing_secret: Annotated[
        Path | None,
        typer.Option(help="Signing secret of the server: also print the credentials with which AWS clients sign."),
    ] = None,
    keys: Annotated[
        Path | None, typer.Option(help="Use the existing key of this name in a keys file instead of making a new one.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Create a gateway key: print the key, which is shown only once, and its row for the keys file. With a signing
    secret, also print the credentials for AWS clients, which sign their calls."""
    from interlingua.access import access_key_id, digest, new_key, read_keys, read_signing_secret, signing_key
    from interlingua.canonical import json

    if keys is not None and signing_secret is None:
        raise InvalidRequest("for an existing key, only its AWS credentials can be printed: give --signing-secret")
    output: dict[str, Any] = {}
    if keys is None:
        made = new_key()
        sha256 = digest(made)
        output = {"key": made, "row": {"name": name, "sha256": sha256}}
    else:
        found = [one.digest for one in read_keys(keys) if one.name == name]
        if not found:
            raise InvalidRequest(f"{keys} has no key named {name}")
        sha256 = found[0]
    if signing_secret is not None:
        secret = signing_key(read_signing_secret(signing_secret), sha256)
        output["aws"] = {"access_key_id": access_key_id(sha256), "secret_access_key": secret}
    if as_json:
        print_json(output)
        return
    if "key" in output:
        write(output["key"].encode() + b"\n")
    if "aws" in output:
        lines = (f"AWS_{member.upper()}={value}\n" for member, value in output["aws"].items())
        write("".join(lines).encode())
    if "row" in output:
        say(f"add this row to the list `keys` of the file for serve --keys: {json.dumps(output['row']).decode()}")
