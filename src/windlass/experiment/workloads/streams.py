"""Random streams with names, so that each part of a cluster draws numbers of its own."""

from __future__ import annotations

import zlib

import numpy as np


def stream(seed: int, name: str) -> np.random.Generator:
    """Return the random generator of a name.

    Streams of different names are independent, whichever other parts a cluster has: a part that is left out changes no
    other part's numbers. Seeds such as ``[seed, 1]`` would collide when worlds are combined, because each
    world uses the number 1 for a different purpose.

    Parameters
    ----------
    seed
        The random seed of the run, at least 0.
    name
        Name of the consumer, such as ``tasks@iowa``.

    Examples
    --------
    >>> one, other = stream(1, "tasks@iowa"), stream(1, "tasks@sydney")
    >>> one.random() == other.random(), stream(1, "tasks@iowa").random() == stream(1, "tasks@iowa").random()
    (False, True)
    """
    # Three numbers, as streams of worlds have two: no name can have the numbers of such a stream.
    return np.random.default_rng([seed, zlib.crc32(name.encode()), len(name)])


def seed_of(seed: int, name: str) -> int:
    """Return a seed of a name, for generators that take a seed instead of a stream; see :func:`stream`.

    >>> seed_of(1, "jobs@iowa") == seed_of(1, "jobs@iowa"), seed_of(1, "jobs@iowa") == seed_of(2, "jobs@iowa")
    (True, False)
    """
    return int(stream(seed, name).integers(2**62))
