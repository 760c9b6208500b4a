"""Random streams with names, so that each part of a cluster draws numbers of its own."""

from __future__ import annotations

import zlib

import numpy as np


def stream(seed: int, name: str) -> np.random.Generator:
    """Return the random generator of a name.

    Streams of different names are independent, whichever other parts a cluster has: a part that is left out changes no
    other part's numbers. Streams with numbers, as ``[seed, 1]``, would collide when worlds are put together, since each
    world uses them for something else.

    Parameters
    ----------
    seed
        The random seed of the run, at least 0.
    name
        What draws from it, such as ``tasks@iowa``.

    Examples
    --------
    >>> one, other = stream(1, "tasks@iowa"), stream(1, "tasks@sydney")
    >>> one.random() == other.random(), stream(1, "tasks@iowa").random() == stream(1, "tasks@iowa").random()
    (False, True)
    """
    # Three numbers, as streams of worlds have two: no name can have the numbers of such a stream.
    return np.random.default_rng([seed, zlib.crc32(name.encode()), len(name)])
