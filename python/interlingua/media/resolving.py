"""
`resolve`: URLs and files of a workspace as bytes, on explicit request (spec/10-media.md#resolve).

A function of the caller reads URLs: there is no network code here. Files are read below one folder and nowhere else.
First the syntax of a path is checked. Then the path is resolved, compared with the folder, and opened step by step
without following links. So a link that somebody creates in the meantime cannot lead outside of the folder.
"""

import errno
import os
import re
import stat
from collections.abc import Callable
from typing import Any, TypeAlias, cast

import pybase64

from interlingua.canonical.errors import InvalidRequest
from interlingua.canonical.loss import Path, pointer
from interlingua.media.places import Place, R, checked, fitting_type, like, places, with_values

Fetch: TypeAlias = Callable[[str], bytes | tuple[bytes, str | None]]
"""A function that takes a URL and returns its bytes, or its bytes and their media type."""

MOST_BYTES = 20 * 1024 * 1024

_Content = tuple[bytes, str | None]
_MEDIA_TYPE = re.compile(r"[A-Za-z0-9][A-Za-z0-9!#$&^_.+-]*/[A-Za-z0-9][A-Za-z0-9!#$&^_.+*-]*( *;.*)?")
_DRIVE = re.compile(r"[A-Za-z]:")


class CannotResolve(InvalidRequest):
    """A source cannot be read as bytes. `path` points at the source's data; the text has neither URL nor path."""


def resolve(
    request: R,
    *,
    fetch: Fetch | None = None,
    root: str | os.PathLike[str] | None = None,
    max_bytes: int = MOST_BYTES,
) -> R:
    """Return the request with base64 sources in place of `url` and `file_ref`; plain data or a `Request`, as given.

    `fetch` reads URLs; without it they are unchanged. `root` is the folder that paths are relative to; without it
    they are unchanged. Each medium may have up to `max_bytes`. The media type is that of the bytes if `sniff` knows it,
    else the declared one, else the one that `fetch` returned. Without changes the result is the request itself.

    Raises `CannotResolve` with the pointer of the source; `InvalidRequest` when the request is not canonical.
    An exception of `fetch` becomes the cause of a `CannotResolve`.
    """
    values: dict[Path, Any] = {}
    contents: dict[tuple[str, str], _Content] = {}
    folder = None if root is None else _folder(root)
    data = checked(request)
    for place in places(data):
        source = place.block["source"]
        kind, where = source["kind"], pointer((*place.path, "source", "data"))
        if not (kind == "url" and fetch is not None) and not (kind == "file_ref" and folder is not None):
            continue
        if "data" not in source:
            raise CannotResolve(f"a source of kind {kind} needs data", path=pointer((*place.path, "source")))
        key = kind, source["data"]
        if key not in contents:
            if folder is not None and kind == "file_ref":
                contents[key] = _read(folder, source["data"], max_bytes, where), None
            elif fetch is not None:
                contents[key] = _fetched(fetch, source["data"], max_bytes, where)
        _settle(place, contents[key], values)
    return like(request, data, with_values(data, values))


def _settle(place: Place, content: _Content, values: dict[Path, Any]) -> None:
    data, fetched_type = content
    media_type = fitting_type(place.block["type"], data) or place.block.get("media_type") or fetched_type
    if media_type is None:
        raise CannotResolve(
            "the media type of the bytes is not known; give the block a media_type", path=pointer(place.path)
        )
    others = {name: value for name, value in place.block["source"].items() if name != "provider"}
    text = pybase64.b64encode(data).decode("ascii")
    values[*place.path, "source"] = {**others, "kind": "base64", "data": text}
    values[*place.path, "media_type"] = media_type


# ---------------------------------------------------------------------------------------------------- URLs


