"""Predicates and the checks of a policy: R-235, R-236."""

import threading
import time
from datetime import datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interlingua import router
from interlingua.router import rules
from interlingua.router.capable import moment

NOW = moment("2026-11-20T23:30:00+01:00")
TURN = {
    "text": "Please FIX the bug in main.py",
    "estimated_input_tokens": 500,
    "needs": {"images": 2},
    "has_tool_calls_in_history": True,
    "skills": ["python", "sql"],
    "files": ["src/main.py", "README", "a/b.tar.gz"],
    "workspace_path": "/home/team/project",
    "cost_today_usd": "1.20",
    "team_budget_remaining_usd": "0.5",
}

TABLE = [
    ({}, True),
    ({"message_matches": r"fix|FIX"}, True),
    ({"message_matches": r"^bug"}, False),
    ({"message_matches": r"("}, False),
    ({"message_matches": r"(?<=the )bug"}, False),
    ({"message_matches": r"(?i)please fix"}, True),
    ({"message_contains_any": ["nothing", "fix"]}, True),
    ({"message_contains_any": []}, False),
    ({"estimated_input_tokens_gt": 499}, True),
    ({"estimated_input_tokens_gt": 500}, False),
    ({"estimated_input_tokens_lt": 501}, True),
    ({"estimated_input_tokens_lt": 500}, False),
    ({"has_images": True}, True),
    ({"has_images": False}, False),
    ({"has_tool_calls_in_history": True}, True),
    ({"has_tool_calls_in_history": False}, False),
    ({"skills_matching_message_includes": ["sql"]}, True),
    ({"skills_matching_message_includes": "go"}, False),
    ({"file_extensions_in_context": [".PY"]}, True),
    ({"file_extensions_in_context": ["gz"]}, True),
    ({"file_extensions_in_context": ["md"]}, False),
    ({"workspace_path_matches": "/team/"}, True),
    ({"workspace_path_matches": "^/team"}, False),
    ({"time_of_day_between": ["23:00", "23:59"]}, True),
    ({"time_of_day_between": ["22:00", "06:00"]}, True),
    ({"time_of_day_between": ["23:30", "23:31"]}, True),
    ({"time_of_day_between": ["06:00", "23:30"]}, False),
    ({"time_of_day_between": ["06:00", "22:00"]}, False),
    ({"time_of_day_between": ["25:00", "26:00"]}, False),
    ({"cost_today_exceeds_usd": "1.19"}, True),
    ({"cost_today_exceeds_usd": 1.2}, False),
    ({"team_budget_remaining_lt": "0.51"}, True),
    ({"team_budget_remaining_lt": 0.5}, False),
    ({"any_of": []}, False),
    ({"any_of": [{"has_images": False}, {"has_images": True}]}, True),
    ({"all_of": []}, True),
    ({"all_of": [{"has_images": True}, {"has_images": False}]}, False),
    ({"not": {"has_images": False}}, True),
    ({"not": {"not": {"has_images": True}}}, True),
    ({"has_images": True, "estimated_input_tokens_lt": 10}, False),
    ({"nonsense": True}, False),
    ("text", False),
    (None, False),
]


@pytest.mark.parametrize(("condition", "expected"), TABLE)
def test_predicates(condition, expected):
    assert rules.holds(condition, TURN, NOW) is expected


@pytest.mark.parametrize("name", sorted(rules.PREDICATE_NAMES - {"any_of", "all_of", "not", "time_of_day_between"}))
def test_a_fact_that_is_not_there_makes_a_predicate_false(name):
    argument = {"has_images": True, "has_tool_calls_in_history": True}.get(name, "1")
    assert rules.holds({name: argument}, {}, NOW) is False


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(sorted(rules.PREDICATE_NAMES)), inner, max_size=3)
    ),
    max_leaves=12,
)


@settings(max_examples=400, deadline=None)
@given(anything, st.dictionaries(st.sampled_from([*TURN]), anything))
def test_a_condition_is_always_true_or_false_and_never_raises(condition, facts):
    assert rules.holds(condition, facts, NOW) in (True, False)


def test_midnight_belongs_to_the_span_that_passes_it():
    at = datetime.fromisoformat("2026-11-20T00:00:00+00:00")
    assert rules.holds({"time_of_day_between": ["22:00", "06:00"]}, {}, at)
    assert not rules.holds({"time_of_day_between": ["22:00", "00:00"]}, {}, at)


TIERS = {"fast": "a:x", "balanced": "a:y", "deep": "a:z"}
GOOD = {
    "version": 1,
    "chains": False,
    "aliases": {"mine": "ex,b:m"},
    "workspace": {
        "default": "mine",
        "tiers": TIERS,
        "rules": [{"name": "r", "when": {"has_images": True}, "use": "ex"}],
    },
    "global": {"default": {"tier": "deep"}, "rules": [{"when": {}, "use": {"tier": "fast"}}]},
    "pattern": {"min_confidence": 0.05, "cost_weight": 0.05, "min_sample": 5, "k": 10},
}


