"""Validation of the answer of a dispatch policy.

The view of a dispatch policy is an array of queue lengths, and its answer is the number of a worker. Neither has a
class, because a task is dispatched in about a microsecond.
"""

from __future__ import annotations

import numpy as np

from windlass.model import PolicyError


def check_choice(chosen: object, workers: int) -> int:
    """Return the worker that a policy chose.

    The simulator's loop makes the same check in compiled code, and also rejects workers that are down.

    Parameters
    ----------
    chosen
        Return value of ``choose``.
    workers
        Number of workers.

    Raises
    ------
    PolicyError
        The value is not a whole number, or there is no such worker.

    Examples
    --------
    >>> check_choice(4, workers=4)
    Traceback (most recent call last):
    windlass.model.errors.PolicyError: chose worker 4, expected 0 to 3
    """
    if not isinstance(chosen, int | np.integer) or not 0 <= chosen < workers:
        raise PolicyError(f"chose worker {chosen!r}, expected 0 to {workers - 1}")
    return int(chosen)