def _fetched(fetch: Fetch, url: str, most: int, where: str) -> _Content:
    try:
        result = cast("Any", fetch(url))
    except Exception as problem:
        raise CannotResolve(f"the URL cannot be fetched ({type(problem).__name__})", path=where) from problem
    data, media_type = cast(
        "Any", result if isinstance(result, tuple) and len(cast("Any", result)) == 2 else (result, None)
    )
    if not isinstance(data, (bytes, bytearray, memoryview)) or not isinstance(media_type, (str, type(None))):
        raise CannotResolve("fetch must return bytes, or bytes and a media type", path=where)
    content = bytes(data)
    if len(content) > most:
        raise CannotResolve(f"the medium is larger than the {most} bytes that are allowed", path=where)
    return content, media_type if media_type is not None and _MEDIA_TYPE.fullmatch(media_type) else None


# ---------------------------------------------------------------------------------------------------- files


def _folder(root: str | os.PathLike[str]) -> str:
    try:
        folder = os.path.realpath(root, strict=True)
    except (OSError, ValueError):
        raise InvalidRequest("the root of the files does not exist") from None
    if not os.path.isdir(folder):
        raise InvalidRequest("the root of the files is not a folder")
    return folder


def _read(folder: str, path: str, most: int, where: str) -> bytes:
    if (fault := _fault(path)) is not None:
        raise CannotResolve(fault, path=where)
    try:
        real = os.path.realpath(os.path.join(folder, path), strict=True)
        if os.path.commonpath([folder, real]) != folder:
            raise CannotResolve("the path leads out of the root through a link", path=where)
        _check_file(os.stat(real), most, where)  # so a device is never opened
        descriptor = _opened(folder, os.path.relpath(real, folder))
        try:
            _check_file(os.fstat(descriptor), most, where)
            with open(descriptor, "rb", closefd=False) as file:
                data = file.read(most + 1)  # some files are larger than their reported size
        finally:
            os.close(descriptor)
    except OSError as problem:
        raise CannotResolve(_WORDS.get(problem.errno or 0, "the file cannot be read"), path=where) from None
    except ValueError:
        raise CannotResolve("the path is not a valid file path", path=where) from None
    if len(data) > most:
        raise CannotResolve(f"the file is larger than the {most} bytes that are allowed", path=where)
    return data


def _check_file(about: os.stat_result, most: int, where: str) -> None:
    if not stat.S_ISREG(about.st_mode):
        raise CannotResolve("the path does not name a regular file", path=where)
    if about.st_size > most:
        raise CannotResolve(f"the file is larger than the {most} bytes that are allowed", path=where)


_WORDS = {
    errno.ENOENT: "there is no such file below the root",
    errno.ENOTDIR: "there is no such file below the root",
    errno.EISDIR: "the path does not name a regular file",
    errno.ENXIO: "the path does not name a regular file",
    errno.ELOOP: "the path leads through links that cannot be followed",
    errno.ENAMETOOLONG: "the path is too long",
    errno.EACCES: "the file cannot be read: permission denied",
    errno.EPERM: "the file cannot be read: permission denied",
}


def _fault(path: str) -> str | None:
    """Return what is wrong with the syntax of a path on any system, because a request may come from another system."""
    if not path:
        return "the path is empty"
    if "\0" in path:
        return "the path is not a valid file path"
    if path.startswith("/") or _DRIVE.match(path):
        return "the path is absolute; it must be relative to the root"
    if "\\" in path:
        return "the path holds a backslash; its parts are separated by slashes"
    if ".." in path.split("/"):
        return "the path has a part .., which leads upwards; remove it"
    if path.endswith(("/", "/.")):
        return "the path does not name a regular file"
    return None


_FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_NOFOLLOW", 0)  # the path is resolved already: a link in it was created in the meantime
    | getattr(os, "O_NONBLOCK", 0)  # a pipe must not block
    | getattr(os, "O_NOCTTY", 0)
    | getattr(os, "O_BINARY", 0)
)


def _opened(folder: str, relative: str) -> int:
    """Open a file below a folder, step by step without following a link, and return its descriptor."""
    if os.open not in os.supports_dir_fd:
        return os.open(os.path.join(folder, relative), _FLAGS)
    *steps, last = relative.split(os.sep)
    here = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        for step in steps:
            there = os.open(step, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=here)
            os.close(here)
            here = there
        return os.open(last, _FLAGS, dir_fd=here)
    finally:
        os.close(here)
