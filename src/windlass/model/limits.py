"""How much of something is taken, so that a slip of the keyboard does not fill the memory of a machine."""

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
        The environment variable that sets another.
    usual
        The limit where it is not set.
    things
        What there are too many of.

    Examples
    --------
    >>> Limit("WINDLASS_MAX_ANTS", 3, "ants").check(5_000, "hill.yaml")
    Traceback (most recent call last):
    windlass.model.errors.InputError: hill.yaml: 5,000 ants, at most 3 are taken; WINDLASS_MAX_ANTS=5000 raises that
    """

    variable: str
    usual: int
    things: str

    def most(self) -> int:
        """The limit now.

        Raises
        ------
        InputError
            The variable's value is no whole number above 0.
        """
        said = os.environ.get(self.variable, "")
        if not said:
            return self.usual
        # More digits than any memory has bytes are not worth converting.
        if not said.isdecimal() or len(said) > 18 or int(said) == 0:
            raise InputError(f"{self.variable} is {said[:40]!r}, expected a whole number above 0")
        return int(said)

    def check(self, count: int, where: str = "", at_least: bool = False) -> int:
        """The count, if it is within the limit.

        Parameters
        ----------
        count
            How many there are.
        where
            What has them, for the message.
        at_least
            Whether there may be more, as counting has stopped.

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
            f"{prefix}{more}{many} {self.things}, at most {most:,} are taken; {self.variable}{raising} raises that"
        )


#: Points of a sweep, each a simulation of its own; and what they come to with all seeds.
VARIANTS = Limit("WINDLASS_MAX_VARIANTS", 10_000, "variants")
RUNS = Limit("WINDLASS_MAX_RUNS", 100_000, "runs (variants with seeds)")
#: Processes of one run.
PROCESSES = Limit("WINDLASS_MAX_PROCESSES", 1024, "processes")
#: Workers or nodes of a cluster: each has a queue.
WORKERS = Limit("WINDLASS_MAX_WORKERS", 1_000_000, "workers")
#: Text of a log, unpacked.
TEXT = Limit("WINDLASS_MAX_TEXT", 2**29, "bytes of text")
#: A configuration file, and what it holds where each alias stands for all it means.
YAML_BYTES = Limit("WINDLASS_MAX_YAML_BYTES", 2**24, "bytes")
YAML_VALUES = Limit("WINDLASS_MAX_YAML_VALUES", 250_000, "values")
