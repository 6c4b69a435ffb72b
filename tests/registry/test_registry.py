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


EVERY_WIRE = {"open_calls"}
"""Switches that are read for every wire (spec/7-routing.md#open-calls)."""


def switches(adapter):
    """The words that an adapter's code knows, those in the first column of the tables of its page, and the common ones."""
    code = SPEC.parent / "python" / "interlingua" / "adapters" / adapter
    read = {word for file in code.glob("*.py") for word in re.findall(r'"([a-z_]+)"', file.read_text())}
    page = (SPEC / "adapters" / f"{adapter}.md").read_text()
    return (
        read
        | EVERY_WIRE
        | {word for line in page.splitlines() if line.startswith("|") for word in line.split("|")[1].split("`")}
    )


def test_every_provider_has_an_adapter_of_its_own_wire_and_a_way_in():
    for name in registry.data("providers")["providers"]:
        row = EMPTY.provider(name)
        assert EMPTY.endpoint(provider=name).adapter == row["adapter"]
        assert row["auth"] is None or set(row["auth"]) - {"signing"} == {"header", "prefix", "env", "required"}
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


VERTEX = "GOOGLE_CLOUD_PROJECT or ANTHROPIC_VERTEX_PROJECT_ID or VERTEX_BASE_URL"


@pytest.mark.parametrize(
    ("name", "environment", "lacks"),
    [
        ("ollama", {}, []),
        ("groq", {}, ["no key: set GROQ_API_KEY"]),
        ("groq", {"GROQ_API_KEY": "k"}, []),
        ("gpustack", {}, ["no address: set GPUSTACK_BASE_URL"]),
        ("cloudflare", {"CLOUDFLARE_API_KEY": "k"}, ["no address: set CLOUDFLARE_ACCOUNT_ID or CLOUDFLARE_BASE_URL"]),
        ("box", {"LLM_BOX": "openai://api.openai.com"}, ["no key: write scheme://key@host into LLM_BOX"]),
        ("vertex", {"VERTEX_ACCESS_TOKEN": "t"}, [f"no address: set {VERTEX}"]),
        # a server of the caller's choice may want none
        ("box", {"LLM_BOX": "openai://h"}, []),
        ("openai", {"OPENAI_BASE_URL": "http://localhost:8000/v1"}, []),
        ("openai", {"OPENAI_BASE_URL": "https://API.openai.com/v1/"}, ["no key: set OPENAI_API_KEY"]),
        ("azure-openai", {"AZURE_OPENAI_BASE_URL": "https://x.example"}, ["no key: set AZURE_OPENAI_API_KEY"]),
        ("bedrock", {"BEDROCK_BASE_URL": "http://localhost:4566"}, []),
    ],
)
def test_what_a_provider_lacks_is_said(name, environment, lacks):
    own = Registry(environment=environment)
    assert own.missing(name) == lacks
    assert own.configured(name) is not bool(lacks)


def test_what_the_caller_gives_stands_over_the_environment():
    assert EMPTY.missing("groq", key="k") == []
    assert EMPTY.missing("groq", base_url="http://localhost:1") == []
    assert EMPTY.missing("groq", base_url="https://api.groq.com/x") == ["no key: set GROQ_API_KEY"]


def test_how_things_stand_with_a_provider():
    """Every row can be told, and no key stands in what is told."""
    address = "https://user:pa55@proxy.example/v1?key=s3cret"
    own = Registry(
        environment={
            "GROQ_API_KEY": "k-secret",
            "LLM_BOX": "openai://t0ken@box.example",
            "MISTRAL_BASE_URL": address,
        }
    )
    told = {name: own.standing(name) for name in own.providers()}
    assert told["groq"]["configured"]
    assert (told["openai"]["key_variables"], told["openai"]["needs_key"]) == (["OPENAI_API_KEY"], True)
    assert (told["box"]["base_url"], told["box"]["key_variables"]) == ("https://box.example/v1", ["LLM_BOX"])
    assert told["azure-openai"]["address_variables"] == ["AZURE_OPENAI_BASE_URL", "AZURE_OPENAI_ENDPOINT"]
    assert "GOOGLE_CLOUD_LOCATION" in told["vertex"]["address_variables"]
    assert told["vllm"]["needs_key"] is False
    assert told["vllm"]["models"] == 0
    assert told["anthropic"]["models"] > 5
    assert told["mistral"]["base_url"] == "https://proxy.example/v1"
    for secret in ("secret", "t0ken", "pa55", "s3cret"):
        assert secret not in json.dumps(told)


