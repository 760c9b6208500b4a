"""Random streams with names, so that each part of a cluster draws numbers of its own."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np


@dataclass(frozen=True, slots=True)
class RandomStreams:
    """The random streams of a run.

    Parameters
    ----------
    seed
        The random seed of the run, at least 0.
    numbers
        Numbers of streams that have one, or several, instead of a name. Worlds with one kind of load number their
        streams.

    Examples
    --------
    >>> own, numbered = RandomStreams(1), RandomStreams(1, {"order.jobs@site": (1,)})
    >>> own.stream("order.jobs@site").random() == numbered.stream("order.jobs@site").random()
    False
    >>> numbered.stream("order.jobs@site").random() == np.random.default_rng([1, 1]).random()
    True
    """

    seed: int
    numbers: Mapping[str, tuple[int, ...]] = field(default_factory=dict)

    def stream(self, name: str, node: int | None = None) -> np.random.Generator:
        """Return the random generator of a name.

        Streams of different names are independent, whichever other parts a cluster has: a part that is left out changes
        no other part's numbers. Seeds such as ``[seed, 1]`` would collide when worlds are combined, because each
        world uses the number 1 for a different purpose.

        Parameters
        ----------
        name
            Name of the consumer, such as ``tasks@iowa``.
        node
            The node, if each has a stream of its own.

        Examples
        --------
        >>> streams = RandomStreams(1)
        >>> streams.stream("tasks@iowa").random() == streams.stream("tasks@sydney").random()
        False
        >>> streams.stream("tasks@iowa").random() == streams.stream("tasks@iowa").random()
        True
        """
        if name in self.numbers:
            own = () if node is None else (node,)
            return np.random.default_rng([self.seed, *self.numbers[name], *own])
        if node is not None:
            name = f"{name}.{node}"
        # Three numbers, as numbered streams have two: no name can have the numbers of such a stream.
        return np.random.default_rng([self.seed, zlib.crc32(name.encode()), len(name)])

    def seed_of(self, name: str) -> int:
        """Return a seed of a name, for generators that take a seed instead of a stream; see :meth:`stream`.

        With a number, it is the seed of the run.

        >>> RandomStreams(1).seed_of("jobs@iowa") == RandomStreams(2).seed_of("jobs@iowa")
        False
        >>> RandomStreams(7, {"jobs@iowa": (0,)}).seed_of("jobs@iowa")
        7
        """
        return self.seed if name in self.numbers else int(self.stream(name).integers(2**62))


def stream(seed: int, name: str) -> np.random.Generator:
    """Return the random generator of a name, see :meth:`RandomStreams.stream`.

    >>> stream(1, "tasks@iowa").random() == RandomStreams(1).stream("tasks@iowa").random()
    True
    """
    return RandomStreams(seed).stream(name)
