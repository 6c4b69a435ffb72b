"""The constants and limits of the wire, and the state of its writer."""

import re
from typing import Any, Final

from interlingua.adapters._claude import writing as claude
from interlingua.adapters._claude.values import cache_hint
from interlingua.adapters._engine.kit import BiMap, Wire
from interlingua.adapters._engine.writing import PLAIN_NAMES, CallIds
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.loss import Loss, Path

NAME: Final = "bedrock_converse"
FRAMING: Final = "eventstream"

FORMATS: Final[dict[str, BiMap[str, str]]] = {
    "image": BiMap({"png": "image/png", "jpeg": "image/jpeg", "gif": "image/gif", "webp": "image/webp"}),
    "video": BiMap(
        {
            "mp4": "video/mp4",
            "mov": "video/quicktime",
            "webm": "video/webm",
            "mkv": "video/x-matroska",
            "flv": "video/x-flv",
            "mpeg": "video/mpeg",
            "mpg": "video/mpg",
            "wmv": "video/x-ms-wmv",
            "three_gp": "video/3gpp",
        }
    ),
    "audio": BiMap(
        {
            "mp3": "audio/mpeg",
            "wav": "audio/wav",
            "ogg": "audio/ogg",
            "opus": "audio/opus",
            "flac": "audio/flac",
            "aac": "audio/aac",
            "x-aac": "audio/x-aac",
            "m4a": "audio/m4a",
            "mp4": "audio/mp4",
            "webm": "audio/webm",
            "mka": "audio/x-matroska",
            "pcm": "audio/pcm",
        }
    ),
    "document": BiMap(
        {
            "pdf": "application/pdf",
            "txt": "text/plain",
            "md": "text/markdown",
            "html": "text/html",
            "csv": "text/csv",
            "doc": "application/msword",
            "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
            "xls": "application/vnd.ms-excel",
            "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        }
    ),
}
"""For each kind of medium, the format on the wire of each media type."""
# other names of the same types
ALIASES: Final = {
    "image/jpg": "image/jpeg",
    "audio/mp3": "audio/mpeg",
    "audio/x-wav": "audio/wav",
    "audio/wave": "audio/wav",
    "audio/x-m4a": "audio/m4a",
    "audio/x-flac": "audio/flac",
    "text/x-markdown": "text/markdown",
    "application/csv": "text/csv",
}
# the types that are written as plain text, because the wire has no format for them
TEXTS: Final = frozenset(("application/json", "application/xml", "application/yaml", "application/x-yaml"))

MODES: Final = ("adaptive", "enabled", "disabled")
TIERS: Final = ("priority", "default", "flex", "reserved")

DOCUMENT_FILLER: Final = "(document)"

CALL_IDS: Final = CallIds("toolu_", re.compile(r"[a-zA-Z0-9_.:-]{1,64}"))
DOCUMENT_NAME: Final = re.compile(r"(?!.*  )[a-zA-Z0-9 ()\[\]-]{1,200}")
S3: Final = re.compile(r"s3://[a-z0-9][.\-a-z0-9]{1,61}[a-z0-9](/.*)?", re.DOTALL)
METADATA: Final = re.compile(r"[a-zA-Z0-9\s:_@$#=/+,.-]{1,256}")


def cache_from_wire(point: Any) -> dict[str, Any] | None:
    """Return the cache hint of the content of a `cachePoint`; None if it holds anything that a hint cannot express."""
    return cache_hint(point, "default")


class Writing(claude.Writing):
    """The state of a writer, with what only this wire needs: documents and the tools that were called."""

    __slots__ = ("_document_names", "documents", "fillers", "tools_used")

    def __init__(self, source: dict[str, Any], endpoint: Endpoint, loss: Loss) -> None:
        super().__init__(source, endpoint, loss, CALL_IDS, PLAIN_NAMES, "cachePoint")
        self.marks_definitions = True
        self.documents: list[tuple[Wire, Path]] = []  # the documents of user messages
        self.fillers: list[tuple[Path, Path, Wire]] = []  # blocks that need a text before them
        self.tools_used: dict[str, None] = {}  # wire names of the calls in the conversation, in order
        self._document_names: set[str] = set()

    def document_name(self, name: str) -> str:
        """Return a name for a document that fits the grammar and that no other document of the request has."""
        fitted = name
        if not DOCUMENT_NAME.fullmatch(name):
            fitted = re.sub(r" {2,}", " ", re.sub(r"[^a-zA-Z0-9 ()\[\]-]", "-", name)).strip()[:200] or "document"
        unique, number = fitted, 2
        while unique in self._document_names:
            suffix = f" {number}"
            unique, number = fitted[: 200 - len(suffix)].rstrip() + suffix, number + 1
        self._document_names.add(unique)
        return unique

    # ------------------------------------------------------------------------------------------ cache marks

    def mark(self, hint: dict[str, Any], path: Path, to: Path | None = None) -> Wire | None:
        """Return the block that marks the items before it for the cache, or None.

        `path` is the path of the item that has the hint, `to` the path of the hint after the wire is read back.
        """
        where = (*path, "cache")
        point = self.cache_mark("default", hint, where)
        if point is None:
            return None
        block = {"cachePoint": point}
        self.marks.append((block, where, to))
        return block

    def marked(self, wire: Wire) -> None:
        """Note an item that is a mark and is written verbatim: it counts, and the writer cannot change it."""
        if isinstance(wire.get("cachePoint"), dict):
            self.marks.append((wire, None, None))

    def finish(self) -> None:
        """Report what is known only at the end. A mark that is revoked leaves an empty block (`swept`)."""
        self.settle_marks()
        for path, to, filler in self.fillers:
            self.loss.move(
                path, to, "filler", "representation", "the target accepts a document only together with a text", filler
            )
        self.report_merges()
        self.report_moves()
