"""Windlass, a self-driving resource scheduler: the same policy code in a simulated cluster and on real engines.

Each decision has a folder: :mod:`windlass.order` (which job goes first?) is the first. A policy reads a view
and returns a decision; only engines act. ``windlass run`` compares policies on a log or a model of one.
"""

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("windlass")
except PackageNotFoundError:  # run from a source tree that is not installed
    __version__ = "0+unknown"

__all__ = ["__version__"]