def test_a_good_policy_has_no_violations(catalog):
    assert router.check_policy(GOOD, catalog) == []
    assert router.check_policy({}, catalog) == []
    least = {"estimated_input_tokens_gt": 0, "cost_today_exceeds_usd": "0"}
    assert router.check_policy({"global": {"rules": [{"when": least, "use": "ex"}]}}, catalog) == []


BROKEN = [
    ([], "form", ""),
    ({"colour": 1}, "form", "/colour"),
    ({"version": 2}, "version", "/version"),
    ({"chains": "yes"}, "form", "/chains"),
    ({"aliases": {"m": 1}}, "form", "/aliases"),
    ({"aliases": {"m": "m"}}, "known_models", "/aliases/m"),
    ({"global": {"default": "nobody:x"}}, "known_models", "/global/default"),
    ({"global": {"default": "unknown-word"}}, "known_models", "/global/default"),
    ({"global": {"default": 5}}, "form", "/global/default"),
    ({"global": {"tiers": {"fast": "a:x"}}}, "tiers", "/global/tiers"),
    ({"global": {"default": {"tier": "huge"}}}, "tiers", "/global/default/tier"),
    ({"global": {"default": {"tier": "fast"}}}, "tiers", "/global/default/tier"),
    ({"global": {"rules": {}}}, "form", "/global/rules"),
    ({"global": {"rules": [{"when": {}}]}}, "form", "/global/rules/0/use"),
    ({"global": {"rules": [{"when": {}, "use": "both"}]}}, "known_models", "/global/rules/0/use"),
    ({"global": {"rules": [{"when": {"nonsense": 1}, "use": "ex"}]}}, "predicates", "/global/rules/0/when/nonsense"),
    (
        {"global": {"rules": [{"when": {"has_images": "yes"}, "use": "ex"}]}},
        "predicates",
        "/global/rules/0/when/has_images",
    ),
    (
        {"global": {"rules": [{"when": {"not": {"any_of": [{"message_matches": "("}]}}, "use": "ex"}]}},
        "patterns",
        "/global/rules/0/when/not/any_of/0/message_matches",
    ),
    (
        {"global": {"rules": [{"when": {"time_of_day_between": ["8:00", "9:00"]}, "use": "ex"}]}},
        "ranges",
        "/global/rules/0/when/time_of_day_between",
    ),
    (
        {"global": {"rules": [{"when": {"estimated_input_tokens_gt": -1}, "use": "ex"}]}},
        "ranges",
        "/global/rules/0/when/estimated_input_tokens_gt",
    ),
    (
        {"global": {"rules": [{"when": {"cost_today_exceeds_usd": "-1"}, "use": "ex"}]}},
        "ranges",
        "/global/rules/0/when/cost_today_exceeds_usd",
    ),
    (
        {"global": {"rules": [{"name": "r", "when": {}, "use": "ex"}, {"name": "r", "when": {}, "use": "ex"}]}},
        "unique_names",
        "/global/rules/1/name",
    ),
    (
        {"global": {"rules": [{"name": "rule_1", "when": {}, "use": "ex"}, {"when": {}, "use": "ex"}]}},
        "unique_names",
        "/global/rules/1/name",
    ),
    ({"pattern": {"min_confidence": 2}}, "ranges", "/pattern/min_confidence"),
    ({"pattern": {"fingerprint": "x"}}, "form", "/pattern/fingerprint"),
]


@pytest.mark.parametrize(("policy", "rule", "path"), BROKEN)
def test_each_fault_of_a_policy_is_named_with_its_place(policy, rule, path, catalog):
    assert (rule, path) in [(found["rule"], found["path"]) for found in router.check_policy(policy, catalog)]


RULES = {"form", "version", "known_models", "tiers", "predicates", "patterns", "unique_names", "ranges"}


@settings(max_examples=200, deadline=None)
@given(anything)
def test_any_value_can_be_checked_as_a_policy(value):
    catalog = {"providers": {}, "models": {}, "aliases": {}}
    for policy in (value, {"global": value}, {"global": {"rules": [value]}}, {"aliases": value}, {"pattern": value}):
        for found in router.check_policy(policy, catalog):
            assert found["rule"] in RULES
            assert found["path"] == "" or found["path"].startswith("/")


def test_a_pattern_takes_time_in_proportion_to_the_text() -> None:
    """A call may contain a policy, and a call must not block a server."""
    for slow in ("(a+)+$", "(a|a)+$", "a*a*a*a*a*b"):
        assert not rules.holds({"message_matches": slow}, {"text": "a" * 19_999 + "!"}, NOW)


