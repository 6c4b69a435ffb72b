"""`interlingua key`: create a key of a gateway."""

import os
import tempfile
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
    tenant: Annotated[
        str | None, typer.Option(help="Tenant whose calls and sessions it sees. Default: its name.", show_default=False)
    ] = None,
    model: Annotated[
        list[str] | None,
        typer.Option(help="Pattern of models that it may use, such as 'anthropic:*'; repeatable. Default: all."),
    ] = None,
    calls_per_minute: Annotated[float | None, typer.Option(help="Limit of calls.")] = None,
    tokens_per_minute: Annotated[float | None, typer.Option(help="Limit of tokens.")] = None,
    budget: Annotated[
        str | None, typer.Option(help="What its calls may cost from midnight to midnight UTC, in USD, such as 5.00.")
    ] = None,
    allow_unpriced: Annotated[
        bool, typer.Option("--allow-unpriced", help="With --budget: it may use models without a known price.")
    ] = False,
    all_metrics: Annotated[
        bool,
        typer.Option(
            "--all-metrics", help="It sees all metrics, and not only those of its tenant; Prometheus needs it."
        ),
    ] = False,
    add_to: Annotated[
        Path | None,
        typer.Option(help="Add the row to this keys file, which is made if there is none; a server reads it again."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Create a gateway key: print the key, which is shown only once, and its row for the keys file. With a signing
    secret, also print the credentials for AWS clients, which sign their calls."""
    from interlingua.access import access_key_id, digest, keys_of, new_key, read_keys, read_signing_secret, signing_key
    from interlingua.canonical import json

    members: dict[str, Any] = {
        "tenant": tenant,
        "models": model or None,
        "calls_per_minute": calls_per_minute,
        "tokens_per_minute": tokens_per_minute,
        "budget_usd_per_day": budget,
        "allow_unpriced": allow_unpriced or None,
        "all_metrics": all_metrics or None,
    }
    members = {member: value for member, value in members.items() if value is not None}
    if keys is not None and signing_secret is None:
        raise InvalidRequest("for an existing key, only its AWS credentials can be printed: give --signing-secret")
    if keys is not None and (members or add_to is not None):
        raise InvalidRequest("--keys names an existing key, whose row is changed in its file; leave the options out")
    output: dict[str, Any] = {}
    if keys is None:
        made = new_key()
        sha256 = digest(made)
        row = {"name": name, "sha256": sha256, **members}
        keys_of({"keys": [row]})
        if add_to is not None:
            _add(row, add_to)
        output = {"key": made, "row": row}
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
    if add_to is not None:
        say(f"{add_to} has the row of {name}")
    elif "row" in output:
        say(f"add this row to the list `keys` of the file for serve --keys: {json.dumps(output['row']).decode()}")


def _add(row: dict[str, Any], file: Path) -> None:
    """Add a row to a file of keys. A server that reads the file meanwhile sees it before or after, and whole."""
    import json  # it can indent

    from interlingua.access import keys_of, read_keys

    exists = file.exists()
    if exists:
        read_keys(file)  # a file with a fault is not made longer
    content: Any = json.loads(file.read_bytes()) if exists else {"keys": []}
    content["keys"].append(row)
    try:
        keys_of(content)
        folder = file.resolve().parent
        with tempfile.NamedTemporaryFile(dir=folder, prefix=f".{file.name}.", delete=False) as new:
            new.write(json.dumps(content, indent=2, ensure_ascii=False).encode() + b"\n")
        if exists:
            os.chmod(new.name, file.stat().st_mode & 0o777)
        os.replace(new.name, file.resolve())
    except InvalidRequest as problem:
        raise InvalidRequest(f"{file}: {problem.message}", path=problem.path) from None
    except OSError as problem:
        raise InvalidRequest(f"cannot write {file}: {problem.strerror or type(problem).__name__}") from None
