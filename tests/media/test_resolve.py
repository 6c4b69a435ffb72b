"""URLs and files as bytes, on request, from nowhere else: R-036, R-037, R-191, R-193, R-195."""

import copy
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from interlingua import InvalidRequest, adapt, media
from interlingua.canonical.validate import validate
from interlingua.media import CannotResolve

from .pictures import asking, content, data_of, medium

Data = dict[str, Any]
PNG = b"\x89PNG\r\n\x1a\n and more"
PDF = b"%PDF-1.7 and more"
URL = "https://example.com/a.png?token=hidden"


def resolved(request: Data, **how: Any) -> Data:
    """`resolve`, and what must hold for every call of it."""
    before = copy.deepcopy(request)
    result = media.resolve(request, **how)
    assert before == request, "the input was changed"
    validate(result)
    return result


def refused(request: Data, pointer: str = "/messages/0/content/0/source/data", **how: Any) -> CannotResolve:
    """The refusal of a request, whose text tells neither URL nor path."""
    before = copy.deepcopy(request)
    with pytest.raises(CannotResolve) as caught:
        media.resolve(request, **how)
    assert before == request
    assert pointer == caught.value.path
    assert "invalid_request" == caught.value.to_dict()["category"]
    for text in ("hidden", "secret", "outside", "example"):
        assert text not in str(caught.value)
    return caught.value


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Any attempt to open a socket fails."""

    def fail(*_: Any, **__: Any) -> None:
        raise AssertionError("something opened a socket")

    monkeypatch.setattr(socket.socket, "connect", fail)
    monkeypatch.setattr(socket, "create_connection", fail)
    monkeypatch.setattr(socket, "getaddrinfo", fail)


# ---------------------------------------------------------------------------------------------------- URLs


def test_without_a_fetcher_nothing_is_fetched() -> None:
    """The request itself comes back."""
    request = asking(medium("url", URL), medium("file_ref", "a.png"), medium("file_id", "file-1"))
    assert resolved(request) is request


def test_adapters_fetch_nothing_either() -> None:
    """A URL is passed on, or reported."""
    for adapter in ("anthropic_messages", "openai_chat"):
        adapt(asking(medium("url", URL), medium("file_ref", "a.png"), max_output_tokens=9), adapter)


def test_addresses_are_fetched_and_paths_are_read(root: Path) -> None:
    """Each in its way, in one request."""
    request = asking(medium("url", "pictures/a.png", "document"), medium("file_ref", "pictures/a.png"))
    result = resolved(request, root=root, fetch=lambda _: PDF)
    assert [data_of(block) for block in content(result)] == [PDF, PNG]


def test_the_caller_fetches() -> None:
    """Each URL once, in every place where a medium can be."""
    asked: list[str] = []

    def fetch(url: str) -> bytes:
        asked.append(url)
        return PDF if url.endswith("pdf") else PNG

    block, paper = medium("url", URL, detail="low"), medium("url", "https://example.com/a.pdf", "document", name="a")
    holder = {"type": "document", "source": {"kind": "blocks", "content": [block]}}
    answer = {"type": "tool_result", "tool_use_id": "tu_1", "content": [paper, {"type": "text", "text": "x"}, block]}
    request = asking(block, holder)
    request["messages"] += [
        {"role": "assistant", "content": [{"type": "tool_use", "id": "tu_1", "name": "see", "input": {}}]},
        {"role": "tool", "content": [answer], "metadata": {"parent_tool_use_id": "tu_1"}},
    ]
    result = resolved(request, fetch=fetch)

    assert [URL, "https://example.com/a.pdf"] == asked
    inner = content(result, 2)[0]["content"]
    for found in (content(result)[0], content(result)[1]["source"]["content"][0], inner[2]):
        assert PNG == data_of(found)
        assert "image/png" == found["media_type"]
        assert "low" == found["detail"]
    assert (PDF, "application/pdf", "a") == (data_of(inner[0]), inner[0]["media_type"], inner[0]["name"])
    assert inner[1] is content(request, 2)[0]["content"][1]
    assert result["messages"][1] is request["messages"][1]


@pytest.mark.parametrize(
    ("kind", "data", "declared", "told", "media_type"),
    [
        ("image", PNG, None, None, "image/png"),
        ("image", PNG, "image/jpeg", "image/gif", "image/png"),
        ("image", b"<svg/>", "image/svg+xml", "image/gif", "image/svg+xml"),
        ("image", b"<svg/>", None, "image/svg+xml", "image/svg+xml"),
        ("image", PDF, "image/png", None, "image/png"),
        ("audio", b"\0\0\0\x14ftypisom\0\0\0\0mp42", "audio/mp4", None, "audio/mp4"),
        ("audio", b"ID3\4", None, None, "audio/mpeg"),
        ("video", b"\0\0\0\x14ftypisom\0\0\0\0mp42", None, None, "video/mp4"),
        ("document", b"hello", "text/plain", None, "text/plain"),
        ("document", PNG, "text/plain", None, "text/plain"),
    ],
)
def test_the_media_type(kind: str, data: bytes, declared: str | None, told: str | None, media_type: str) -> None:
    """Of the bytes, of the request, of the fetcher, in this order; bytes of another kind of medium do not count."""
    block = medium("url", URL, kind) | ({} if declared is None else {"media_type": declared})
    result = resolved(asking(block), fetch=lambda url: (data, told))
    assert media_type == content(result)[0]["media_type"]
    assert data == data_of(content(result)[0])


def test_a_medium_of_no_type() -> None:
    """Base64 without a media type would be no request."""
    refused(asking(medium("url", URL)), "/messages/0/content/0", fetch=lambda url: b"?")
    refused(asking(medium("url", URL)), "/messages/0/content/0", fetch=lambda url: (b"?", "no media type"))


def test_a_fetcher_that_fails() -> None:
    """Its error is the cause; its text is not repeated."""

    def fetch(url: str) -> bytes:
        raise TimeoutError(f"{url} did not answer")

    problem = refused(
        asking({"type": "text", "text": "x"}, medium("url", URL)), "/messages/0/content/1/source/data", fetch=fetch
    )
    assert isinstance(problem.__cause__, TimeoutError)


@pytest.mark.parametrize("answer", [None, "text", (PNG,), (PNG, 1), 7])
def test_a_fetcher_that_gives_something_else(answer: Any) -> None:
    """Told as such."""
    refused(asking(medium("url", URL)), fetch=lambda url: answer)


def test_a_large_answer() -> None:
    """The limit is the caller's."""
    refused(asking(medium("url", URL)), fetch=lambda url: PNG, max_bytes=len(PNG) - 1)
    resolved(asking(medium("url", URL)), fetch=lambda url: bytearray(PNG), max_bytes=len(PNG))


