"""A short campaign; `make scale` is the long one."""

import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from interlingua.canonical import json
from scale import servers
from scale.killing import campaign
from scale.servers import Stack

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.timeout(300)


@pytest.fixture(scope="module")
def stack() -> Iterator[Stack]:
    """PostgreSQL, two servers, Envoy."""
    if reason := servers.missing():
        pytest.skip(reason)
    with servers.running() as made:
        yield made


@pytest.mark.asyncio
async def test_servers_may_be_killed_under_load(stack: Stack) -> None:
    """No acknowledged write is lost or doubled, no session forks, watchers go on where they were."""
    tally = await campaign(stack, 4, 1)
    assert tally.acknowledged > 20
    assert tally.resumed > 0
    assert min(tally.served) > 0


def test_the_providers_wires_are_served_as_well(stack: Stack) -> None:
    """By HTTP, through Envoy."""
    body = {"model": "replay:gpt-5.4", "messages": [{"role": "user", "content": "Hi"}]}
    asked = urllib.request.Request(
        f"{stack.http}/v1/chat/completions", json.dumps(body), {"content-type": "application/json"}
    )
    with urllib.request.urlopen(asked, timeout=30) as answer:
        assert json.loads(answer.read())["choices"][0]["message"]["content"]


def test_the_page_starts_what_envoy_expects() -> None:
    """The ports in the commands of the page are those of the configuration."""
    page = (ROOT / "deploy/README.md").read_text()
    found = yaml.safe_load(servers.CONFIGURATION.read_text())
    for cluster, option in (("grpc", "--port"), ("http", "--http-port")):
        [endpoints] = [
            one["load_assignment"]["endpoints"]
            for one in found["static_resources"]["clusters"]
            if one["name"] == cluster
        ]
        for endpoint in endpoints[0]["lb_endpoints"]:
            port = endpoint["endpoint"]["address"]["socket_address"]["port_value"]
            assert f"{option} {port}" in page
