"""Passes every number through a float, as JavaScript does."""

CAUGHT_BY = ["*#from_wire_response", "portable/*#cross:{wire}"]


def as_double(value):
    if isinstance(value, bool):
        return value
    if isinstance(value, int) and abs(value) > 2**53:
        return int(float(value))
    if isinstance(value, dict):
        return {name: as_double(item) for name, item in value.items()}
    return [as_double(item) for item in value] if isinstance(value, list) else value


def handle(message, reference):
    return as_double(reference(as_double(message)))
