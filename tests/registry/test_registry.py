"""Providers and models as data: R-117, R-119, R-130, R-131, R-143, R-189, R-245, R-246, R-251, R-252, R-255."""

import json
import re
from pathlib import Path

import pytest

from interlingua import registry
from interlingua.canonical.errors import InvalidRequest
from interlingua.registry import Registry

SPEC = Path(__file__).parents[2] / "spec"
CAPABILITY_FIELDS = (
    "supports_thinking",
    "supports_images",
    "supports_tools",
    "supports_system_prompt",
    "supports_structured_output",
    "supports_streaming",
    "supports_streaming_tool_calls",
    "supports_parallel_tool_calls",
    "supports_prompt_caching",
    "supports_system_messages_in_list",
    "max_context_tokens",
    "accepted_image_media_types",
)
EMPTY = Registry(environment={})


def switches(adapter):
    """The words that an adapter's code knows, and those in the first column of the tables of its page."""
    code = SPEC.parent / "python" / "interlingua" / "adapters" / adapter
    read = {word for file in code.glob("*.py") for word in re.findall(r'"([a-z_]+)"', file.read_text())}
    page = (SPEC / "adapters" / f"{adapter}.md").read_text()
    return read | {word for line in page.splitlines() if line.startswith("|") for word in line.split("|")[1].split("`")}


def test_every_provider_has_an_adapter_of_its_own_wire_and_a_way_in():
    for name in registry.data("providers")["providers"]:
        row = EMPTY.provider(name)
        assert EMPTY.endpoint(provider=name).adapter == row["adapter"]
        assert row["auth"] is None or set(row["auth"]) == {"header", "prefix", "env", "required"}
        assert row["title"]
        if row.get("local"):
            assert row["auth"] is None or not row["auth"]["required"]


@pytest.mark.parametrize("name", ["lmstudio", "ollama", "vllm", "llama.cpp", "replay", "fake"])
def test_local_providers_need_no_key(name):
    assert EMPTY.configured(name)
    assert EMPTY.connection(name).headers == {}


@pytest.mark.parametrize("name", ["anthropic", "openai", "azure-openai", "openrouter", "mistral"])
def test_the_others_do(name):
    assert not EMPTY.configured(name)


def test_every_dialect_switch_and_capability_is_one_that_a_page_or_the_vocabulary_names():
    capabilities = registry.vocabulary("capabilities")
    for name, row in registry.data("providers")["providers"].items():
        spoken = {row["adapter"]: row, **row.get("other_wires", {})}
        for adapter, entry in spoken.items():
            assert set(entry.get("dialect", {})) <= switches(adapter), (name, adapter)
        assert set(row.get("capabilities", {})) <= set(capabilities), name


def test_every_model_declares_the_fields_of_the_contract_in_known_words():
    known = registry.vocabulary("capabilities")
    for model in EMPTY.models():
        assert set(CAPABILITY_FIELDS) <= set(model["capabilities"]), model["id"]
        assert set(model["capabilities"]) <= set(known), model["id"]
        assert model["capabilities"]["reasoning_replay"] in registry.vocabulary("replay_policies")
        assert model["tier"] in registry.vocabulary("tiers")
        assert model["known"]


def test_models_are_found_by_provider_and_capability():
    assert {model["provider"] for model in EMPTY.models(provider="anthropic")} == {"anthropic"}
    assert all(model["capabilities"]["supports_audio"] for model in EMPTY.models(capability="supports_audio"))


def test_a_later_word_on_a_capability_wins():
    assert EMPTY.capabilities("anthropic:claude-haiku-4-5")["max_context_tokens"] == 200_000
    assert EMPTY.capabilities("anthropic:claude-opus-4-8")["system_in_messages"] is True
    assert "system_in_messages" not in EMPTY.capabilities("anthropic:claude-sonnet-5")


def test_an_unknown_model_passes_with_what_its_provider_declares():
    model = EMPTY.model("deepseek:deepseek-v9")
    assert not model["known"]
    assert model["tier"] is None
    assert model["capabilities"]["supports_images"] is False
    assert "supports_tools" not in model["capabilities"]
    assert EMPTY.undeclared["supports_tools"] is True
    assert EMPTY.undeclared["supports_structured_output"] is False


def test_a_dated_snapshot_is_its_model():
    assert EMPTY.capabilities("anthropic:claude-haiku-4-5-20251001") == EMPTY.capabilities("anthropic:claude-haiku-4-5")


def test_the_vocabularies_are_those_of_the_schema():
    schema = json.loads((SPEC / "schema" / "interlingua.schema.json").read_text())["$defs"]
    for name, definition in (
        ("finish_reasons", "FinishReason"),
        ("error_categories", "ErrorCategory"),
        ("routing_modes", "RoutingMode"),
    ):
        assert list(registry.vocabulary(name)) == schema[definition]["enum"]


