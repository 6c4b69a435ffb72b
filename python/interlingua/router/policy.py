"""
The check of a routing policy when it is loaded, so that a decision can rely on it.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from interlingua.canonical.errors import InvalidRequest
from interlingua.canonical.patterns import MOST_INSTRUCTIONS, pattern, why_not_run
from interlingua.registry import names
from interlingua.router import rules, served, state

VERSION = 1
TIERS = ("fast", "balanced", "deep")
FAIL_OVER_ON = ("refusal",)
"""What, besides a failure, may lead to the next candidate."""
_MEMBERS = frozenset(
    ("version", "chains", "state", "turn_lock", "fail_over_on", "aliases", "serve", "workspace", "global", "pattern")
)
_SCOPE_MEMBERS = frozenset(("default", "rules", "tiers"))
_RULE_MEMBERS = frozenset(("name", "when", "use"))
_PATTERN_RANGES = {"min_confidence": (0, 1), "cost_weight": (0, 1), "min_sample": (1, 1_000_000), "k": (1, 10_000)}

Faults = Iterator[tuple[str, str, str]]


def check(policy: Any, catalog: Mapping[str, Any]) -> list[dict[str, str]]:
    """All faults of a policy, as Violation objects: rule, path (JSON Pointer), message."""
    if not isinstance(policy, dict):
        return [{"rule": "form", "path": "", "message": "a policy must be an object"}]
    return [{"rule": rule, "path": path, "message": message} for rule, path, message in _check(policy, catalog)]


def specs(policy: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The specs of a valid policy, with the pointer of each."""
    for member in ("aliases", "serve"):
        for name, spec in policy.get(member, {}).items():
            if spec is not None:
                yield f"/{member}/{_escape(name)}", spec
    for scope in ("workspace", "global"):
        about = policy.get(scope, {})
        targets = {
            "default": about.get("default"),
            **{f"tiers/{tier}": spec for tier, spec in (about.get("tiers") or {}).items()},
            **{f"rules/{position}/use": rule["use"] for position, rule in enumerate(about.get("rules", []))},
        }
        for place, spec in targets.items():
            if isinstance(spec, str):
                yield f"/{scope}/{place}", spec


def _check(policy: dict[str, Any], catalog: Mapping[str, Any]) -> Faults:
    yield from _unknown_members(policy, _MEMBERS, "")
    if policy.get("version", VERSION) != VERSION:
        yield "version", "/version", f"the version must be {VERSION}"
    for name in ("chains", "turn_lock"):
        if not isinstance(policy.get(name, False), bool):
            yield "form", f"/{name}", "must be true or false"
    if policy.get("state", state.STRIP) not in state.WORDS:
        yield "form", "/state", f"must be one of {', '.join(state.WORDS)}"
    causes = policy.get("fail_over_on", [])
    if not isinstance(causes, list) or not all(cause in FAIL_OVER_ON for cause in causes):
        yield "form", "/fail_over_on", f"must be a list of words; there is {', '.join(FAIL_OVER_ON)}"
    aliases = policy.get("aliases", {})
    if not isinstance(aliases, dict) or not all(isinstance(spec, str) for spec in aliases.values()):
        yield "form", "/aliases", "must be an object of texts"
        aliases = {}
    known = {**catalog.get("aliases", {}), **aliases}
    for alias in aliases:
        yield from _check_spec(alias, f"/aliases/{_escape(alias)}", known, catalog)
    yield from _check_served(policy.get("serve", {}), known, catalog)
    patterns = _Patterns()
    for scope in ("workspace", "global"):
        yield from _check_scope(policy.get(scope, {}), f"/{scope}", policy, known, catalog, patterns)
    yield from _check_pattern(policy.get("pattern", {}))


def _check_served(entries: Any, aliases: Mapping[str, str], catalog: Mapping[str, Any]) -> Faults:
    """Check the names that a gateway serves: specs, or null where the slots decide. A star may only be at the end."""
    if not isinstance(entries, dict):
        yield "form", "/serve", "must be an object of specs"
        return
    for name, spec in entries.items():
        path = f"/serve/{_escape(name)}"
        if served.ANY in name[:-1] or not name:
            yield "form", path, "must be a name, or the beginning of names followed by *"
        elif spec is not None:
            yield from _check_spec(spec, path, aliases, catalog)


