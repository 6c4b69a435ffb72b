"""`interlingua key`: make a key of a gateway."""

from pathlib import Path
from typing import Annotated, Any

import typer

from interlingua.canonical.errors import InvalidRequest
from interlingua.cli._shared import AsJson, print_json, say, write


def key(
    name: Annotated[str, typer.Argument(help="What logs and records call it.", show_default=False)],
    signing_secret: Annotated[
        Path | None,
        typer.Option(help="The signing secret of the server: tell also with what AWS's clients sign."),
    ] = None,
    keys: Annotated[
        Path | None, typer.Option(help="Make no new key: tell of the one of this name in a file of keys.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Make a key of a gateway: the key itself, which is shown once, and its row for the file of keys. With a signing secret
    also the credentials that follow from it, for clients of AWS that sign their calls."""
    from interlingua.access import access_key_id, digest, new_key, read_keys, read_signing_secret, signing_key
    from interlingua.canonical import json

    if keys is not None and signing_secret is None:
        raise InvalidRequest("of a key that is there, only what follows with --signing-secret can be told")
    told: dict[str, Any] = {}
    if keys is None:
        made = new_key()
        sha256 = digest(made)
        told = {"key": made, "row": {"name": name, "sha256": sha256}}
    else:
        found = [one.digest for one in read_keys(keys) if one.name == name]
        if not found:
            raise InvalidRequest(f"{keys} has no key of the name {name}")
        sha256 = found[0]
    if signing_secret is not None:
        secret = signing_key(read_signing_secret(signing_secret), sha256)
        told["aws"] = {"access_key_id": access_key_id(sha256), "secret_access_key": secret}
    if as_json:
        print_json(told)
        return
    if "key" in told:
        write(told["key"].encode() + b"\n")
    if "aws" in told:
        lines = (f"AWS_{member.upper()}={value}\n" for member, value in told["aws"].items())
        write("".join(lines).encode())
    if "row" in told:
        say(f"put its row into the list `keys` of the file for serve --keys: {json.dumps(told['row']).decode()}")