def test_every_dialect_switch_and_capability_is_one_that_a_page_or_the_vocabulary_names():
    capabilities = registry.vocabulary("capabilities")
    for name, row in registry.data("providers")["providers"].items():
        spoken = {row["adapter"]: row, **row.get("other_wires", {})}
        for adapter, entry in spoken.items():
            assert set(entry.get("dialect", {})) <= switches(adapter), (name, adapter)
        assert set(row.get("capabilities", {})) <= set(capabilities), name


def test_rows_have_the_members_that_the_chapter_names():
    chapter = (SPEC / "7-routing.md").read_text()
    told = {word for line in chapter.splitlines() if line.startswith("|") for word in line.split("|")[1].split("`")}
    told |= {"other_wires", "title", "documentation"}
    for name, row in registry.data("providers")["providers"].items():
        assert set(row) <= told, name
        wires = {row["adapter"]: row, **row.get("other_wires", {})}
        addresses = [spoken["base_url"] for spoken in wires.values() if spoken["base_url"]]
        for address in addresses:
            assert set(re.findall(r"{(\w+)}", address)) == set(row.get("places", {})), name
        assert set(row.get("models_of", ())) <= set(EMPTY.providers()), name
        assert set(row.get("wires_by_name", {}).values()) <= set(wires), name
        assert all(re.compile(pattern) for pattern in row.get("wires_by_name", {})), name
    for model, row in registry.data("models")["models"].items():
        provider = EMPTY.provider(model.partition(":")[0])
        assert row.get("adapter", provider["adapter"]) in (provider["adapter"], *provider.get("other_wires", {})), model


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
        ({"provider": "ollama", "model": "llama3:8b"}, ("ollama_chat", "ollama", "llama3:8b")),
        ({"provider": "openai", "model": "openai:gpt-5"}, ("openai_chat", "openai", "gpt-5")),
        ({"adapter": "openai_chat", "model": "gpt-5"}, ("openai_chat", "openai", "gpt-5")),
        ({"adapter": "openai_chat", "model": "minimax-m3:cloud"}, ("openai_chat", "openai", "minimax-m3:cloud")),
        ({"adapter": "openai_chat", "model": "mistral:x"}, ("openai_chat", "mistral", "x")),
        ({"adapter": "openai_chat", "model": "mistral/x"}, ("openai_chat", "mistral", "x")),
        ({"adapter": "openai_chat", "model": "anthropic/claude"}, ("openai_chat", "openai", "anthropic/claude")),
        ({"provider": "deepseek", "adapter": "anthropic_messages"}, ("anthropic_messages", "deepseek", None)),
        ({"provider": "acme", "adapter": "openai_chat"}, ("openai_chat", "acme", None)),
        ({"adapter": "toy"}, ("toy", None, None)),
        ({"provider": "ollama", "adapter": "openai_chat"}, ("openai_chat", "ollama", None)),
        ({"model": "openai:o1-pro"}, ("openai_responses", "openai", "o1-pro")),
        (
            {"model": "openai:o3-deep-research-2025-06-26"},
            ("openai_responses", "openai", "o3-deep-research-2025-06-26"),
        ),
        ({"model": "openai:gpt-9-codex"}, ("openai_responses", "openai", "gpt-9-codex")),
        ({"model": "openai:gpt-9"}, ("openai_chat", "openai", "gpt-9")),
        ({"adapter": "openai_chat", "model": "openai:o1-pro"}, ("openai_chat", "openai", "o1-pro")),
        ({"model": "azure-openai:o3-pro"}, ("openai_responses", "azure-openai", "o3-pro")),
        ({"model": "azure-openai:our-deployment"}, ("openai_chat", "azure-openai", "our-deployment")),
        ({"model": "vertex:gemini-2.5-pro"}, ("gemini_generate", "vertex", "gemini-2.5-pro")),
        ({"model": "vertex:claude-sonnet-4-6"}, ("anthropic_messages", "vertex", "claude-sonnet-4-6")),
        ({"model": "vertex:claude-opus-9@20270101"}, ("anthropic_messages", "vertex", "claude-opus-9@20270101")),
        (
            {"model": "bedrock:us.anthropic.claude-opus-9"},
            ("bedrock_converse", "bedrock", "us.anthropic.claude-opus-9"),
        ),
        ({"provider": "bedrock", "adapter": "anthropic_messages"}, ("anthropic_messages", "bedrock", None)),
        ({"model": "chatgpt-codex:gpt-5.4"}, ("openai_responses", "chatgpt-codex", "gpt-5.4")),
    ],
)
def test_endpoints(asked, found):
    endpoint = EMPTY.endpoint(**asked)
    assert (endpoint.adapter, endpoint.provider, endpoint.model) == found