class _Patterns:
    """The regular expressions of a policy. Each is run for each turn, so their total cost has a limit."""

    def __init__(self) -> None:
        self._remaining = MOST_INSTRUCTIONS

    def problem(self, text: str) -> str | None:
        """The fault of one more expression; None when it has none."""
        if self._remaining <= 0:
            return "is not compiled: the regular expressions before it reach the limit of a policy"
        compiled = pattern(text)
        # it also takes time to find out that an expression cannot be run
        self._remaining -= _REFUSED_SIZE if compiled is None else compiled.size
        if compiled is None:
            return why_not_run(text)
        return None if self._remaining >= 0 else "makes the regular expressions of the policy too large together"


_REFUSED_SIZE = MOST_INSTRUCTIONS // 10


def _check_scope(
    scope: Any,
    path: str,
    policy: dict[str, Any],
    aliases: Mapping[str, str],
    catalog: Mapping[str, Any],
    patterns: _Patterns,
) -> Faults:
    if not isinstance(scope, dict):
        yield "form", path, "must be an object"
        return
    yield from _unknown_members(scope, _SCOPE_MEMBERS, path)
    if scope.get("default") is not None:
        yield from _check_target(scope["default"], f"{path}/default", policy, aliases, catalog)
    tiers = scope.get("tiers")
    if tiers is not None:
        if not isinstance(tiers, dict) or set(tiers) != set(TIERS):
            yield "tiers", f"{path}/tiers", f"must name all of {', '.join(TIERS)}, or be left out"
        else:
            for tier, spec in tiers.items():
                yield from _check_spec(spec, f"{path}/tiers/{tier}", aliases, catalog)
    entries = scope.get("rules", [])
    if not isinstance(entries, list):
        yield "form", f"{path}/rules", "must be a list"
        return
    seen: dict[str, int] = {}
    for position, rule in enumerate(entries):
        yield from _check_rule(rule, f"{path}/rules/{position}", position, seen, policy, aliases, catalog, patterns)


def _check_rule(
    rule: Any,
    path: str,
    position: int,
    seen: dict[str, int],
    policy: dict[str, Any],
    aliases: Mapping[str, str],
    catalog: Mapping[str, Any],
    patterns: _Patterns,
) -> Faults:
    if not isinstance(rule, dict):
        yield "form", path, "must be an object"
        return
    yield from _unknown_members(rule, _RULE_MEMBERS, path)
    name = rule.get("name", f"rule_{position}")
    if not isinstance(name, str):
        yield "unique_names", f"{path}/name", "must be a text"
    elif name in seen:
        other = f"{path.rpartition('/')[0]}/{seen[name]}"
        yield "unique_names", f"{path}/name", f"the rule at {other} has this name too; each rule needs its own"
    else:
        seen[name] = position
    yield from check_condition(rule.get("when", {}), f"{path}/when", patterns)
    if "use" not in rule:
        yield "form", f"{path}/use", "must name a model, an alias or a tier"
    else:
        yield from _check_target(rule["use"], f"{path}/use", policy, aliases, catalog, single=not policy.get("chains"))


def _check_target(
    use: Any,
    path: str,
    policy: dict[str, Any],
    aliases: Mapping[str, str],
    catalog: Mapping[str, Any],
    *,
    single: bool = False,
) -> Faults:
    if isinstance(use, dict):
        tier = use.get("tier")
        if tier not in TIERS:
            yield "tiers", f"{path}/tier", f"must be one of {', '.join(TIERS)}"
        elif not any(
            isinstance(policy.get(scope), dict) and policy[scope].get("tiers") for scope in ("workspace", "global")
        ):
            yield "tiers", f"{path}/tier", "the policy maps no tiers"
        return
    yield from _check_spec(use, path, aliases, catalog, single=single)


