"""`interlingua key`: make a key of a gateway."""

from typing import Annotated

import typer

from interlingua.cli._shared import AsJson, print_json, say, write


def key(
    name: Annotated[str, typer.Argument(help="What logs and records call it.", show_default=False)],
    as_json: AsJson = False,
) -> None:
    """Make a key of a gateway: the key itself, which is shown once, and its row for the file of keys."""
    from interlingua.access import digest, new_key
    from interlingua.canonical import json

    made = new_key()
    row = {"name": name, "sha256": digest(made)}
    if as_json:
        print_json({"key": made, "row": row})
        return
    write(made.encode() + b"\n")
    say(f"put its row into the file of keys: {json.dumps(row).decode()}")