def test_sources_that_break_the_contract() -> None:
    """A typed error."""
    refused(asking({"type": "image", "source": {"kind": "url"}}), "/messages/0/content/0/source", fetch=lambda url: PNG)
    for request in (None, [], {}, {"messages": [{"role": "user", "content": [{"type": "image"}]}]}):
        with pytest.raises(InvalidRequest):
            media.resolve(request, fetch=lambda url: PNG)  # type: ignore[arg-type]


# ---------------------------------------------------------------------------------------------------- files


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A workspace with a secret beside it, and every way out that a folder can hold."""
    folder = tmp_path / "workspace"
    (folder / "pictures" / "deep").mkdir(parents=True)
    (folder / "pictures" / "a.png").write_bytes(PNG)
    (folder / "pictures" / "deep" / "b c ü.png").write_bytes(PNG)
    (folder / "..dots..").write_bytes(PNG)
    (folder / "...").mkdir()
    (folder / "..." / "a.png").write_bytes(PNG)
    (folder / "~").mkdir()
    (folder / "~" / "a.png").write_bytes(PNG)
    (folder / "%2e%2e").write_bytes(PNG)
    (folder / "file:").mkdir()
    (folder / "file:" / "a.png").write_bytes(PNG)
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.png").write_bytes(PNG)
    (tmp_path / "workspace-too").mkdir()
    (tmp_path / "workspace-too" / "secret.png").write_bytes(PNG)
    links = {
        "link.png": "pictures/a.png",
        "pictures/up.png": "../link.png",
        "folder": "pictures",
        "absolute.png": str(folder / "pictures" / "a.png"),
        "out.png": "../outside/secret.png",
        "out-absolute.png": str(outside / "secret.png"),
        "out": "../outside",
        "out-root": "/",
        "out-twice.png": "out/secret.png",
        "neighbour": "../workspace-too",
        "self": "..",
        "here": ".",
        "out-and-in.png": "../workspace/pictures/a.png",
        "loop": "loop",
        "loop-1": "loop-2",
        "loop-2": "loop-1",
        "dangling.png": "nowhere.png",
        "dangling-out.png": "../outside/nowhere.png",
        "null": "/dev/null",
    }
    for name, target in links.items():
        (folder / name).symlink_to(target)
    return folder


TAKEN = [
    "pictures/a.png",
    "./pictures/a.png",
    "pictures//a.png",
    "pictures/./a.png",
    "pictures/deep/b c ü.png",
    "..dots..",
    ".../a.png",
    "~/a.png",
    "%2e%2e",
    "file:/a.png",
    "file:///a.png",
    "link.png",
    "pictures/up.png",
    "folder/a.png",
    "here/here/link.png",
    "absolute.png",
    "out-and-in.png",
]

REFUSED = [
    "",
    ".",
    "./",
    "/",
    "/etc/passwd",
    "//etc/passwd",
    "/proc/self/environ",
    "{root}/pictures/a.png",
    "{root}",
    "..",
    "../",
    "../outside/secret.png",
    "../workspace/pictures/a.png",
    "pictures/../pictures/a.png",
    "pictures/../../outside/secret.png",
    "pictures/..",
    "./../outside/secret.png",
    "pictures/deep/../../../outside/secret.png",
    "..\\outside\\secret.png",
    "pictures\\a.png",
    "C:\\secret.png",
    "C:/secret.png",
    "c:secret.png",
    "\\\\server\\share\\secret.png",
    "\\\\?\\C:\\secret.png",
    "pictures/a.png\0",
    "pictures/a.png\0.txt",
    "\0",
    "~/secret.png",
    "~root/secret.png",
    "$HOME/secret.png",
    "file:///etc/passwd",
    "%2e%2e/outside/secret.png",
    "..%2foutside/secret.png",
    "\N{FULLWIDTH FULL STOP}\N{FULLWIDTH FULL STOP}/outside/secret.png",
    "\N{TWO DOT LEADER}/outside/secret.png",
    "..\N{DIVISION SLASH}outside",
    " ../outside/secret.png",
    ".. /outside/secret.png",
    "..;/outside/secret.png",
    "\udcff.png",
    "out.png",
    "out-absolute.png",
    "out/secret.png",
    "out",
    "out-root/etc/passwd",
    "out-twice.png",
    "neighbour/secret.png",
    "self/outside/secret.png",
    "self/workspace-too/secret.png",
    "loop",
    "loop-1",
    "loop/a.png",
    "dangling.png",
    "dangling-out.png",
    "null",
    "pictures",
    "pictures/",
    "pictures/deep",
    "pictures/a.png/",
    "pictures/a.png/.",
    "pictures/a.png/b",
    "pictures/nothing.png",
    "nothing/a.png",
    "a" * 300,
    "a/" * 5_000 + "a",
]


@pytest.mark.parametrize("path", TAKEN)
def test_paths_below_the_root(root: Path, path: str) -> None:
    """Links that stay below it are followed; nothing is expanded or decoded."""
    result = resolved(asking(medium("file_ref", path)), root=root)
    assert {"kind": "base64"}.items() <= content(result)[0]["source"].items()
    assert (PNG, "image/png") == (data_of(content(result)[0]), content(result)[0]["media_type"])


@pytest.mark.parametrize("path", REFUSED, ids=lambda path: repr(path)[1:40])
def test_the_escape_corpus(root: Path, path: str) -> None:
    """Nothing outside is read, nothing that is no file, and nothing crashes."""
    given_path = path.replace("{root}", str(root))
    request = asking(medium("file_ref", given_path))
    try:
        validate(request)
    except InvalidRequest:
        with pytest.raises(InvalidRequest):
            media.resolve(request, root=root)
        return
    refused(request, root=root)


def test_special_files(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pipes, sockets and devices are refused without waiting for anyone."""
    os.mkfifo(root / "pipe")
    refused(asking(medium("file_ref", "pipe")), root=root)
    monkeypatch.chdir(root)  # the address of a socket must be short
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("s")
        refused(asking(medium("file_ref", "s")), root=root)
    refused(asking(medium("file_ref", "null")), root="/dev")
    refused(asking(medium("file_ref", "zero")), root="/dev")