def _check_spec(
    spec: Any, path: str, aliases: Mapping[str, str], catalog: Mapping[str, Any], *, single: bool = False
) -> Faults:
    if not isinstance(spec, str):
        yield "form", path, "must be a text: models and aliases, separated by commas"
        return
    try:
        targets = names.expand_in(catalog, spec, aliases)
    except InvalidRequest as problem:
        yield "known_models", path, problem.message
        return
    if single and len(targets) > 1:
        yield "known_models", path, "stands for several models; set chains to true to allow this"


_TEXT = ("message_matches", "workspace_path_matches")
_WORDS = ("message_contains_any", "skills_matching_message_includes", "file_extensions_in_context")
_TRUTH = ("has_images", "has_tool_calls_in_history")
_TOKENS = ("estimated_input_tokens_gt", "estimated_input_tokens_lt")
_MONEY = ("cost_today_exceeds_usd", "team_budget_remaining_lt")


_PREDICATES = (*_TEXT, *_WORDS, *_TRUTH, *_TOKENS, *_MONEY, "time_of_day_between", "any_of", "all_of", "not")


def check_condition(condition: Any, path: str, patterns: _Patterns | None = None) -> Faults:
    """The faults of the condition of a rule; `patterns` are those of the policy before it."""
    patterns = patterns or _Patterns()
    if not isinstance(condition, dict):
        yield "predicates", path, "a condition must be an object"
        return
    for name, argument in condition.items():
        where = f"{path}/{_escape(name)}"
        if name in ("any_of", "all_of"):
            if not isinstance(argument, list):
                yield "predicates", where, "must be a list of conditions"
            else:
                for position, inner in enumerate(argument):
                    yield from check_condition(inner, f"{where}/{position}", patterns)
        elif name == "not":
            yield from check_condition(argument, where, patterns)
        elif problem := _argument_problem(name, argument, patterns):
            yield problem[0], where, problem[1]


def _argument_problem(name: str, argument: Any, patterns: _Patterns) -> tuple[str, str] | None:
    match name:
        case _ if name in _TEXT:
            if not isinstance(argument, str):
                return "predicates", "must be a text"
            fault = patterns.problem(argument)
            return None if fault is None else ("patterns", f"the regular expression {fault}")
        case _ if name in _WORDS:
            words = argument if isinstance(argument, list) else [argument]
            return (
                None if words and all(isinstance(w, str) for w in words) else ("predicates", "must be a list of texts")
            )
        case _ if name in _TRUTH:
            return None if isinstance(argument, bool) else ("predicates", "must be true or false")
        case _ if name in _TOKENS:
            valid = isinstance(argument, int) and not isinstance(argument, bool) and argument >= 0
            return None if valid else ("ranges", "must be a whole number, 0 or more")
        case _ if name in _MONEY:
            value = rules.amount(argument)
            return None if value is not None and value >= 0 else ("ranges", "must be a decimal, 0 or more")
        case "time_of_day_between":
            valid = isinstance(argument, list) and len(argument) == 2 and all(rules.clock_time(t) for t in argument)
            return None if valid else ("ranges", 'must be two times, such as ["22:00", "06:00"]')
        case _:
            return "predicates", f"there is no such predicate; {_meant(name, 'predicates', _PREDICATES)}"


def _check_pattern(pattern: Any) -> Faults:
    if not isinstance(pattern, dict):
        yield "form", "/pattern", "must be an object"
        return
    yield from _unknown_members(pattern, frozenset(_PATTERN_RANGES), "/pattern")
    for name, (low, high) in _PATTERN_RANGES.items():
        value = pattern.get(name, low)
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not low <= value <= high:
            yield "ranges", f"/pattern/{name}", f"must be a number from {low} to {high}"


def _unknown_members(value: dict[str, Any], known: frozenset[str], path: str) -> Faults:
    for name in value:
        if name not in known:
            yield "form", f"{path}/{_escape(name)}", f"there is no such member; {_meant(name, 'members', known)}"


def _meant(name: str, what: str, known: Iterable[str]) -> str:
    """What an unknown name may mean, and the names of `what` there is."""
    from difflib import get_close_matches  # only after a mistake

    listed = sorted(known)
    hint = names.did_you_mean(get_close_matches(name, listed, 2))
    return f"{hint} the {what} are {', '.join(listed)}".lstrip()


def _escape(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")
