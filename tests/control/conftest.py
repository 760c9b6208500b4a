"""The command, run in the tests' own process, as for the tests of the command line."""

from tests.cli.conftest import windlass

__all__ = ["windlass"]
