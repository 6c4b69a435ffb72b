"""Money: R-111 to R-116."""

from decimal import Decimal

import pytest

from interlingua import registry
from interlingua.canonical.errors import InvalidRequest
from interlingua.registry import Registry
from interlingua.registry.prices import cost, text

SONNET = {
    "input_per_mtok_usd": "3.00",
    "output_per_mtok_usd": "15.00",
    "cached_read_per_mtok_usd": "0.30",
    "cache_write_per_mtok_usd": "3.75",
    "cache_write_1h_per_mtok_usd": "6.00",
}


@pytest.mark.parametrize(
    ("usage", "dollars"),
    [
        ({"input_tokens": 8, "output_tokens": 42}, "0.000654"),
        ({"input_tokens": 0, "output_tokens": 0}, "0"),
        ({"input_tokens": 200, "cached_input_tokens": 1000, "output_tokens": 50}, "0.00165"),
        (
            {"input_tokens": 1, "output_tokens": 1, "cached_input_tokens": 1, "cache_creation_input_tokens": 1},
            "0.00002205",
        ),
        ({"input_tokens": 0, "output_tokens": 0, "cache_creation_input_tokens": 1000}, "0.00375"),
        (
            {
                "input_tokens": 0,
                "output_tokens": 0,
                "cache_creation_input_tokens": 1000,
                "cache_creation_1h_input_tokens": 400,
            },
            "0.00465",
        ),
        ({"input_tokens": 1_000_000, "output_tokens": 1_000_000}, "18"),
        ({"input_tokens": 10**30 + 1, "output_tokens": 0}, "3000000000000000000000000.000003"),
    ],
)
def test_every_bucket_is_counted_once_and_exactly(usage, dollars):
    assert cost(usage, SONNET) == Decimal(dollars)
    assert text(cost(usage, SONNET)) == dollars


def test_costs_add_up():
    one, other = {"input_tokens": 17, "output_tokens": 3}, {"input_tokens": 5, "output_tokens": 7}
    both = {"input_tokens": 22, "output_tokens": 10}
    assert cost(one, SONNET) + cost(other, SONNET) == cost(both, SONNET)


def test_missing_cache_rates_are_those_of_input_and_of_the_short_write():
    price = {"input_per_mtok_usd": "2", "output_per_mtok_usd": "0"}
    usage = {"input_tokens": 0, "output_tokens": 0, "cached_input_tokens": 10, "cache_creation_input_tokens": 10}
    assert cost(usage, price) == Decimal("0.00004")
    usage["cache_creation_1h_input_tokens"] = 10
    assert cost(usage, {**price, "cache_write_per_mtok_usd": "2.5"}) == Decimal("0.000045")


def test_a_long_prompt_has_its_own_rates_and_may_have_none():
    price = registry.price("anthropic:claude-haiku-5-5", "2026-11-20")
    assert cost({"input_tokens": 100_000, "output_tokens": 1000}, price) == Decimal("0.0105")
    assert cost({"input_tokens": 90_000, "cached_input_tokens": 10_001, "output_tokens": 1000}, price) == Decimal(
        "0.04800005"
    )
    terra = registry.price("openai:gpt-6.1-terra")
    assert cost({"input_tokens": 272_000, "output_tokens": 0}, terra) == Decimal("0.272")
    assert cost({"input_tokens": 272_001, "output_tokens": 0}, terra) == Decimal("0.544002")
    assert cost({"input_tokens": 200_001, "output_tokens": 0}, registry.price("xai:grok-4.5")) is None


def test_unpriced_is_none_and_never_zero():
    assert cost({"input_tokens": 1, "output_tokens": 1}, None) is None
    assert registry.price("openai:gpt-99") is None
    priced = registry.priced({"input_tokens": 1, "output_tokens": 1}, "openai:gpt-99")
    assert priced["cost_usd"] is None
    assert priced["pricing_version"] is None


def test_a_local_model_costs_an_explicit_zero():
    priced = registry.priced({"input_tokens": 9, "output_tokens": 9}, "ollama:llama-3.3-70b", "2026-05-08")
    assert priced["cost_usd"] == "0"
    assert priced["pricing_version"] == "2026-05-08"
    assert registry.priced({"input_tokens": 9, "output_tokens": 9}, "ollama:any")["cost_usd"] == "0"


def test_what_the_provider_says_of_its_price_is_not_looked_at():
    usage = {"input_tokens": 8, "output_tokens": 42, "cost_usd": "99", "raw": {"cost": 99}}
    assert registry.priced(usage, "anthropic:claude-sonnet-4-6", "2026-05-08")["cost_usd"] == "0.000654"
    assert usage["cost_usd"] == "99"


