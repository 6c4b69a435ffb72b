"""Model ids, specs and aliases: R-107, R-108, R-119, R-120, R-244, R-248, R-251."""

import random

import pytest

from interlingua.canonical.errors import InvalidRequest
from interlingua.registry import Registry
from interlingua.registry.names import ModelName, elements, expand, split, undated

ANY = lambda _: True  # noqa: E731


@pytest.mark.parametrize(
    ("text", "provider", "name"),
    [
        ("anthropic:claude-sonnet-4-6", "anthropic", "claude-sonnet-4-6"),
        ("openrouter:deepseek/deepseek-v3", "openrouter", "deepseek/deepseek-v3"),
        ("openrouter/deepseek/deepseek-v3", "openrouter", "deepseek/deepseek-v3"),
        ("ollama:minimax-m3:cloud", "ollama", "minimax-m3:cloud"),
        ("ollama/minimax-m3:cloud", "ollama", "minimax-m3:cloud"),
        ("x:high", "x", "high"),
        ("llama.cpp:Qwen3-1.7B-Q4_K_M", "llama.cpp", "Qwen3-1.7B-Q4_K_M"),
    ],
)
def test_an_id_is_split_at_its_first_mark_and_nothing_else_is_read_into_it(text, provider, name):
    assert split(text) == (provider, name)
    assert str(split(text)) == f"{provider}:{name}"
    assert split(str(split(text))) == (provider, name)


@pytest.mark.parametrize("text", ["", "sonnet", ":x", "/x", "x:", "x/"])
def test_what_is_no_id_is_not_split(text):
    assert split(text) is None


@pytest.mark.parametrize(
    ("name", "base"),
    [
        ("claude-haiku-4-5-20251001", "claude-haiku-4-5"),
        ("gpt-5.5-2026-04-23", "gpt-5.5"),
        ("claude-3-7-sonnet@20250219", "claude-3-7-sonnet"),
        ("gpt-4o", "gpt-4o"),
        ("model-2025", "model-2025"),
    ],
)
def test_a_dated_snapshot_is_known_by_its_model(name, base):
    assert undated(name) == base


@pytest.mark.parametrize(
    ("spec", "found"),
    [("a/x", ["a/x"]), (" a/x , b:y ", ["a/x", "b:y"]), ("ollama/minimax-m3:cloud", ["ollama/minimax-m3:cloud"])],
)
def test_elements_are_separated_by_commas(spec, found):
    assert elements(spec) == found


@pytest.mark.parametrize("spec", ["", " ", "a/x,", ",a/x", "a/x,,b/y"])
def test_an_empty_element_is_refused(spec):
    with pytest.raises(InvalidRequest, match="is empty"):
        elements(spec)


def test_a_trailing_alias_is_expanded_in_place_and_repeated_targets_are_kept_once():
    found = expand("a/x,b/y,thinking", {"thinking": "c/z,a/x"}, ANY)
    assert [str(target) for target in found] == ["a:x", "b:y", "c:z"]


def test_an_alias_in_the_middle_stays_in_the_middle():
    found = expand("fast,b/y", {"fast": "small,a/x", "small": "c/z"}, ANY)
    assert [str(target) for target in found] == ["c:z", "a:x", "b:y"]


@pytest.mark.parametrize("aliases", [{"a": "a"}, {"a": "b", "b": "a"}, {"a": "x/y,b", "b": "c", "c": "z/w,a"}])
def test_a_loop_of_aliases_is_an_error_that_shows_it(aliases):
    with pytest.raises(InvalidRequest, match="leads back to itself: a"):
        expand("a", aliases, ANY)


def test_an_alias_used_twice_is_no_loop():
    found = expand("left,right", {"left": "shared", "right": "shared", "shared": "a/x"}, ANY)
    assert found == [ModelName("a", "x")]


