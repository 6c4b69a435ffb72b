"""`interlingua sessions`: how an operator manages a database of sessions without a server."""

import re
from datetime import timedelta
from typing import TYPE_CHECKING, Annotated, Final

import typer

from interlingua.canonical.errors import InvalidRequest
from interlingua.cli._command import Command, Group
from interlingua.cli._shared import AsJson, print_json, read, run_async, shown, write

if TYPE_CHECKING:
    from interlingua.sessions import Objects, Sessions

sessions = typer.Typer(
    cls=Group,
    help="List, export, import and delete stored sessions and the objects that clients of a gateway stored.",
    no_args_is_help=True,
)

Database = Annotated[
    str, typer.Argument(help="sqlite:///chats.db, or postgresql://user@host/name.", show_default=False)
]
Tenant = Annotated[str, typer.Option(help="Tenant. Default: that of a server without keys.", show_default=False)]

_UNITS: Final = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


@sessions.command("list", cls=Command)
def list_(
    database: Database,
    tenant: Tenant = "",
    limit: Annotated[int, typer.Option(min=1, help="Largest number of sessions.")] = 50,
    prefix: Annotated[str, typer.Option(help="Only sessions whose ids begin with this text.", show_default=False)] = "",
    as_json: AsJson = False,
) -> None:
    """List sessions, the newest first."""

    async def listed() -> None:
        async with _open(database) as opened:
            found = await opened.of(tenant).latest(limit, prefix=prefix)
        if as_json:
            print_json({"sessions": [one._asdict() for one in found]})
            return
        for one in found:
            write(f"{one.id}  {one.updated_at}  {one.active_model or '-'}\n".encode())

    run_async(listed())


@sessions.command(cls=Command)
def export(
    database: Database,
    ids: Annotated[list[str], typer.Argument(help="Ids of sessions.", show_default=False)],
    tenant: Tenant = "",
) -> None:
    """Write sessions as JSON lines, one session after the other: each with its messages, its id map and its
    repricings."""

    async def exported() -> None:
        from interlingua.sessions import SessionNotFound

        async with _open(database) as opened:
            for identity in ids:
                try:
                    async for line in opened.of(tenant).export(identity):
                        write(line.encode() + b"\n")
                except SessionNotFound:
                    raise InvalidRequest(f"there is no session with the id {identity}") from None

    run_async(exported())


@sessions.command("import", cls=Command)
def import_(
    database: Database,
    file: Annotated[str, typer.Argument(help="File that export wrote; - is standard input.")] = "-",
    keep_ids: Annotated[
        bool, typer.Option("--keep-ids", help="Keep the ids of the export, which must not exist yet.")
    ] = False,
    tenant: Tenant = "",
    as_json: AsJson = False,
) -> None:
    """Store the sessions of an export, each completely or not at all, and print their ids. A missing database is
    created.

    The sessions get new ids. The import stops at the first session that cannot be stored; those before it are stored.
    """
    given = read(file).splitlines()

    async def imported() -> None:
        from interlingua.sessions import Sessions
        from interlingua.sessions.transfer import separated

        found: list[str] = []
        try:
            async with Sessions(database) as opened:
                for first, lines in separated(given):
                    try:
                        chat = await opened.of(tenant).import_(lines, keep_ids=keep_ids)
                    except InvalidRequest as problem:
                        message = f"{shown(file)}: the session that begins on line {first}: {problem.message}"
                        raise InvalidRequest(message, violations=problem.violations) from None
                    found.append(chat.id)
        finally:
            if as_json:
                print_json({"sessions": found})
            else:
                write("".join(f"{identity}\n" for identity in found).encode())

    run_async(imported())


@sessions.command(cls=Command)
def purge(
    database: Database,
    ids: Annotated[
        list[str] | None,
        typer.Argument(help="Ids of sessions, responses, conversations, completions, caches.", show_default=False),
    ] = None,
    older_than: Annotated[
        str | None,
        typer.Option(
            "--older-than", help="Everything that has not changed for this time: 90m, 12h, 30d, 8w.", show_default=False
        ),
    ] = None,
    everything: Annotated[bool, typer.Option("--everything", help="Everything of the tenant.")] = False,
    tenant: Tenant = "",
    all_tenants: Annotated[bool, typer.Option("--all-tenants", help="With --older-than: for all tenants.")] = False,
    as_json: AsJson = False,
) -> None:
    """Delete sessions and stored objects, with everything that belongs to them: by id, by age, or everything of a
    tenant.

    A session in which a response is being generated is not deleted by its id. An object that another object continues
    from can no longer be named, and is removed together with the last of those. Exit status 2: an id does not exist;
    the others are deleted.
    """
    given = [bool(ids), older_than is not None, everything]
    if sum(given) != 1:
        raise InvalidRequest("choose what to delete: ids, --older-than AGE, or --everything")
    if all_tenants and (older_than is None or tenant):
        raise InvalidRequest("--all-tenants needs --older-than and excludes --tenant")
    age = timedelta(0) if older_than is None else _age(older_than)

    async def purged() -> None:
        from interlingua.sessions import Objects

        deleted = {"sessions": 0, "objects": 0}
        missing: list[str] = []
        async with _open(database) as opened:
            for one in await opened.tenants() if all_tenants else [tenant]:
                theirs, objects = opened.of(one), Objects(opened).of(one)
                if ids:
                    for identity in ids:
                        kind = await _purged(theirs, objects, identity)
                        if kind is None:
                            missing.append(identity)
                        else:
                            deleted[kind] += 1
                else:
                    deleted["sessions"] += await theirs.delete_unchanged(age)
                    deleted["objects"] += await objects.delete_unchanged(age)
        if as_json:
            print_json(deleted)
        else:
            write(f"deleted: {deleted['sessions']} sessions, {deleted['objects']} stored objects\n".encode())
        if missing:
            raise InvalidRequest(f"nothing has the id {', '.join(missing)}")

    run_async(purged())


async def _purged(opened: "Sessions", objects: "Objects", identity: str) -> str | None:
    """Delete the session or object with an id; return which of the two it was, None when there is none."""
    from interlingua.sessions import SessionNotFound
    from interlingua.sessions.objects import CACHE, COMPLETION, CONVERSATION, RESPONSE

    try:
        await opened.delete(identity)
    except SessionNotFound:
        for kind in (RESPONSE, CONVERSATION, COMPLETION, CACHE):
            if await objects.remove(kind, identity):
                return "objects"
        return None
    return "sessions"


def _age(text: str) -> timedelta:
    found = re.fullmatch(r"([0-9]{1,6})([mhdw])", text)
    if found is None:
        raise InvalidRequest(f"--older-than must be a number and m, h, d or w, such as 30d; not {text!r}")
    if int(found[1]) == 0:
        raise InvalidRequest("--older-than must be at least 1m; --everything deletes everything of the tenant")
    return timedelta(**{_UNITS[found[2]]: int(found[1])})


def _open(database: str) -> "Sessions":
    """Return the sessions of an existing database: a wrong path creates no file."""
    from interlingua.sessions import Sessions
    from interlingua.sessions.storage import demand_there

    demand_there(database)
    return Sessions(database)
