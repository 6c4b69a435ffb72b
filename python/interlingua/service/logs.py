"""The log of a server, as text or as lines of JSON for programs that collect them (spec/9-service.md#log-lines)."""

import logging
import sys
import traceback
from datetime import UTC, datetime
from typing import Any, Final

from interlingua.canonical import json

_OF_EVERY_RECORD: Final = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}


def log_to_stderr(level: str, *, as_json: bool = False, worker: int | None = None) -> None:
    """Log at a level, as text or as lines of JSON. Of other libraries only warnings and errors are logged, because
    their details contain headers and content. `worker` is the number of this process, where several write one log."""
    # no format shows the source line of an entry, and finding it takes a third of the time of an entry
    # (https://docs.python.org/3/howto/logging.html#optimization)
    logging._srcfile = None  # type: ignore[attr-defined]
    logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False
    who = "" if worker is None else f"worker {worker} "
    logging.basicConfig(level=logging.WARNING, format=f"%(asctime)s %(levelname)s %(name)s {who}%(message)s")
    if as_json:
        for handler in logging.getLogger().handlers:
            handler.setFormatter(JsonLines(worker))
    logging.getLogger("interlingua").setLevel(level.upper())


class JsonLines(logging.Formatter):
    """Format each entry as one object: `time`, `level`, `logger`, `message`, the fields of the entry, and the ids of
    the trace when there is one. An exception is logged with its type and stack, without its text, which may quote
    anything. `worker` is the number of this process, where several write one log."""

    def __init__(self, worker: int | None = None) -> None:
        super().__init__()
        self._worker = {} if worker is None else {"worker": worker}

    def format(self, record: logging.LogRecord) -> str:
        """Return the line of an entry."""
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC)
            .isoformat(timespec="microseconds")
            .replace("+00:00", "Z"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **self._worker,
        }
        line |= {name: value for name, value in vars(record).items() if name not in _OF_EVERY_RECORD}
        if record.exc_info and record.exc_info[0] is not None:
            line["exception"] = record.exc_info[0].__name__
            line["stack"] = "".join(traceback.format_tb(record.exc_info[2]))
        line |= _trace()
        return json.dumps(_plain(line)).decode()


def _plain(value: Any) -> Any:
    """Return a value as JSON can hold it; anything else becomes its text."""
    if value is None or isinstance(value, (bool, int, float)):
        return value
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        return {str(name): _plain(inner) for name, inner in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_plain(inner) for inner in value]
    return str(value)


def _trace() -> dict[str, str]:
    """Return the ids of the span in which the entry was made, if there is one."""
    trace = sys.modules.get("opentelemetry.trace")
    context = None if trace is None else trace.get_current_span().get_span_context()
    if context is None or not context.is_valid:
        return {}
    return {"trace_id": f"{context.trace_id:032x}", "span_id": f"{context.span_id:016x}"}
