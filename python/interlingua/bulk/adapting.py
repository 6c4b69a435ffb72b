"""Adapting one conversation, from JSON text or plain data, to a request of a wire. No row makes it raise."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from interlingua import translate
from interlingua.canonical import json
from interlingua.canonical.errors import CannotAdapt, InterlinguaError, InvalidRequest, LossRefused, too_deep
from interlingua.canonical.loss import SEVERITIES, UNANSWERED

Data = dict[str, Any]

CANONICAL: Final = "canonical"
SESSIONS: Final = "sessions"
"""The source of rows that are stored sessions: the lines of an export, or a database."""


@dataclass(frozen=True, slots=True)
class Job:
    """The settings for every row.

    `to` is a wire, a provider or a model (`translate.endpoint_of`), or `canonical`; `provider` and `model` describe it
    further.
    `source` is `canonical` (requests, or lists of messages), `sessions`, or a wire; `from_provider` names a provider of
    that wire.
    `strict` refuses a row that would lose that much.
    `unanswered` determines how calls without a result are treated (`error`, `placeholder`; by default `placeholder` for
    sessions, whose last response may have broken off).
    `column` and `id_column` name columns of Parquet.
    """

    to: str
    source: str = CANONICAL
    provider: str | None = None
    from_provider: str | None = None
    model: str | None = None
    strict: str | None = None
    unanswered: str | None = None
    column: str | None = None
    id_column: str | None = None


class Adapted(NamedTuple):
    """The result for a row. Either `body` holds the bytes to send, `path` and `headers` belong to the wire, and `loss`
    is the whole report; or `error` is a canonical object, and `refused` states whether the loss policy caused it."""

    body: bytes | None
    path: str | None
    headers: dict[str, str] | None
    loss: list[Any]
    error: Data | None = None
    refused: bool = False


class Adapter:
    """An adapter of rows. Its constructor raises `InvalidRequest` when the job has an unknown name or value.

    An instance may be pickled and sent to another process.
    """

    def __init__(self, job: Job) -> None:
        self.job = job
        if job.strict not in (None, *SEVERITIES):
            raise InvalidRequest(f"strict takes {', '.join(SEVERITIES)}; not {job.strict!r}")
        if job.unanswered not in (None, *UNANSWERED):
            raise InvalidRequest(f"unanswered takes {', '.join(UNANSWERED)}; not {job.unanswered!r}")
        if job.to == CANONICAL and (job.provider or job.model):
            raise InvalidRequest("provider and model describe the wire that is written; leave them out with canonical")
        self._target = None
        if job.to != CANONICAL:
            self._target = translate.endpoint_of(job.to, provider=job.provider, model=job.model)
        self._side = None
        if job.source not in (CANONICAL, SESSIONS):
            self._side = translate.endpoint_of(job.source, provider=job.from_provider)
        elif job.from_provider is not None:
            raise InvalidRequest("from_provider describes the wire that is read; name this wire as the source")
        unanswered = job.unanswered or ("placeholder" if job.source == SESSIONS else None)
        self._policy = {
            name: value for name, value in (("strict", job.strict), ("unanswered", unanswered)) if value is not None
        }

    def __reduce__(self) -> tuple[type["Adapter"], tuple[Job]]:
        return Adapter, (self.job,)

    def __call__(self, row: Any) -> Adapted:
        """Adapt a row: JSON text or plain data. An `InterlinguaError` in place of a row is the error of its reading,
        and becomes the error of the result."""
        try:
            if isinstance(row, InterlinguaError):
                raise row
            return self._adapted(row)
        except InterlinguaError as problem:
            loss = problem.loss if isinstance(problem, LossRefused) else []
            return _failed(problem, loss)
        except RecursionError:
            return _failed(too_deep(), [])
        except Exception as problem:  # noqa: BLE001  a defect of Interlingua must cost only this row
            error = {
                "category": "internal",
                "message": f"a defect of Interlingua ({type(problem).__name__}); please report it",
                "retryable": False,
            }
            return Adapted(None, None, None, [], error)

    def _adapted(self, row: Any) -> Adapted:
        request, report = self._read(row)
        if self._policy:
            request = {**request, "loss_policy": {**(request.get("loss_policy") or {}), **self._policy}}
        if self._target is None:
            return Adapted(json.dumps(request), None, None, report)
        projection = translate.project(request, translate.for_request(self._target, request))
        wire = projection.wire
        return Adapted(projection.body, wire["path"], wire.get("headers"), [*report, *projection.loss])

    def _read(self, row: Any) -> tuple[Mapping[str, Any], list[Any]]:
        if self._side is not None:
            side = self._side
            return translate.read_request(row, side.adapter, provider=side.provider)
        if isinstance(row, list):
            row = {"messages": row}
        elif isinstance(row, (bytes, str)):
            row = _whole(row.encode() if isinstance(row, str) else row)
        return translate.load(row), []


def _failed(problem: InterlinguaError, loss: list[Any]) -> Adapted:
    return Adapted(None, None, None, loss, problem.to_dict(), isinstance(problem, CannotAdapt))


def _whole(text: bytes) -> bytes:
    """Return the text as a request: a list of messages becomes a request with no other member."""
    return b'{"messages":' + text + b"}" if text.lstrip().startswith(b"[") else text
