"""Swaps, and the preview of their loss and cost: R-226, R-227, R-281, R-286."""

from decimal import Decimal

import pytest

from interlingua import router
from interlingua.canonical.errors import CannotAdapt, InvalidRequest, LossRefused

from .conftest import image, user

HISTORY = {"messages": [user("look"), user(image())]}


def test_the_refused_swap_of_the_worked_example(catalog):
    catalog["models"]["a:claude-haiku-4-5-text-only"] = {
        "title": "Haiku-text-only",
        "capabilities": {"supports_images": False},
    }
    verdict = router.check_swap(HISTORY, "a:claude-haiku-4-5-text-only", catalog, active="a:x")
    assert verdict["allowed"] is False
    assert verdict["active_model"] == "a:x"
    assert verdict["message"] == (
        "Cannot swap to Haiku-text-only: session contains images that this model can't process. Active model unchanged."
    )
    assert verdict["payload"]["requested_model"] == "a:claude-haiku-4-5-text-only"
    assert "record" not in verdict


def test_an_allowed_swap_leads_to_the_record_of_the_worked_example(catalog):
    verdict = router.check_swap(HISTORY, "ex", catalog, active="a:y")
    assert verdict["allowed"] is True
    assert verdict["active_model"] == "a:x"
    assert verdict["record"]["mode"] == "manual"
    assert verdict["record"]["reason"] == "user swap via /model command"
    assert "payload" not in verdict


@pytest.mark.parametrize("reason", router.REASONS)
def test_every_reason_has_words_for_the_user(reason):
    assert router.swap._CLAUSES[reason]


def test_a_swap_to_several_models_or_to_none_is_refused(catalog):
    for model in ("both", "nobody:x", "nonsense"):
        with pytest.raises(InvalidRequest):
            router.check_swap(HISTORY, model, catalog)


def test_a_model_without_a_title_is_called_by_its_name(catalog):
    verdict = router.check_swap(HISTORY, "off:some-model", catalog)
    assert verdict["message"].startswith("Cannot swap to some-model: its provider has no key")
    catalog["providers"]["off"]["missing"] = ["no key: set OFF_API_KEY"]
    assert "(no key: set OFF_API_KEY)" in router.check_swap(HISTORY, "off:some-model", catalog)["message"]


@pytest.mark.parametrize(
    ("argument", "current", "after"),
    [("a:x", None, "a:x"), (" sonnet ", "a:x", "sonnet"), ("-", "a:x", None), ("", "a:x", "a:x"), ("-", None, None)],
)
def test_the_standing_choice_is_set_kept_and_cleared(argument, current, after):
    assert router.sticky(argument, current) == after


# ------------------------------------------------------------------------------------------------ preview

PRICES = {
    "a:x": {"version": "v", "input_per_mtok_usd": "3", "output_per_mtok_usd": "15"},
    "a:free": {"version": "v", "input_per_mtok_usd": "0", "output_per_mtok_usd": "0"},
}


def entry(severity):
    return {"op": "drop", "path": "/x", "code": "unsupported_field", "severity": severity, "message": "gone"}


def preview(project, models=("a:x",), **request):
    tokens = {"low": 100, "likely": 200, "high": 400}
    return router.preview({"messages": [], **request}, models, project, lambda *_: tokens, PRICES.get)


def test_a_row_tells_tokens_cost_loss_and_its_worst():
    rows = preview(lambda _, model: [entry("representation"), entry("lost"), entry("weakened")], max_output_tokens=1000)
    assert rows == [
        {
            "model": "a:x",
            "estimated_tokens": {"low": 100, "likely": 200, "high": 400},
            "estimated_cost_usd": {"low": "0.0003", "likely": "0.0081", "high": "0.0162"},
            "pricing_version": "v",
            "loss": [entry("representation"), entry("lost"), entry("weakened")],
            "worst_severity": "lost",
        }
    ]
    amounts = [Decimal(rows[0]["estimated_cost_usd"][which]) for which in ("low", "likely", "high")]
    assert amounts == sorted(amounts)


def test_without_a_limit_the_high_end_is_open_and_an_unpriced_model_has_no_cost():
    priced, free, unpriced = preview(lambda *_: [], ("a:x", "a:free", "a:none"))
    assert priced["estimated_cost_usd"]["high"] is None
    assert free["estimated_cost_usd"]["likely"] == "0"
    assert unpriced["estimated_cost_usd"] is None
    assert unpriced["pricing_version"] is None
    assert [row["worst_severity"] for row in (priced, free, unpriced)] == [None, None, None]


def test_a_candidate_that_cannot_be_projected_keeps_its_row():
    def project(_, model):
        if model == "a:x":
            raise LossRefused("too much", [entry("lost")])
        raise CannotAdapt("critical", path="/messages/0/content/0")

    refused, impossible = preview(project, ("a:x", "a:y"))
    assert refused["error"]["category"] == "loss_refused"
    assert refused["worst_severity"] == "lost"
    assert impossible["error"]["path"] == "/messages/0/content/0"
    assert impossible["loss"] == []