# ------------------------------------------------------------------------------------------------ endpoints


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ({"adapter": "openai_chat"}, ("openai_chat", "openai", None)),
        ({"adapter": "anthropic_messages"}, ("anthropic_messages", "anthropic", None)),
        ({"model": "anthropic:claude-opus-5"}, ("anthropic_messages", "anthropic", "claude-opus-5")),
        ({"model": "opus"}, ("anthropic_messages", "anthropic", "claude-opus-5-5")),
        ({"provider": "groq", "model": "openai/gpt-oss-120b"}, ("openai_chat", "groq", "openai/gpt-oss-120b")),
        ({"provider": "ollama", "model": "llama3:8b"}, ("openai_chat", "ollama", "llama3:8b")),
        ({"provider": "openai", "model": "openai:gpt-5"}, ("openai_chat", "openai", "gpt-5")),
        ({"adapter": "openai_chat", "model": "gpt-5"}, ("openai_chat", "openai", "gpt-5")),
        ({"adapter": "openai_chat", "model": "minimax-m3:cloud"}, ("openai_chat", "openai", "minimax-m3:cloud")),
        ({"adapter": "openai_chat", "model": "mistral:x"}, ("openai_chat", "mistral", "x")),
        ({"adapter": "openai_chat", "model": "mistral/x"}, ("openai_chat", "mistral", "x")),
        ({"adapter": "openai_chat", "model": "anthropic/claude"}, ("openai_chat", "openai", "anthropic/claude")),
        ({"provider": "deepseek", "adapter": "anthropic_messages"}, ("anthropic_messages", "deepseek", None)),
        ({"provider": "acme", "adapter": "openai_chat"}, ("openai_chat", "acme", None)),
        ({"adapter": "toy"}, ("toy", None, None)),
    ],
)
def test_endpoints(asked, found):
    endpoint = EMPTY.endpoint(**asked)
    assert (endpoint.adapter, endpoint.provider, endpoint.model) == found


def test_an_endpoint_has_the_dialect_of_the_wire_that_is_spoken():
    assert EMPTY.endpoint(provider="mistral").dialect["tool_id"]["length"] == 9
    assert EMPTY.endpoint(provider="deepseek", adapter="anthropic_messages").dialect == {"api_version": "2023-06-01"}
    assert EMPTY.endpoint(provider="mistral", adapter="toy").dialect == {}


@pytest.mark.parametrize("asked", [{}, {"provider": "acme"}, {"model": "acme:x"}, {"model": "nonsense"}])
def test_an_endpoint_that_nobody_knows_is_refused(asked):
    with pytest.raises(InvalidRequest):
        EMPTY.endpoint(**asked)


# ------------------------------------------------------------------------------------------------ the environment


def test_a_key_makes_a_provider_configured_and_is_not_printed():
    own = Registry(environment={"OPENAI_API_KEY": "sk-secret", "ANTHROPIC_API_KEY": "sk-other"})
    assert own.configured("openai")
    assert own.connection("openai").headers == {"authorization": "Bearer sk-secret"}
    assert own.connection("anthropic").headers == {"x-api-key": "sk-other"}
    assert "secret" not in repr(own.connection("openai"))
    assert "secret" not in json.dumps(own.snapshot())


def test_base_urls_come_from_the_environment():
    own = Registry(
        environment={
            "OPENAI_BASE_URL": "http://localhost:9/v1/",
            "ANTHROPIC_BASE_URL": "https://proxy.example",
            "AZURE_OPENAI_ENDPOINT": "https://thing.openai.azure.com",
            "AZURE_OPENAI_API_KEY": "k",
        }
    )
    assert own.connection("openai").url("/chat/completions") == "http://localhost:9/v1/chat/completions"
    assert own.connection("anthropic").url("/v1/messages") == "https://proxy.example/v1/messages"
    assert own.connection("azure-openai").base_url == "https://thing.openai.azure.com/openai/v1"
    assert own.configured("azure-openai")
    assert EMPTY.connection("openai").url("/v1/chat/completions") == "https://api.openai.com/v1/chat/completions"
    with pytest.raises(InvalidRequest, match="no base URL"):
        EMPTY.connection("azure-openai").url("/chat/completions")


def test_a_malformed_base_url_is_told_without_its_text():
    own = Registry(environment={"OPENAI_BASE_URL": "sk-oops"})
    with pytest.raises(InvalidRequest, match="OPENAI_BASE_URL") as error:
        own.connection("openai")
    assert "oops" not in str(error.value)
    assert not own.configured("openai")