def test_half_a_character_matches_nothing() -> None:
    assert not rules.holds({"message_matches": "a"}, {"text": "a\ud800"}, NOW)


EXPLODES = "((a{1,40}){1,40}){1,40}$"


def with_patterns(*patterns: str) -> dict[str, Any]:
    rules = [{"when": {"message_matches": one}, "use": "a:x"} for one in patterns]
    return {"global": {"default": "a:x", "rules": rules}}


@pytest.mark.parametrize("pattern", [EXPLODES, EXPLODES.replace("40", "50"), "(?=a)", "a{1001}", "a" * 2_001, "(a)\\1"])
def test_a_pattern_that_cannot_be_run_is_refused_at_its_pointer(pattern: str, catalog: dict[str, Any]) -> None:
    """All of them are refused at once: refusing a pattern must not take long either."""
    begin = time.process_time()
    found = router.check_policy(with_patterns(*[f"{pattern}{number}" for number in range(1_000)]), catalog)
    assert time.process_time() - begin < 5
    assert {one["rule"] for one in found} == {"patterns"}
    assert found[0]["path"] == "/global/rules/0/when/message_matches"


def test_the_patterns_of_a_policy_have_a_limit_together(catalog: dict[str, Any]) -> None:
    small, large = "(?i)\\b(fix|debug|explain)\\b", "[ab]*a[ab]{250}[cd]"
    assert router.check_policy(with_patterns(*[f"{small}{number}" for number in range(300)]), catalog) == []
    found = router.check_policy(with_patterns(*[f"{large}{number}" for number in range(100)]), catalog)
    assert found[0]["rule"] == "patterns"
    assert found[0]["path"] not in ("", "/global/rules/0/when/message_matches")


def test_others_run_while_a_dear_pattern_is_run() -> None:
    """The engine releases the interpreter's lock: another thread runs between the start and the end of a match."""
    dear = "(a?){300}a{300}[ef]"
    assert not rules.holds({"message_matches": dear}, {"text": "a"}, NOW)  # compiled
    turns: list[float] = []
    over = threading.Event()

    def take_turns() -> None:
        while not over.wait(0.001):
            turns.append(time.monotonic())

    other = threading.Thread(target=take_turns)
    other.start()
    begin = time.monotonic()
    assert not rules.holds({"message_matches": dear}, {"text": "a" * 20_000}, NOW)
    end = time.monotonic()
    over.set()
    other.join()
    assert sum(begin < turn < end for turn in turns) >= 3


def test_the_dearest_policy_ends(catalog: dict[str, Any]) -> None:
    policy = with_patterns(*[f"(a?){{300}}a{{300}}[ef]{number}" for number in range(5)])
    assert router.check_policy(policy, catalog) == []
    begin = time.process_time()
    assert not any(rules.holds(rule["when"], {"text": "a" * 20_000}, NOW) for rule in policy["global"]["rules"])
    assert time.process_time() - begin < 15


SAID = [
    ({"sevre": {}}, "did you mean serve? the members are aliases, chains,"),
    ({"fail_over_on": ["error"]}, "must be a list of words; there is refusal"),
    ({"global": {"rules": [{"name": "r", "use": "ex"}, {"name": "r", "use": "ex"}]}}, "the rule at /global/rules/0 has"),
    ({"global": {"rules": [{"name": 5, "use": "ex"}]}}, "must be a text"),
    ({"global": {"rules": [{"when": {"has_image": True}, "use": "ex"}]}}, "did you mean has_images? the predicates are all_of"),
    *(
        ({"global": {"rules": [{"when": {"message_matches": text}, "use": "ex"}]}}, f"the regular expression {said}")
        for text, said in {
            "(": "is not a regular expression of ECMAScript: missing )",
            "(secret[": "is not a regular expression of ECMAScript: missing ]",
            r"\q": "is not a regular expression of ECMAScript: no escape of ECMAScript",
            "(?P<a>b)": "is not a regular expression of ECMAScript: no group of ECMAScript",
            "(?<=a)b": "uses lookaround, which is not supported",
            "a(?!b)": "uses lookaround, which is not supported",
            r"(a)\1": "uses a back-reference, which is not supported",
            "x" * 3000: "has 3000 characters, and a regular expression may have 2000",
            "(a{100}){100}": "has a count of repetition that is above 1000",
            "[^a]{1000}" * 20: "is too large when it is compiled",
        }.items()
    ),
]  # fmt: skip


@pytest.mark.parametrize(("policy", "said"), SAID, ids=[said for _, said in SAID])
def test_a_fault_of_a_policy_says_what_to_do(policy: Any, said: str, catalog: dict[str, Any]) -> None:
    """The one cause, and the names that there are."""
    [found] = router.check_policy(policy, catalog)
    assert said in found["message"]
    assert "secret" not in found["message"]