def test_an_answer_can_be_priced_again_with_another_table():
    usage = {"input_tokens": 1_000_000, "output_tokens": 0}
    old = registry.priced(usage, "openai:gpt-5", "2026-05-08")
    new = registry.priced(old, "openai:gpt-5", "2026-11-20")
    assert (old["cost_usd"], old["pricing_version"]) == ("2.5", "2026-05-08")
    assert (new["cost_usd"], new["pricing_version"]) == ("1.25", "2026-11-20")


def test_the_newest_table_is_the_default_and_a_snapshot_has_the_price_of_its_model():
    assert registry.price_versions() == ["2026-05-08", "2026-11-20"]
    assert registry.price("anthropic:claude-haiku-4-5-20251001")["version"] == "2026-11-20"
    with pytest.raises(InvalidRequest, match="no price table '1999'"):
        registry.price("openai:gpt-5", "1999")


@pytest.mark.parametrize("rate", ["x", "NaN", "-1", "Infinity", "1e999999999", None, 0.1, True])
def test_a_rate_that_is_no_decimal_is_an_error(rate):
    with pytest.raises(InvalidRequest) as error:
        cost({"input_tokens": 1, "output_tokens": 1}, {"input_per_mtok_usd": rate, "output_per_mtok_usd": "1"})
    assert error.value.path == "/price/input_per_mtok_usd"


@pytest.mark.parametrize("long_prompt", [5, {"over_tokens": "many"}, {"output_per_mtok_usd": "1"}, {"over_tokens": -1}])
def test_a_long_prompt_begins_over_a_count(long_prompt):
    with pytest.raises(InvalidRequest) as error:
        cost({"input_tokens": 1, "output_tokens": 1}, {**SONNET, "long_prompt": long_prompt})
    assert error.value.path == "/price/long_prompt/over_tokens"


def test_a_cost_that_cannot_be_exact_is_refused_and_never_rounded():
    with pytest.raises(InvalidRequest, match="too many digits to be exact"):
        cost({"input_tokens": 10**300 + 1, "output_tokens": 1}, SONNET)


@pytest.mark.parametrize("count", [-1, "3", 1.5, True])
def test_a_count_that_is_no_count_is_an_error_with_its_pointer(count):
    with pytest.raises(InvalidRequest) as error:
        cost({"input_tokens": count, "output_tokens": 1}, SONNET)
    assert error.value.path == "/usage/input_tokens"


def test_every_rate_of_the_tables_is_a_decimal_and_every_price_is_that_of_a_known_provider():
    known = Registry(environment={})
    for table in registry.data("prices")["tables"]:
        for model, row in table["models"].items():
            assert known.is_provider(model.partition(":")[0]), model
            assert cost({"input_tokens": 1, "output_tokens": 1}, row) is not None
            for rates in (row, row.get("long_prompt", {})):
                assert all(isinstance(rate, str) for name, rate in rates.items() if name.endswith("_usd"))
        named = [*table.get("providers", {}), *table.get("same_prices", {})]
        assert all(known.is_provider(provider) for provider in named)


@pytest.mark.parametrize(
    ("model", "rate"),
    [
        ("bedrock:us.anthropic.claude-sonnet-4-5-20250929-v1:0", "3.3"),
        ("bedrock:eu.anthropic.claude-sonnet-4-5-20250929-v1:0", "3.3"),
        ("bedrock:anthropic.claude-sonnet-4-5", "3.3"),
        ("bedrock:global.anthropic.claude-sonnet-4-5-20250929-v1:0", "3"),
        ("bedrock:arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.amazon.nova-lite-v1:0", "0.06"),
        ("bedrock:apac.amazon.nova-pro-v1:0", "0.8"),
        ("bedrock:openai.gpt-oss-120b-1:0", "0.15"),
        ("bedrock:anthropic.claude-opus-4-6-v1", "5.5"),
        ("vertex:gemini-2.5-pro", "1.25"),
        ("vertex:claude-haiku-4-5@20251001", "1"),
        ("azure-openai:gpt-4o-mini", "0.15"),
        ("gemini:gemini-3.8-flash", "0.75"),
        ("openai:o1-pro-2025-03-19", "150"),
    ],
)
def test_another_writing_of_a_model_has_its_price(model, rate):
    price = registry.price(model)
    assert price is not None
    assert Decimal(price["input_per_mtok_usd"]) == Decimal(rate)


@pytest.mark.parametrize("model", ["bedrock:us.anthropic.claude-99", "azure-openai:our-deployment", "perplexity:sonar"])
def test_what_no_source_prices_is_unpriced(model):
    """Perplexity takes a fee for each request beside its rates, so its rates alone would be a wrong price."""
    assert registry.price(model) is None