@pytest.mark.parametrize(
    "name",
    [
        "us.anthropic.claude-haiku-4-5-20251001-v1:0",
        "eu.anthropic.claude-haiku-4-5-20251001-v1:0",
        "global.anthropic.claude-haiku-4-5-20251001-v1:0",
        "apac.anthropic.claude-haiku-4-5-20251001-v1:0",
        "anthropic.claude-haiku-4-5-20251001-v1:0",
        "anthropic.claude-haiku-4-5-20251001-v1:0:200k",
        "anthropic.claude-haiku-4-5",
        "arn:aws:bedrock:eu-west-1:123456789012:inference-profile/eu.anthropic.claude-haiku-4-5-20251001-v1:0",
        "arn:aws:bedrock:eu-west-1::foundation-model/anthropic.claude-haiku-4-5-20251001-v1:0",
    ],
)
def test_a_region_an_edition_and_an_arn_lead_to_the_model(name):
    model = EMPTY.model(f"bedrock:{name}")
    assert model["known"]
    assert model["title"] == "Claude Haiku 4.5 on Bedrock"
    assert model["name"] == name


@pytest.mark.parametrize("name", ["us.claude-haiku-4-5", "us.anthropic.claude-haiku-4", "haiku"])
def test_what_only_looks_like_a_model_of_a_region_is_unknown(name):
    assert not EMPTY.model(f"bedrock:{name}")["known"]


def test_regions_are_a_matter_of_providers_that_have_them():
    assert not EMPTY.model("openai:us.gpt-4.1")["known"]
    assert EMPTY.model("anthropic:claude-3-7-sonnet-latest")["known"]


def test_a_host_of_others_models_has_what_is_declared_of_them():
    for model in ("vertex:claude-haiku-4-5@20251001", "bedrock:eu.anthropic.claude-haiku-4-5-20251001-v1:0"):
        assert EMPTY.capabilities(model)["max_context_tokens"] == 200_000
    assert EMPTY.capabilities("azure-openai:gpt-4.1-mini")["max_output_tokens"] == 32768
    assert EMPTY.capabilities("vertex:gemini-2.5-flash") == EMPTY.capabilities("gemini:gemini-2.5-flash")


def test_models_that_are_served_over_another_wire_say_so():
    assert EMPTY.model("openai:o3-pro")["adapter"] == "openai_responses"
    assert EMPTY.model("openai:gpt-4.1")["adapter"] == "openai_chat"
    assert EMPTY.model("vertex:claude-sonnet-4-6")["adapter"] == "anthropic_messages"


