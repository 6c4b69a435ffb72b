"""The words of the wire, its limits, and what a reader and a writer carry with them."""

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
"""By the kind of a medium, the words of the wire for its media types."""
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
# what travels as plain text because the wire has no name for it
TEXTS: Final = frozenset(("application/json", "application/xml", "application/yaml", "application/x-yaml"))

MODES: Final = ("adaptive", "enabled", "disabled")
TIERS: Final = ("priority", "default", "flex", "reserved")

DOCUMENT_FILLER: Final = "(document)"

CALL_IDS: Final = CallIds("toolu_", re.compile(r"[a-zA-Z0-9_.:-]{1,64}"))
DOCUMENT_NAME: Final = re.compile(r"(?!.*  )[a-zA-Z0-9 ()\[\]-]{1,200}")
S3: Final = re.compile(r"s3://[a-z0-9][.\-a-z0-9]{1,61}[a-z0-9](/.*)?", re.DOTALL)
METADATA: Final = re.compile(r"[a-zA-Z0-9\s:_@$#=/+,.-]{1,256}")


def cache_from_wire(point: Any) -> dict[str, Any] | None:
    """A cache hint from the inside of a `cachePoint`; None when it holds anything that a hint cannot say."""
    return cache_hint(point, "default")


class Writing(claude.Writing):
    """What a writer carries with it on this wire besides: documents, and what was called."""

    __slots__ = ("_document_names", "documents", "fillers", "tools_used")

    def __init__(self, source: dict[str, Any], endpoint: Endpoint, loss: Loss) -> None:
        super().__init__(source, endpoint, loss, CALL_IDS, PLAIN_NAMES, "cachePoint")
        self.marks_definitions = True
        self.documents: list[tuple[Wire, Path]] = []  # those of user messages
        self.fillers: list[tuple[Path, Path, Wire]] = []  # blocks before which a text has to stand
        self.tools_used: dict[str, None] = {}  # wire names of the calls in the conversation, in order
        self._document_names: set[str] = set()

    def document_name(self, name: str) -> str:
        """A name for a document within the grammar, used by no other document of the request."""
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
        """The block that marks what stands before it for the cache, or None.

        `path` is the path of the item whose member `cache` it is, `to` where the hint stands when read back.
        """
        where = (*path, "cache")
        point = self.cache_mark("default", hint, where)
        if point is None:
            return None
        block = {"cachePoint": point}
        self.marks.append((block, where, to))
        return block

    def marked(self, wire: Wire) -> None:
        """Notes the mark that an item which goes back verbatim is: it counts, and nothing can be done about it."""
        if isinstance(wire.get("cachePoint"), dict):
            self.marks.append((wire, None, None))

    def finish(self) -> None:
        """What is reported at the end. A mark that is taken back leaves an empty block (`swept`)."""
        self.settle_marks()
        for path, to, filler in self.fillers:
            self.loss.move(
                path, to, "filler", "representation", "the target accepts a document only together with a text", filler
            )
        self.report_merges()
        self.report_moves()
