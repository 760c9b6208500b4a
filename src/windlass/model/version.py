"""The version of the installed package."""

from __future__ import annotations

from functools import cache


@cache
def version() -> str:
    """Return the version; ``0+unknown`` in a source tree that is not installed.

    >>> version().split(".")[0].isdigit() or version() == "0+unknown"
    True
    """
    # Imported here because it takes long to load.
    from importlib.metadata import PackageNotFoundError
    from importlib.metadata import version as installed

    try:
        return installed("windlass")
    except PackageNotFoundError:
        return "0+unknown"
