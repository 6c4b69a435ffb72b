"""One conversation, from JSON text or plain data, as the request of a wire. It never raises for what it is given."""

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
"""Rows that are stored sessions: the lines of an export, or a database."""


@dataclass(frozen=True, slots=True)
class Job:
    """What is done with every row.

    `to` is a wire, a provider or a model (`translate.endpoint_of`), or `canonical`; `provider` and `model` describe it
    further. `source` is `canonical` (requests, or lists of messages), `sessions`, or a wire, of which `from_provider` names
    a row. `strict` refuses a row that would lose that much; `unanswered` says what becomes of calls without a result
    (`error`, `placeholder`; by default the latter for sessions, whose last answer may have broken off).
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
    """What became of a row: `body` is the bytes to send, beside the `path` and the `headers` of the wire, and `loss` the
    whole report; or there is an `error`, as a canonical object, and `refused` says whether the loss policy is why."""

    body: bytes | None
    path: str | None
    headers: dict[str, str] | None
    loss: list[Any]
    error: Data | None = None
    refused: bool = False


class Adapter:
    """Adapts rows by a job. Raises `InvalidRequest` when the job names what there is not.

    An instance may be pickled and sent to another process.
    """

    def __init__(self, job: Job) -> None:
        self.job = job
        if job.strict not in (None, *SEVERITIES):
            raise InvalidRequest(f"strict takes {', '.join(SEVERITIES)}; not {job.strict!r}")
        if job.unanswered not in (None, *UNANSWERED):
            raise InvalidRequest(f"unanswered takes {', '.join(UNANSWERED)}; not {job.unanswered!r}")
        if job.to == CANONICAL and (job.provider or job.model):
            raise InvalidRequest("a provider and a model describe the wire that is written; canonical has neither")
        self._target = None
        if job.to != CANONICAL:
            self._target = translate.endpoint_of(job.to, provider=job.provider, model=job.model)
        self._side = None
        if job.source not in (CANONICAL, SESSIONS):
            self._side = translate.endpoint_of(job.source, provider=job.from_provider)
        elif job.from_provider is not None:
            raise InvalidRequest("from_provider describes the wire that is read; name that as the source")
        unanswered = job.unanswered or ("placeholder" if job.source == SESSIONS else None)
        self._policy = {
            name: value for name, value in (("strict", job.strict), ("unanswered", unanswered)) if value is not None
        }

    def __reduce__(self) -> tuple[type["Adapter"], tuple[Job]]:
        return Adapter, (self.job,)

    def __call__(self, given: Any) -> Adapted:
        """What becomes of a row: JSON text or plain data. An `InterlinguaError` in its place is what it became when it was
        read."""
        try:
            if isinstance(given, InterlinguaError):
                raise given
            return self._adapted(given)
        except InterlinguaError as problem:
            loss = problem.loss if isinstance(problem, LossRefused) else []
            return _failed(problem, loss)
        except RecursionError:
            return _failed(too_deep(), [])
        except Exception as problem:  # noqa: BLE001  a defect of ours costs this row, and not all others
            error = {"category": "internal", "message": f"a defect ({type(problem).__name__})", "retryable": False}
            return Adapted(None, None, None, [], error)

    def _adapted(self, given: Any) -> Adapted:
        request, report = self._read(given)
        if self._policy:
            request = {**request, "loss_policy": {**(request.get("loss_policy") or {}), **self._policy}}
        if self._target is None:
            return Adapted(json.dumps(request), None, None, report)
        projection = translate.project(request, translate.for_request(self._target, request))
        wire = projection.wire
        return Adapted(projection.body, wire["path"], wire.get("headers"), [*report, *projection.loss])

    def _read(self, given: Any) -> tuple[Mapping[str, Any], list[Any]]:
        if self._side is not None:
            side = self._side
            return translate.read_request(given, side.adapter, provider=side.provider)
        if isinstance(given, list):
            given = {"messages": given}
        elif isinstance(given, (bytes, str)):
            given = _whole(given.encode() if isinstance(given, str) else given)
        return translate.load(given), []


def _failed(problem: InterlinguaError, loss: list[Any]) -> Adapted:
    return Adapted(None, None, None, loss, problem.to_dict(), isinstance(problem, CannotAdapt))


def _whole(text: bytes) -> bytes:
    """The text of a request: a list of messages is one that has nothing else."""
    return b'{"messages":' + text + b"}" if text.lstrip().startswith(b"[") else text
