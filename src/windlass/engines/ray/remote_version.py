"""A function that is sent to a node before anything of Windlass is used there; its module imports nothing."""

from __future__ import annotations


def version() -> str | None:
    """Return the version of Windlass on the node; None where it has none."""
    import importlib

    try:
        found: str = importlib.import_module("windlass").__version__
    except ImportError:
        return None
    return found
