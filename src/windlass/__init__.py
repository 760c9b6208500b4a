"""Windlass, a self-driving resource scheduler: the same policy code in a simulated cluster and on real engines.

Each decision of a cluster has a folder: :mod:`windlass.order` (which job goes first?), :mod:`windlass.place` (at which
site does each task run?), :mod:`windlass.dispatch` (which worker gets this task?). A policy reads a view and returns a
decision; only engines act. ``windlass run`` compares policies on a log or a model of one. ``docs/architecture.md``
says what every other folder is.
"""

__all__ = ["__version__"]

__version__: str


def __getattr__(name: str) -> str:
    # Asked for when somebody wants it: what looks it up takes longer to load than all that is before the command.
    if name != "__version__":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib.metadata import PackageNotFoundError, version

    try:
        found = version("windlass")
    except PackageNotFoundError:  # run from a source tree that is not installed
        found = "0+unknown"
    globals()[name] = found
    return found
