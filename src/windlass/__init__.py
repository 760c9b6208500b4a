"""Windlass, a self-driving resource scheduler: the same policy code in a simulated cluster and on real engines.

Each decision of a cluster has a folder: :mod:`windlass.order` (which job goes first?), :mod:`windlass.place` (at which
site does each task run?), :mod:`windlass.dispatch` (which worker gets this task?). A policy reads a view and returns a
decision; only engines act. ``windlass run`` compares policies on a log or a model of one. ``docs/architecture.md``
says what every other folder is.
"""

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("windlass")
except PackageNotFoundError:  # run from a source tree that is not installed
    __version__ = "0+unknown"

__all__ = ["__version__"]
