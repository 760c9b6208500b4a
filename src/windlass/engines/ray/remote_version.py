"""A function that is sent to a node before Windlass is imported there; this module imports nothing."""

from __future__ import annotations


def version() -> str | None:
    """Return the version of Windlass on the node; None if it is not installed."""
    import importlib

    try:
        found: str = importlib.import_module("windlass").__version__
    except ImportError:
        return None
    return found
