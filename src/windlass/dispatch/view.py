"""What a dispatch policy sees, and what it answers: the lengths of all queues, and a worker's number.

A task is dispatched in a microsecond, so there is no object for either.
"""

from __future__ import annotations

import numpy as np

from windlass.model import PolicyError


def check_choice(chosen: object, workers: int) -> int:
    """Return the worker that a policy chose.

    The simulator's loop does the same in compiled code, and refuses workers that are down as well.

    Parameters
    ----------
    chosen
        What ``choose`` returned.
    workers
        How many workers there are.

    Raises
    ------
    PolicyError
        There is no such worker.

    Examples
    --------
    >>> check_choice(4, workers=4)
    Traceback (most recent call last):
    windlass.model.errors.PolicyError: chose 4 of 4 workers
    """
    if not isinstance(chosen, int | np.integer) or not 0 <= chosen < workers:
        raise PolicyError(f"chose {chosen!r} of {workers} workers")
    return int(chosen)
