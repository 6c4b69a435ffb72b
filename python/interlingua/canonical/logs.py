"""
The loggers of the package: children of `interlingua`, which has a handler that does nothing.

So a program that configures no logging sees no log entries of Interlingua, as is usual for libraries. A program that
configures logging gets all of them.
"""

import logging

logging.getLogger("interlingua").addHandler(logging.NullHandler())


def logger(name: str) -> logging.Logger:
    """Return the logger `interlingua.<name>`."""
    return logging.getLogger(f"interlingua.{name}")
