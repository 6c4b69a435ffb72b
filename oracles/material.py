"""What is judged: the canonical requests, answers and streams of the conformance cases, written for a judge's provider."""

from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from interlingua import adapters, registry, translate
from interlingua.canonical import json
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.errors import InterlinguaError
from interlingua.canonical.ids import DERIVED_IDS

CASES = Path(__file__).resolve().parent.parent / "conformance" / "cases"


@dataclass(frozen=True)
class Case:
    """One folder of the suite."""

    id: str
    folder: Path

    @cached_property
    def meta(self) -> dict[str, Any]:
        """What `case.json` says."""
        return json.loads((self.folder / "case.json").read_bytes())

    def has(self, name: str) -> bool:
        """Whether the folder holds a file."""
        return (self.folder / name).is_file()

    @cached_property
    def request(self) -> dict[str, Any]:
        """The canonical request; where the case begins with a wire, that as it reads."""
        if self.has("request.canonical.json"):
            return json.loads((self.folder / "request.canonical.json").read_bytes())
        source = registry.endpoint(
            adapter=self.folder.parent.name, provider=self.meta.get("provider"), model=self.meta.get("model")
        )
        wire = json.loads((self.folder / "request.wire.json").read_bytes())
        return adapters.get(source.adapter).from_wire_request(wire, source, DERIVED_IDS)[0]

    @cached_property
    def response(self) -> dict[str, Any]:
        """The canonical answer."""
        return json.loads((self.folder / "response.canonical.json").read_bytes())

    @cached_property
    def events(self) -> list[dict[str, Any]]:
        """The canonical events; where the answer stands in a file of its own, the last event may be left out."""
        events = [json.loads(line) for line in (self.folder / "stream.events.jsonl").read_bytes().splitlines() if line]
        if events[-1]["type"] not in LAST and self.has("response.canonical.json"):
            events.append({"type": "message_complete", "response": self.response})
        return events

    @property
    def ends(self) -> bool:
        """Whether the files tell how the stream ends."""
        return self.events[-1]["type"] in LAST


REQUESTS = ("request.canonical.json", "request.read.json")
LAST = ("message_complete", "error")
TYPES = {
    "sse": "text/event-stream",
    "sse_or_array": "text/event-stream",  # an array is read only; events are written, which is what the SDK asks for
    "jsonl": "application/x-ndjson",
}


@cache
def cases(*files: str) -> list[Case]:
    """The cases that hold one of the files, whatever wire they are of."""
    found = {path.parent for file in files for path in CASES.glob(f"*/*/{file}")}
    folders = sorted(folder for folder in found if (folder / "case.json").is_file())
    return [Case(folder.relative_to(CASES).as_posix(), folder) for folder in folders]


def endpoint(judge: Any, case: Case) -> Endpoint:
    """The judge's provider. Its model is the case's where that is of this provider, else one that nothing is known of."""
    named = case.meta.get("model") if case.meta.get("provider") == judge.PROVIDER else None
    return registry.endpoint(adapter=judge.ADAPTER, provider=judge.PROVIDER, model=named or "a-model")


def written_request(judge: Any, case: Case) -> dict[str, Any] | None:
    """The body of a case's request, as it goes on the wire; None when the projection is refused."""
    request = {name: value for name, value in case.request.items() if name not in ("loss_policy", "model")}
    try:
        return json.loads(translate.project(translate.load(request), endpoint(judge, case)).body)
    except InterlinguaError:
        return None


def written_answer(judge: Any, response: dict[str, Any]) -> tuple[dict[str, Any], list[Any]]:
    """The body of an answer, as it goes on the wire, and what it cannot say."""
    body, loss = translate.write_response(response, judge.ADAPTER, provider=judge.PROVIDER)
    return json.loads(json.dumps(body)), loss


def written_stream(judge: Any, events: list[dict[str, Any]]) -> bytes:
    """The bytes of a streamed answer."""
    return b"".join(translate.write_stream(events, judge.ADAPTER, provider=judge.PROVIDER))


def framing(judge: Any) -> str:
    """The content type of a judge's streams."""
    return TYPES[adapters.get(judge.ADAPTER).FRAMING]
