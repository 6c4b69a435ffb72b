"""
The loggers of the package: children of `interlingua`, which has a handler that does nothing.

So a program that sets up no logging sees none of ours, as is usual for libraries; one that does gets all of it.
"""

import logging

logging.getLogger("interlingua").addHandler(logging.NullHandler())


def logger(name: str) -> logging.Logger:
    """The logger `interlingua.<name>`."""
    return logging.getLogger(f"interlingua.{name}")