DSNS = {
    "LLM_BOX": "ollama://host.example:11434",
    "LLM_MY_BOX": "foreman://t0ken@foreman.example/",
    "LLM_SWAP": "llama-swap://swap.example:8080",
    "LLM_NEAR": "ollama://localhost:11434",
    "LLM_OA": "openai://sk-1@gateway.example/openai/v1/",
    "LLM_AN": "anthropic://key@with@at.example",
}


@pytest.mark.parametrize(
    ("name", "base_url"),
    [
        ("box", "https://host.example:11434/v1"),
        ("my-box", "https://foreman.example/v1"),
        ("my_box", "https://foreman.example/v1"),
        ("swap", "http://swap.example:8080/v1"),
        ("near", "http://localhost:11434/v1"),
        ("oa", "https://gateway.example/openai/v1"),
        ("an", "https://with@at.example"),
    ],
)
def test_a_dsn_makes_a_provider(name, base_url):
    own = Registry(environment=DSNS)
    assert own.connection(name).base_url == base_url
    assert own.parse(f"{name}:some/model") == (name, "some/model")
    assert own.configured(name) or name == "an"


def test_the_token_of_a_dsn_is_its_key_and_does_not_stand_in_the_row():
    own = Registry(environment=DSNS)
    assert own.connection("my-box").headers == {"authorization": "Bearer t0ken"}
    assert own.connection("an").headers == {"x-api-key": "key"}
    assert "t0ken" not in json.dumps(own.provider("my-box"))
    assert own.connection("box").headers == {}


def test_a_dsn_has_the_models_of_the_row_that_it_is_a_copy_of_but_not_their_prices():
    own = Registry(environment=DSNS)
    assert own.capabilities("an:claude-opus-4-8") == own.capabilities("anthropic:claude-opus-4-8")
    assert own.endpoint(model="an:claude-opus-4-8").capabilities["system_in_messages"]
    assert own.price("an:claude-opus-4-8") is None


def test_a_server_that_was_moved_takes_its_other_wires_along():
    own = Registry(environment={"VLLM_BASE_URL": "http://gpu.example:8000/v1"})
    assert own.connection("vllm").base_url == "http://gpu.example:8000/v1"
    assert own.connection("vllm", "anthropic_messages").url("/v1/messages") == "http://gpu.example:8000/v1/messages"


def test_two_instances_of_one_provider_stand_side_by_side():
    own = Registry(environment={"LLM_A": "vllm://a.example", "LLM_B": "vllm://b.example"})
    assert own.endpoint(model="a:m").dialect == own.endpoint(model="b:m").dialect
    assert own.connection("a").base_url != own.connection("b").base_url
    assert own.endpoint(model="a:m").provider == "a"


def test_bad_dsns_are_recorded_by_name_and_raised_on_use_and_do_not_fail_the_others():
    own = Registry(environment={"LLM_GOOD": "ollama://h", "LLM_BAD": "nope://tok@h", "LLM_NOHOST": "openai://tok@/v1"})
    found = own.dsn_providers()
    assert found["good"] is None
    assert "unknown scheme" in str(found["bad"])
    assert "no host" in str(found["nohost"])
    assert "good" in own.providers()
    assert "bad" not in own.providers()
    with pytest.raises(InvalidRequest) as error:
        own.provider("bad")
    assert "tok" not in str(error.value)


def test_a_variable_that_is_no_dsn_is_told_when_it_is_used():
    own = Registry(environment={"LLM_X": "just text"})
    with pytest.raises(InvalidRequest, match="LLM_X is not a DSN"):
        own.provider("x")


def test_rows_win_over_dsns_of_the_same_name():
    own = Registry(environment={"LLM_OPENAI": "ollama://elsewhere"})
    assert own.connection("openai").base_url == "https://api.openai.com/v1"


def test_the_snapshot_is_plain_data_and_tells_what_is_configured():
    shot = Registry(environment={"ANTHROPIC_API_KEY": "k"}).snapshot(["openai:gpt-99"])
    assert shot["providers"]["anthropic"]["configured"] is True
    assert shot["providers"]["openai"]["configured"] is False
    assert shot["models"]["openai:gpt-99"]["tier"] is None
    assert json.loads(json.dumps(shot)) == shot


def test_a_key_is_shown_as_each_wire_wants_it() -> None:
    """One provider, two wires, two headers; a given key stands over the environment's."""
    own = Registry(environment={"GEMINI_API_KEY": "k-1"})

    assert {"x-goog-api-key": "k-1"} == own.connection("gemini").headers
    assert {"authorization": "Bearer k-1"} == own.connection("gemini", "openai_chat").headers
    assert {"authorization": "Bearer k-2"} == own.connection("gemini", "openai_chat", key="k-2").headers