def test_a_very_long_line_of_aliases_is_walked():
    aliases = {f"n{i}": f"n{i + 1}" for i in range(20_000)} | {"n20000": "a/x"}
    assert expand("n0", aliases, ANY) == [ModelName("a", "x")]


def test_expansion_of_doubling_aliases_stays_small():
    aliases = {f"n{i}": f"n{i + 1},n{i + 1}" for i in range(60)} | {"n60": "a/x"}
    assert expand("n0", aliases, ANY) == [ModelName("a", "x")]


def reference(spec, aliases, path=()):
    """The plain recursive meaning: every alias replaced, then the first of each target kept."""
    found = []
    for word in elements(spec):
        if word in path:
            raise RecursionError
        found += reference(aliases[word], aliases, (*path, word)) if word in aliases else [split(word)]
    return list(dict.fromkeys(found))


@pytest.mark.parametrize("seed", range(200))
def test_random_graphs_of_aliases_mean_what_replacing_them_means(seed):
    chance = random.Random(seed)
    words = [f"n{i}" for i in range(chance.randint(1, 7))]
    targets = [f"p/m{i}" for i in range(4)]
    aliases = {word: ",".join(chance.choices(words + targets * 3, k=chance.randint(1, 4))) for word in words}
    try:
        expected = reference("n0", aliases)
    except RecursionError:
        with pytest.raises(InvalidRequest, match="leads back to itself"):
            expand("n0", aliases, ANY)
    else:
        assert expand("n0", aliases, ANY) == expected


def test_an_unknown_word_and_an_unknown_provider_are_told_apart():
    registry = Registry(environment={})
    with pytest.raises(InvalidRequest, match="neither an alias nor a model id"):
        registry.parse("nonsense")
    with pytest.raises(InvalidRequest, match=r"no provider 'my-box'.*LLM_MY_BOX"):
        registry.parse("my-box:llama")
    # the prefix of a native name is taken for a provider, and said to be unknown rather than guessed at
    with pytest.raises(InvalidRequest, match="no provider 'llama3'"):
        registry.parse("llama3:8b", default_provider="ollama")


def test_a_default_provider_takes_a_bare_name():
    assert Registry(environment={}).parse("qwen3", default_provider="ollama") == ("ollama", "qwen3")


def test_an_unknown_model_of_a_known_provider_passes():
    assert Registry(environment={}).parse("openai:gpt-99") == ("openai", "gpt-99")


def test_one_model_is_wanted_where_a_chain_is_given():
    registry = Registry(environment={})
    with pytest.raises(InvalidRequest, match="stands for 2 models"):
        registry.parse("sonnet,opus")
    assert [str(t) for t in registry.expand("mine,opus", aliases={"mine": "sonnet"})] == [
        "anthropic:claude-sonnet-5-5",
        "anthropic:claude-opus-5-5",
    ]


def test_resolvers_are_asked_in_order_and_stand_under_the_same_guard():
    asked = []

    def first(word):
        asked.append(("first", word))
        return "openai:gpt-5" if word == "one" else None

    def second(word):
        asked.append(("second", word))
        return {"two": "one", "loop": "loop"}.get(word)

    registry = Registry(environment={}, resolvers=[first, second])
    assert str(registry.parse("two")) == "openai:gpt-5"
    assert asked == [("first", "two"), ("second", "two"), ("first", "one")]
    with pytest.raises(InvalidRequest, match="leads back to itself"):
        registry.parse("loop")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("sonnet", "anthropic:claude-sonnet-5-5"),
        ("anthropic/claude-opus-5", "anthropic:claude-opus-5"),
        ("gpt-5.4", "openai:gpt-5.4"),
        ("llama3:8b", "openai:llama3:8b"),
        ("org/model", "openai:org/model"),
    ],
)
def test_the_bare_name_of_a_client_belongs_to_the_provider_of_its_wire(text, found):
    assert str(Registry(environment={}).from_client(text, "openai")) == found
