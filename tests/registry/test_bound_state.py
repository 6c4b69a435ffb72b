"""Whose state is bound to what: rows, keys, boundaries (spec/1-values.md#origin)."""

from dataclasses import replace

from interlingua.registry import Registry, data

WIRE = "openai_responses"
KEY = "sk-0123456789abcdef"


def registry(**environment: str) -> Registry:
    return Registry(environment=environment)


def test_rows_say_only_what_is_understood():
    words = {"bound_to": {"credential"}, "reasoning_replay": set(data("vocabularies")["replay_policies"]["words"])}
    for row in data("providers")["providers"].values():
        for state in row.get("state", {}).values():
            assert all(value in words[name] for name, value in state.items())


def test_an_origin_is_that_of_provider_host_and_key():
    one = registry(OPENAI_API_KEY=KEY).connection("openai", WIRE)
    assert one.origin is not None
    assert KEY not in one.origin
    assert one.origin == registry(OPENAI_API_KEY=KEY).connection("openai", WIRE).origin
    assert one.origin != registry(OPENAI_API_KEY=KEY + "x").connection("openai", WIRE).origin
    assert (
        one.origin
        != registry(OPENAI_API_KEY=KEY, OPENAI_BASE_URL="https://eu.api/v1").connection("openai", WIRE).origin
    )
    assert one.origin == registry().connection("openai", WIRE, key=KEY).origin


def test_the_path_and_the_case_of_an_address_are_no_boundary():
    one = registry(OPENAI_API_KEY=KEY).connection("openai", WIRE)
    assert replace(one, base_url="HTTPS://API.OpenAI.com/v2/").origin == one.origin


def test_only_what_a_row_calls_bound_has_an_origin():
    everywhere = registry(OPENAI_API_KEY=KEY, ANTHROPIC_API_KEY=KEY)
    assert everywhere.connection("openai").origin is None
    assert everywhere.connection("anthropic").origin is None
    endpoint = everywhere.endpoint(model="anthropic:claude-sonnet-4-6")
    assert everywhere.connection_of(endpoint).located(endpoint) is endpoint


def test_a_boundary_stands_for_keys_that_change():
    named = [
        registry(OPENAI_API_KEY=key, LLM_OPENAI_ORIGIN="acme").connection("openai", WIRE).origin for key in ("a", "b")
    ]
    assert named[0] == named[1] is not None
    assert named[0] != registry(OPENAI_API_KEY="a", LLM_OPENAI_ORIGIN="other").connection("openai", WIRE).origin
    assert "openai_origin" not in registry(LLM_OPENAI_ORIGIN="acme").providers()


def test_the_router_sees_origins_and_no_keys():
    seen = registry(OPENAI_API_KEY=KEY, LLM_EAST=f"openai://{KEY}2@east.example/v1").snapshot()["providers"]
    wires = {name: seen[name]["wires"].get(WIRE, {}).get("origin") for name in ("openai", "east", "azure-openai")}
    assert wires["openai"] != wires["east"] is not None
    assert wires["azure-openai"] is None
    assert KEY not in str(seen)
    assert seen["openai"]["wires"][WIRE]["reasoning_replay"] == "may"


def test_a_caller_with_keys_of_its_own_says_how_it_connects():
    bare = registry()
    seen = bare.snapshot(connect=lambda endpoint: bare.connection(endpoint.provider or "", endpoint.adapter, key=KEY))
    assert seen["providers"]["openai"]["wires"][WIRE]["origin"] == bare.connection("openai", WIRE, key=KEY).origin


def test_a_dsn_is_no_boundary():
    """`LLM_OPENAI_ORIGIN` may describe a provider `openai_origin`; its token is nobody's boundary."""
    plain = registry(OPENAI_API_KEY=KEY)
    beside = registry(OPENAI_API_KEY=KEY, LLM_OPENAI_ORIGIN="openai://token@host.example/v1")
    assert beside.connection("openai", WIRE).origin == plain.connection("openai", WIRE).origin
    assert "openai_origin" in beside.providers()
