"""
An adapter of somebody else: registered from outside through the entry-point group, without an edit to the core.

`telegraph/` is a package of its own with a wire that nobody speaks. The test installs it: its module into a folder on
the path, with the metadata that an installer writes.
"""

import json
import shutil
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from interlingua import adapters, apply, difference, plug, registry, translate, visible
from interlingua.canonical.errors import InvalidRequest
from interlingua.canonical.ids import DERIVED_IDS

HERE = Path(__file__).resolve().parent / "telegraph"
ROOT = Path(__file__).resolve().parents[2]
PORTABLE = sorted((ROOT / "conformance" / "cases" / "portable").glob("*/request.canonical.json"))
METADATA = "Metadata-Version: 2.1\nName: interlingua-telegraph\nVersion: 1.0\n"
ENTRY_POINTS = "[interlingua.adapters]\ntelegraph = interlingua_telegraph\n"

sys.path.insert(0, str(ROOT / "conformance"))

from runner.cases import Case, read  # noqa: E402
from runner.discover import plan  # noqa: E402
from runner.plug import FunctionPlug  # noqa: E402
from runner.session import Session  # noqa: E402
from runner.verdict import BAD, run  # noqa: E402

Data = dict[str, Any]


def forbids_loss(case: Case) -> bool:
    """Whether a request refuses to lose anything: a telegraph loses much."""
    policy = case.value("request.canonical.json").get("loss_policy") if case.has("request.canonical.json") else None
    return bool(policy and policy.get("strict"))


def forget() -> None:
    """What is installed has changed."""
    adapters.installed.cache_clear()
    adapters.names.cache_clear()
    adapters.get.cache_clear()


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The package as an installer leaves it."""
    site = tmp_path_factory.mktemp("site-packages")
    shutil.copy(HERE / "interlingua_telegraph.py", site)
    info = site / "interlingua_telegraph-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(METADATA)
    (info / "entry_points.txt").write_text(ENTRY_POINTS)
    sys.path.append(str(site))
    forget()
    yield
    sys.path.remove(str(site))
    sys.modules.pop("interlingua_telegraph", None)
    forget()


def test_it_is_not_there_before_it_is_installed() -> None:
    forget()

    assert "telegraph" not in adapters.names()
    with pytest.raises(InvalidRequest, match="there is no adapter 'telegraph'"):
        adapters.get("telegraph")


@pytest.mark.usefixtures("installed")
def test_it_is_found_by_its_entry_point() -> None:
    assert "telegraph" in adapters.names()
    assert adapters.get("telegraph").NAME == "telegraph"
    assert registry.endpoint(adapter="telegraph", model="morse").adapter == "telegraph"


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize("path", PORTABLE, ids=lambda path: path.parent.name)
def test_it_obeys_the_loss_law_on_the_portable_cases(path: Path) -> None:
    request = translate.load(path.read_bytes())
    endpoint = registry.endpoint(adapter="telegraph", model="morse")

    projection = translate.project(request, endpoint)
    wire = {**projection.wire, "body": json.loads(projection.body)}
    read_back, _ = adapters.get("telegraph").from_wire_request(wire, endpoint, DERIVED_IDS)

    translate.load(read_back)
    assert difference(visible(apply(request, projection.loss)), visible(read_back)) is None


@pytest.mark.usefixtures("installed")
def test_the_whole_suite_runs_on_it() -> None:
    """Its own cases, and every request of every other wire through it."""
    session = Session(FunctionPlug(plug.handle))
    cases = [case for case in [*read(), *read([HERE / "cases"])] if not forbids_loss(case)]
    checks = plan(cases, sorted(session.adapters), only="telegraph")

    wrong = defaultdict(list)
    passed = 0
    for result in run(session, checks):
        passed += result.outcome == "pass"
        if result.outcome in BAD:
            wrong[result.outcome].append(f"{result.check.id}: {result.message}")

    assert dict(wrong) == {}
    assert passed > len(PORTABLE)


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize("source", ["anthropic_messages", "openai_chat", "ollama_chat"])
def test_it_meets_the_wires_of_the_core(source: str) -> None:
    body = {"model": "m", "messages": [{"role": "user", "content": "Arrive Tuesday."}], "max_tokens": 9}

    there = translate.adapt(body, "telegraph", source=source)
    back = translate.adapt(there.wire["body"], source, source="telegraph")

    assert there.wire["body"]["lines"] == [{"from": "user", "words": ["Arrive Tuesday."]}]
    content = back.wire["body"]["messages"][0]["content"]
    assert content in ("Arrive Tuesday.", [{"type": "text", "text": "Arrive Tuesday."}])
