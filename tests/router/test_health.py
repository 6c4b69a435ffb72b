"""Which models are in cooldown until when, with a clock that the test moves: R-232, R-243, R-253."""

from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interlingua import router
from interlingua.router import Backoff, Health, Windows


class Clock:
    def __init__(self):
        self.now = 1_000_000.0

    def __call__(self):
        return self.now


def until(health, kind, name):
    mark = health.snapshot()[kind].get(name)
    return None if mark is None else datetime.fromisoformat(mark["until"]).timestamp()


def test_backoff_doubles_the_cooldown_each_time_up_to_its_limit():
    clock = Clock()
    health = Health("backoff", clock)
    cooldowns = []
    for _ in range(10):
        health.failed("a:x", "timeout")
        assert health.snapshot()["models"] == {}
        health.failed("a:x", "timeout")
        cooldowns.append(until(health, "models", "a:x") - clock.now)
        clock.now += cooldowns[-1]
        assert health.snapshot()["models"] == {}
    assert cooldowns == [5, 10, 20, 40, 80, 160, 300, 300, 300, 300]


def test_a_success_forgets_count_and_exponent():
    clock = Clock()
    health = Health("backoff", clock)
    for _ in range(4):
        health.failed("a:x", "overloaded")
    health.succeeded("a:x")
    assert health.snapshot() == {"models": {}, "providers": {}}
    health.failed("a:x", "overloaded")
    assert health.snapshot()["models"] == {}
    health.failed("a:x", "overloaded")
    assert until(health, "models", "a:x") == clock.now + 5


@pytest.mark.parametrize(
    "category", ["invalid_request", "not_found", "unsupported", "cancelled", "content_filter", "billing"]
)
@pytest.mark.parametrize("preset", ["backoff", "windows"])
def test_the_fault_of_the_caller_does_not_count(category, preset):
    health = Health(preset, Clock())
    for _ in range(10):
        health.failed("a:x", category)
    assert health.snapshot() == {"models": {}, "providers": {}}


def windows(*steps):
    """Play steps of (seconds to wait, model, category); return the tracker and its clock."""
    clock = Clock()
    health = Health("windows", clock)
    for wait, model, category in steps:
        clock.now += wait
        health.failed(model, category)
    return health, clock


def test_windows_five_failures_of_a_model_in_two_minutes():
    health, _ = windows(*[(25, "a:x", "timeout")] * 5)
    assert set(health.snapshot()["models"]) == {"a:x"}
    assert set(windows(*[(25, "a:x", "timeout")] * 4)[0].snapshot()["models"]) == set()
    assert set(windows(*[(31, "a:x", "timeout")] * 5)[0].snapshot()["models"]) == set()


def test_windows_three_models_of_a_provider_in_two_minutes():
    three = [(30, f"a:{name}", "server_error") for name in "xyz"]
    assert set(windows(*three)[0].snapshot()["providers"]) == {"a"}
    assert windows(*three[:2])[0].snapshot()["providers"] == {}
    assert windows((0, "a:x", "timeout"), (0, "b:y", "timeout"), (0, "c:z", "timeout"))[0].snapshot()["providers"] == {}
    assert (
        windows((0, "a:x", "timeout"), (100, "a:y", "timeout"), (30, "a:z", "timeout"))[0].snapshot()["providers"] == {}
    )


def test_windows_one_refused_key():
    health, _ = windows((0, "a:x", "authentication"))
    assert health.snapshot()["providers"]["a"]["reason"] == "refused key"


def test_windows_two_network_errors_in_half_a_minute():
    assert set(windows((0, "a:x", "network"), (30, "a:y", "network"))[0].snapshot()["providers"]) == {"a"}
    assert windows((0, "a:x", "network"), (31, "a:y", "network"))[0].snapshot()["providers"] == {}


def test_windows_a_success_clears_and_so_do_five_minutes_without_an_attempt():
    health, clock = windows((0, "a:x", "authentication"))
    health.succeeded("a:y")
    assert health.snapshot()["providers"] == {}
    health, clock = windows((0, "a:x", "authentication"))
    clock.now += 299
    assert "a" in health.snapshot()["providers"]
    clock.now += 1
    assert health.snapshot()["providers"] == {}


def test_bench_and_call_back_by_hand():
    clock = Clock()
    told = []
    health = Health("backoff", clock, told.append)
    health.bench("a:x")
    health.bench("b", 10)
    assert health.snapshot()["models"]["a:x"]["until"] is None
    assert until(health, "providers", "b") == clock.now + 10
    clock.now += 10
    assert health.snapshot()["providers"] == {}
    health.unbench("a:x")
    assert health.snapshot()["models"] == {}
    assert [(event["type"], event["name"]) for event in told] == [
        ("unavailable", "a:x"),
        ("unavailable", "b"),
        ("available", "b"),
        ("available", "a:x"),
    ]
    assert [event["reason"] for event in told] == ["benched", "benched", "expired", "called back"]


