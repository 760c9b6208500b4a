"""What is asked of a node before anything of Windlass is used there: sent as it stands, so it imports nothing."""

from __future__ import annotations


def version() -> str | None:
    """Which Windlass the node has; None where it has none."""
    try:
        from windlass import __version__
    except ImportError:
        return None
    return __version__
