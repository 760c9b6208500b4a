"""Maximum sizes of inputs: a typing error in a number must not fill a machine's memory."""

from __future__ import annotations

import os
from dataclasses import dataclass

from windlass.model.errors import InputError


@dataclass(frozen=True, slots=True)
class Limit:
    """The maximum size of an input, which an environment variable can change.

    Parameters
    ----------
    variable
        The environment variable that overrides the limit.
    usual
        The limit if the variable is not set.
    things
        The counted things, plural, for the message.

    Examples
    --------
    >>> Limit("WINDLASS_MAX_ANTS", 3, "ants").check(5_000, "hill.yaml")
    Traceback (most recent call last):
    windlass.model.errors.InputError: hill.yaml: 5,000 ants, expected at most 3; WINDLASS_MAX_ANTS=5000 raises the limit
    """

    variable: str
    usual: int
    things: str

    def most(self) -> int:
        """Return the current limit.

        Raises
        ------
        InputError
            The variable's value is not a whole number above 0.
        """
        text = os.environ.get(self.variable, "")
        if not text:
            return self.usual
        # No memory has 10**18 bytes, and Python refuses to convert very long numbers.
        if not text.isdecimal() or len(text) > 18 or int(text) == 0:
            raise InputError(f"{self.variable} is {text[:40]!r}, expected a whole number above 0")
        return int(text)

    def check(self, count: int, where: str = "", at_least: bool = False) -> int:
        """Return the count if it is within the limit.

        Parameters
        ----------
        count
            Number of things.
        where
            The file or option that contains them, for the message.
        at_least
            Whether there may be more than ``count``, because counting stopped there.

        Raises
        ------
        InputError
            The count exceeds the limit; the message names the variable that raises it.
        """
        most = self.most()
        if count <= most:
            return count
        prefix = f"{where}: " if where else ""
        many = f"{count:,}" if count < 10**15 else f"{count:.1e}" if count < 10**300 else "far too many"
        more = "over " if at_least else ""
        raising = f"={count}" if count < 10**15 and not at_least else ""
        raise InputError(
            f"{prefix}{more}{many} {self.things}, expected at most {most:,}; {self.variable}{raising} raises the limit"
        )


#: Points of a sweep, and the simulations that they amount to with all seeds.
VARIANTS = Limit("WINDLASS_MAX_VARIANTS", 10_000, "variants")
RUNS = Limit("WINDLASS_MAX_RUNS", 100_000, "runs (variants with seeds)")
#: Processes of one run.
PROCESSES = Limit("WINDLASS_MAX_PROCESSES", 1024, "processes")
#: Workers or nodes of a cluster, each with a queue.
WORKERS = Limit("WINDLASS_MAX_WORKERS", 1_000_000, "workers")
#: Uncompressed text of a log.
TEXT = Limit("WINDLASS_MAX_TEXT", 2**29, "bytes of text")
#: Size of a configuration file, and its number of values with all aliases expanded.
YAML_BYTES = Limit("WINDLASS_MAX_YAML_BYTES", 2**24, "bytes")
YAML_VALUES = Limit("WINDLASS_MAX_YAML_VALUES", 250_000, "values")