def test_the_named_providers_have_rows():
    names = (
        "openai azure-openai anthropic gemini vertex bedrock ollama openrouter lmstudio groq mistral deepseek xai together"
        " fireworks cerebras vllm llama.cpp llama-swap foreman"
    )
    assert set(names.split()) <= set(EMPTY.providers())


def test_a_provider_that_speaks_chat_says_how_its_streams_end():
    for name, row in registry.data("providers")["providers"].items():
        spoken = {row["adapter"]: row, **row.get("other_wires", {})}
        if "openai_chat" in spoken and name != "foreman":
            assert spoken["openai_chat"]["dialect"]["end_mark"] in ("required", "optional"), name
    for name in ("perplexity", "huggingface", "writer", "cerebras"):
        assert EMPTY.endpoint(provider=name).dialect["end_mark"] == "optional"


def test_an_endpoint_has_the_dialect_of_the_wire_that_is_spoken():
    assert EMPTY.endpoint(provider="mistral").dialect["tool_id"]["length"] == 9
    other = EMPTY.endpoint(provider="deepseek", adapter="anthropic_messages").dialect
    assert other == {"api_version": "2023-06-01", "unsigned_thinking": True, "built_in_tools": False}
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
    with pytest.raises(InvalidRequest, match="no base URL; set AZURE_OPENAI_BASE_URL or AZURE_OPENAI_ENDPOINT"):
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
    "LLM_NEAREST": "ollama://[::1]:11434",
    "LLM_OA": "openai://sk-1@gateway.example/openai/v1/",
    "LLM_AN": "anthropic://key@with@at.example",
}