def test_a_success_does_not_end_what_was_benched_by_hand():
    """A call that was running then may still succeed (spec/7-routing.md#benched)."""
    health = Health("backoff", Clock())
    health.bench("a:x")
    health.bench("b", 10)
    health.failed("a:x", "timeout")
    health.succeeded("a:x")
    health.succeeded("b:y")
    marks = health.snapshot()
    assert (set(marks["models"]), set(marks["providers"])) == ({"a:x"}, {"b"})


def reports(policy, *steps):
    """Play steps of (seconds to wait, model, category; None for a snapshot, "ok" for a success); return the reports."""
    clock = Clock()
    told = []
    health = Health(policy, clock, told.append)
    for wait, model, category in steps:
        clock.now += wait
        if category is None:
            health.snapshot()
        elif category == "ok":
            health.succeeded(model)
        else:
            health.failed(model, category)
    begin = datetime.fromtimestamp(1_000_000, UTC)
    return [
        (*(event[name] for name in ("type", "name", "reason")), (datetime.fromisoformat(event["at"]) - begin).seconds)
        for event in told
    ]


def test_every_cooldown_is_reported_when_it_begins_and_when_it_ends():
    """Under either policy; an end by time with its own time, however late it is noticed (spec/7-routing.md#cooldown-reports)."""
    down = [(0, "a:x", "timeout")] * 2
    assert reports("backoff", *down, (3, "b:y", "ok"), (60, "", None)) == [
        ("unavailable", "a:x", "failures", 0),
        ("available", "a:x", "expired", 5),
    ]
    assert reports("backoff", *down, *down, (1, "a:x", "ok"), (60, "", None)) == [
        ("unavailable", "a:x", "failures", 0),
        ("extended", "a:x", "failures", 0),
        ("available", "a:x", "success", 1),
    ]
    assert reports("windows", *[(1, "a:x", "timeout")] * 6, (400, "", None)) == [
        ("unavailable", "a:x", "failures", 5),
        ("extended", "a:x", "failures", 6),
        ("available", "a:x", "expired", 306),
    ]
    assert reports("windows", *[(1, f"a:{name}", "timeout") for name in "xyz"], (200, "", None), (1, "a:x", "ok")) == [
        ("unavailable", "a", "several models fail", 3),
        ("available", "a", "success", 204),
    ]
    assert reports("windows", *[(1, "a:x", "network")] * 2, (301, "b:y", "timeout")) == [
        ("unavailable", "a", "network", 2),
        ("available", "a", "expired", 302),
    ]
    assert reports("windows", (0, "a:x", "authentication"), (1, "a:y", "ok")) == [
        ("unavailable", "a", "refused key", 0),
        ("available", "a", "success", 1),
    ]
    assert reports("backoff", (0, "a:x", "timeout"), (1, "a:x", "ok"), (1, "a:x", "authentication")) == []


def test_failures_that_do_not_count_take_no_memory():
    """A caller can name any number of models that do not exist."""
    health = Health("windows", Clock())
    for number in range(500):
        health.failed(f"a:{number}", "not_found")
    assert not health._models
    assert not health._providers


def test_what_is_not_tried_any_more_is_forgotten():
    clock = Clock()
    health = Health("backoff", clock)
    for number in range(500):
        health.failed(f"a:{number}", "timeout")
    clock.now += 10_000
    health.snapshot()
    assert not health._models
    assert not health._providers


def test_a_snapshot_is_what_decide_takes(catalog):
    clock = Clock()
    health = Health("backoff", clock)
    for _ in range(2):
        health.failed("a:x", "timeout")
    at = datetime.fromtimestamp(clock.now).astimezone().isoformat()
    decision = router.decide({}, catalog, {"global": {"default": "a:x,a:y"}}, health.snapshot(), at)
    assert decision["chosen_model"] == "a:y"
    assert decision["chain"][-2]["validation_failure"] == "provider_unavailable"


@settings(max_examples=150, deadline=None)
@given(
    st.lists(
        st.tuples(st.floats(0, 500), st.sampled_from(["timeout", "network", "ok", "authentication"])),
        min_size=1,
        max_size=60,
    ),
    st.sampled_from([Backoff(), Windows(), Backoff(threshold=1, base=1, cap=7)]),
)
def test_no_cooldown_is_longer_than_its_limit_and_a_success_always_clears(steps, policy):
    clock = Clock()
    health = Health(policy, clock)
    limit = policy.cap if isinstance(policy, Backoff) else policy.forget
    for wait, what in steps:
        clock.now += wait
        if what == "ok":
            health.succeeded("a:x")
            assert health.snapshot() == {"models": {}, "providers": {}}
        else:
            health.failed("a:x", what)
        for kind, name in (("models", "a:x"), ("providers", "a")):
            end = until(health, kind, name)
            assert end is None or end - clock.now <= limit + 0.001