def test_the_size_limit(root: Path) -> None:
    """Also where a file has more than it says."""
    (root / "large.png").write_bytes(PNG + bytes(100))
    refused(asking(medium("file_ref", "large.png")), root=root, max_bytes=100)
    resolved(asking(medium("file_ref", "large.png")), root=root, max_bytes=1000)
    if Path("/proc/self/status").exists():
        block = medium("file_ref", "status", "document", media_type="text/plain")
        refused(asking(block), root=f"/proc/{os.getpid()}", max_bytes=10)


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may read anything")
def test_a_file_that_may_not_be_read(root: Path) -> None:
    """A typed error."""
    (root / "closed.png").write_bytes(PNG)
    (root / "closed.png").chmod(0)
    refused(asking(medium("file_ref", "closed.png")), root=root)


def test_a_root_that_is_none(root: Path) -> None:
    """Told before anything is read."""
    for nowhere in (root / "nothing", root / "pictures" / "a.png", root / "loop", "\0"):
        with pytest.raises(InvalidRequest, match="root"):
            media.resolve(asking(medium("file_ref", "a.png")), root=nowhere)


def test_a_root_that_is_a_link(root: Path) -> None:
    """The root is what it leads to."""
    (root.parent / "alias").symlink_to(root)
    for folder in (root.parent / "alias", str(root.parent / "alias"), f"{root}/", f"{root}/pictures/.."):
        assert PNG == data_of(content(resolved(asking(medium("file_ref", "link.png")), root=folder))[0])