@pytest.mark.parametrize(
    ("name", "base_url"),
    [
        ("box", "https://host.example:11434"),
        ("my-box", "https://foreman.example/v1"),
        ("my_box", "https://foreman.example/v1"),
        ("swap", "http://swap.example:8080/v1"),
        ("near", "http://localhost:11434"),
        ("nearest", "http://[::1]:11434"),
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


@pytest.mark.parametrize(
    ("variable", "value", "provider", "adapter", "base_url"),
    [
        ("OLLAMA_BASE_URL", "http://h:1", "ollama", None, "http://h:1"),
        ("OLLAMA_BASE_URL", "http://h:1/v1", "ollama", None, "http://h:1"),
        ("OLLAMA_BASE_URL", "http://h:1/v1", "ollama", "openai_chat", "http://h:1/v1"),
        ("OLLAMA_BASE_URL", "http://h:1", "ollama", "openai_chat", "http://h:1/v1"),
        ("LMSTUDIO_BASE_URL", "http://h:1/v1", "lmstudio", "anthropic_messages", "http://h:1"),
        ("DEEPSEEK_BASE_URL", "https://p/x", "deepseek", "anthropic_messages", "https://p/x/anthropic"),
        ("GEMINI_BASE_URL", "https://p/v1beta", "gemini", "openai_chat", "https://p/v1beta/openai"),
        ("VERTEX_BASE_URL", "https://p/a/publishers/google", "vertex", None, "https://p/a/publishers/google"),
        (
            "VERTEX_BASE_URL",
            "https://p/a/publishers/google",
            "vertex",
            "anthropic_messages",
            "https://p/a/publishers/anthropic",
        ),
        ("AZURE_OPENAI_ENDPOINT", "https://a", "azure-openai", "openai_responses", "https://a/openai/v1"),
        ("AWS_REGION", "eu-west-1", "bedrock", None, "https://bedrock-runtime.eu-west-1.amazonaws.com"),
        ("AWS_DEFAULT_REGION", "eu-west-1", "bedrock-mantle", None, "https://bedrock-mantle.eu-west-1.api.aws/v1"),
        ("NONE", "", "bedrock", "anthropic_messages", "https://bedrock-runtime.us-east-1.amazonaws.com"),
    ],
)
def test_one_server_many_wires(variable, value, provider, adapter, base_url):
    assert Registry(environment={variable: value}).connection(provider, adapter).base_url == base_url


@pytest.mark.parametrize(
    ("location", "host"),
    [
        ({}, "aiplatform.googleapis.com/v1/projects/p/locations/global"),
        (
            {"GOOGLE_CLOUD_LOCATION": "europe-west4"},
            "europe-west4-aiplatform.googleapis.com/v1/projects/p/locations/europe-west4",
        ),
        ({"CLOUD_ML_REGION": "eu"}, "aiplatform.eu.rep.googleapis.com/v1/projects/p/locations/eu"),
    ],
)
def test_an_address_has_places_that_the_environment_fills(location, host):
    own = Registry(environment={"GOOGLE_CLOUD_PROJECT": "p", "VERTEX_ACCESS_TOKEN": "t", **location})
    assert own.configured("vertex")
    assert own.connection("vertex").base_url == f"https://{host}/publishers/google"
    assert own.connection("vertex", "anthropic_messages").base_url == f"https://{host}/publishers/anthropic"


def test_an_address_with_an_empty_place_is_none():
    own = Registry(environment={"VERTEX_ACCESS_TOKEN": "t", "CLOUDFLARE_API_TOKEN": "t"})
    assert own.connection("vertex").base_url is None
    assert not own.configured("vertex")
    assert not own.configured("cloudflare")


def test_what_fills_a_place_is_a_name_and_no_address():
    own = Registry(environment={"AWS_REGION": "evil.example/#", "AWS_BEARER_TOKEN_BEDROCK": "k"})
    with pytest.raises(InvalidRequest, match="AWS_REGION"):
        own.connection("bedrock")
    assert not own.configured("bedrock")


def test_a_dsn_takes_the_other_wires_along():
    own = Registry(environment={"LLM_BOX": "ollama://t@host.example", "LLM_OLD": "ollama://host.example/v1"})
    assert own.connection("box", "openai_chat").base_url == "https://host.example/v1"
    assert own.endpoint(provider="box", adapter="openai_chat").dialect["token_limit"] == "max_tokens"
    assert own.connection("old").base_url == "https://host.example"


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


def test_a_settled_registry_keeps_the_environment_that_it_has_seen():
    """A server's registry finds connections once; any other sees a variable that is set later."""
    environment = {"ANTHROPIC_API_KEY": "one", "LLM_BOX": "ollama://box:1"}
    seen, settled = Registry(environment=environment), Registry(environment=environment)
    settled.settle()
    for one in (seen, settled):
        assert one.connection("anthropic").headers["x-api-key"] == "one"
        assert one.missing("openai") == ["no key: set OPENAI_API_KEY"]
    environment |= {"ANTHROPIC_API_KEY": "two", "OPENAI_API_KEY": "three", "LLM_BOX": "ollama://box:2"}
    assert seen.connection("anthropic").headers["x-api-key"] == "two"
    assert seen.missing("openai") == []
    assert seen.connection("box").base_url == "https://box:2"
    assert settled.connection("anthropic").headers["x-api-key"] == "one"
    assert settled.missing("openai") == ["no key: set OPENAI_API_KEY"]
    assert settled.connection("box").base_url == "https://box:1"
    assert settled.connection("anthropic", key="given").headers["x-api-key"] == "given"
    assert settled.missing("openai", key="given") == []
    with pytest.raises(InvalidRequest):
        settled.missing("nobody")


def test_what_names_mean_is_remembered_for_so_many_of_them():
    """Callers may name any model: what is kept of their names does not grow for ever."""
    known = Registry(environment={})
    for number in range(3000):
        model = f"anthropic:claude-{number}"
        assert known.speaks(model, "anthropic_messages")
        assert not known.speaks(model, "ollama_chat")
        assert known.price(model) is None
    kept = [table for table in vars(known).values() if isinstance(table, dict) and len(table) > 2000]
    assert kept == []
    assert known.price("anthropic:claude-sonnet-4-6") is not None
