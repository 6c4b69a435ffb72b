"""Write members of a request."""

from typing import Any, Final

from interlingua.adapters._claude.writing import Writing
from interlingua.adapters._requests.members import within


def sampling(name: str, value: Any, budgeted: bool, tempered: bool, writing: Writing) -> Any:
    """Return a sampling setting fitted into the accepted range; None if it is not accepted. Both changes are reported.

    `budgeted`: the model reasons with a fixed budget. `tempered`: a temperature is written already.
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


_TOP_P: Final = 0.95  # the lowest value that is accepted together with reasoning of a fixed budget
