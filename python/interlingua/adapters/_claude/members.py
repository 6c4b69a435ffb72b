"""Members of a request, in the direction of the wire."""

from typing import Any, Final

from interlingua.adapters._claude.writing import Writing
from interlingua.adapters._requests.members import within


def sampling(name: str, value: Any, budgeted: bool, tempered: bool, writing: Writing) -> Any:
    """A member of sampling in the range that is taken; None for one that is not taken. Both are reported.

    `budgeted`: the model thinks with a fixed budget. `tempered`: a temperature is written already.
    """
    problem = _refused(name, value, budgeted, tempered, writing)
    if problem is not None:
        writing.loss.drop((name,), problem[0], "weakened", problem[1])
        return None
    if name != "top_k":
        return within(name, value, 0, 1, writing)
    fitted = max(int(value), 0)
    if fitted == value:
        return value
    writing.loss.replace((name,), fitted, "unsupported_value", "weakened", "the target accepts only a whole number")
    return fitted


def _refused(name: str, value: Any, budgeted: bool, tempered: bool, writing: Writing) -> tuple[str, str] | None:
    if writing.lacks("sampling", name):
        return "unsupported_model", f"the model does not accept {name}"
    if name == "top_p" and tempered and writing.has_trait("temperature_or_top_p", "temperature", "top_p"):
        return "combination", "the model accepts either temperature or top_p"
    taken = name != "top_k" and (value == 1 if name == "temperature" else value >= _TOP_P)
    if budgeted and not taken:
        return "combination", f"the target does not accept this {name} together with reasoning"
    return None


_TOP_P: Final = 0.95  # the least that is taken together with reasoning of a fixed budget