def test_a_relative_root(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Relative to where the process is."""
    monkeypatch.chdir(root)
    assert PNG == data_of(content(resolved(asking(medium("file_ref", "link.png")), root="."))[0])


def test_a_hard_link_is_a_file_of_the_root(root: Path) -> None:
    """It cannot be told from any other."""
    os.link(root.parent / "outside" / "secret.png", root / "hard.png")
    resolved(asking(medium("file_ref", "hard.png")), root=root)


@pytest.mark.parametrize("swapped", ["pictures", "pictures/a.png"])
def test_a_link_that_is_put_in_the_way(root: Path, monkeypatch: pytest.MonkeyPatch, swapped: str) -> None:
    """Between the check and the reading, a part of the path becomes a link that leads out."""
    secret = root.parent / "outside"
    (secret / "a.png").write_bytes(PNG)
    common = os.path.commonpath

    def meanwhile(paths: Any) -> str:
        answer = common(paths)
        target = root / swapped
        if not target.is_symlink():
            target.rename(root / "elsewhere")
            target.symlink_to(secret if swapped == "pictures" else secret / "a.png")
        return answer

    monkeypatch.setattr(os.path, "commonpath", meanwhile)
    refused(asking(medium("file_ref", "pictures/a.png")), root=root)


def test_no_descriptor_stays_open(root: Path) -> None:
    """After success and after each kind of refusal."""
    if not Path("/proc/self/fd").exists():
        pytest.skip("needs /proc")
    before = len(os.listdir("/proc/self/fd"))
    for path in [*TAKEN, *(path for path in REFUSED if "\udcff" not in path)]:
        try:
            media.resolve(asking(medium("file_ref", path)), root=root)
        except InvalidRequest:
            continue
    assert before == len(os.listdir("/proc/self/fd"))


pieces = st.sampled_from(
    [
        "..",
        ".",
        "",
        "pictures",
        "a.png",
        "out",
        "self",
        "here",
        "folder",
        "link.png",
        "secret.png",
        "outside",
        "/",
        "loop",
        "deep",
    ]
)


ends = st.sampled_from(["", "pictures/a.png", "link.png"])


@given(st.tuples(st.lists(pieces, max_size=5), ends).map(lambda path: "/".join((*path[0], path[1]))))
@example("pictures/./a.png")
@example("link.png")
def test_any_path(tmp_path_factory: pytest.TempPathFactory, path: str) -> None:
    """Whatever the path: a file that really is below the root, or a refusal."""
    folder = playground(tmp_path_factory)
    try:
        result = media.resolve(asking(medium("file_ref", path)), root=folder)
    except CannotResolve:
        return
    real = Path(os.path.realpath(folder / path))
    assert real.is_relative_to(folder)
    assert real.read_bytes() == data_of(content(result)[0])


PLAYGROUND: list[Path] = []


def playground(factory: pytest.TempPathFactory) -> Path:
    """A workspace for generated paths, made once. Files outside hold other bytes than those inside."""
    if not PLAYGROUND:
        top = factory.mktemp("playground").resolve()
        folder = top / "workspace"
        (folder / "pictures" / "deep").mkdir(parents=True)
        (top / "outside").mkdir()
        for place in (top / "outside", top / "outside" / ".."):
            (place / "secret.png").write_bytes(PNG + b" secret")
        (folder / "pictures" / "a.png").write_bytes(PNG)
        for name, target in {
            "out": "../outside",
            "self": "..",
            "here": ".",
            "folder": "pictures",
            "loop": "loop",
        }.items():
            (folder / name).symlink_to(target)
        (folder / "pictures" / "deep" / "out").symlink_to("../../../outside")
        (folder / "link.png").symlink_to("pictures/a.png")
        PLAYGROUND.append(folder)
    return PLAYGROUND[0]


# ---------------------------------------------------------------------------------------------------- together


def test_mismatches(root: Path) -> None:
    """Declared and real types are compared where the table knows the bytes."""
    assert media.sniff(PNG) == "image/png"
    (root / "b.jpg").write_bytes(b"\xff\xd8\xff\xe0")
    request = resolved(asking(medium("file_ref", "b.jpg"), medium("file_ref", "link.png")), root=root)
    assert [] == media.mismatches(request)
    content(request)[0]["media_type"] = "image/jpg"
    assert [] == media.mismatches(request)
    content(request)[1]["media_type"] = "image/gif"
    (found,) = media.mismatches(request)
    validate(found, "Violation")
    assert ("media_type", "/messages/0/content/1/media_type") == (found["rule"], found["path"])


def test_nothing_of_the_package_loads_it() -> None:
    """Neither the helper nor Pillow is there until somebody asks."""
    code = (
        "import interlingua, sys; interlingua.adapt; interlingua.Request; assert 'interlingua.media' not in sys.modules;"
        "interlingua.media.fit({'messages': []}, {'max_image_bytes': 1}); assert 'PIL' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
