"""Ids: ULIDs that grow, and tool ids that are derived."""

import random

from interlingua.canonical.ids import DERIVED_IDS, UlidSource, encode_ulid


def test_ids_increase_under_a_frozen_clock() -> None:
    """Ten thousand ids in one millisecond are unique and sort in the order of creation."""
    source = UlidSource(lambda: 1_700_000_000_000, random.Random(1).getrandbits)

    made = [source.next() for _ in range(10_000)]

    assert made == sorted(set(made))
    assert all(len(identity) == 26 and identity[0] in "01234567" for identity in made)


def test_ids_increase_when_the_clock_jumps_back() -> None:
    """The last id is counted up instead."""
    clock = iter([5_000, 4_000, 1, 6_000] * 100)
    source = UlidSource(lambda: next(clock), random.Random(2).getrandbits)

    made = [source.next() for _ in range(400)]

    assert made == sorted(set(made))


def test_the_ends_of_the_range() -> None:
    """128 bits in 26 characters."""
    assert "0" * 26 == encode_ulid(0)
    assert "7" + "Z" * 25 == encode_ulid(2**128 - 1)


def test_derived_ids_are_stable_and_apart() -> None:
    """The same wire id gives the same id; another adapter, name or occurrence gives another."""
    ids = {
        DERIVED_IDS.tool("anthropic_messages", "toolu_01A", 0),
        DERIVED_IDS.tool("openai_chat", "toolu_01A", 0),
        DERIVED_IDS.tool("openai_chat", "toolu_01A", 1),
        DERIVED_IDS.tool("openai_chat", "", 0),
    }

    assert 4 == len(ids)
    assert DERIVED_IDS.tool("openai_chat", "call_x", 0) == DERIVED_IDS.tool("openai_chat", "call_x", 0)


def test_an_id_that_we_derived_comes_back() -> None:
    """A wire id made from a canonical id gives the canonical id again."""
    assert "tu_01ARZ3NDEKTSV4RRFFQ69G5FAV" == DERIVED_IDS.tool("openai_chat", "call_01ARZ3NDEKTSV4RRFFQ69G5FAV", 0)
