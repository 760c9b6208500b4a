"""Whether an answer of an ordering policy of one site can be carried out."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from windlass.model import PolicyError
from windlass.order.site.view import Start


def check_start(
    answer: object, job: NDArray[np.int64], procs: NDArray[np.int64], free: int
) -> NDArray[np.int64]:
    """Refuse an answer that cannot be carried out, before any of it is.

    Parameters
    ----------
    answer
        What a policy said; anything but a :class:`Start` is refused.
    job, procs
        (q,) the waiting jobs, in the order of the queue, from the engine's own columns: a policy may have changed those
        of its view.
    free
        Idle processors.

    Returns
    -------
    (k,) where in the queue the jobs to start are, in the answer's order.

    Raises
    ------
    PolicyError
        What is wrong with it; who asked the policy puts its name before.

    Examples
    --------
    >>> check_start(Start((9, 7), "both fit"), np.array([7, 8, 9]), np.array([2, 4, 1]), free=3)
    array([2, 0])
    >>> check_start(Start((8,)), np.array([7, 8, 9]), np.array([2, 4, 1]), free=3)
    Traceback (most recent call last):
    windlass.model.errors.PolicyError: started jobs that need more than the 3 idle processors
    """
    if not isinstance(answer, Start):
        raise PolicyError(f"decided {answer!r}, expected a Start")
    if len(answer.reasons()) != len(answer.jobs):
        raise PolicyError(f"gave {len(answer.reasons())} reasons for {len(answer.jobs)} jobs")
    if answer.notes is not None and np.shape(answer.notes) != job.shape:
        found = f"notes of shape {np.shape(answer.notes)}"
        raise PolicyError(f"left {found}, expected one per waiting job, {len(job)}")
    place_of = {number: place for place, number in enumerate(job.tolist())}
    places = np.array([place_of.get(number, -1) for number in answer.jobs], dtype=np.int64)
    if (places < 0).any() or len(np.unique(places)) < len(places):
        raise PolicyError("started a job that does not wait, or the same job twice")
    if procs[places].sum() > free:
        raise PolicyError(f"started jobs that need more than the {free} idle processors")
    return places


def check_pools(
    places: NDArray[np.int64], needs: NDArray[np.int64], pools: NDArray[np.int64], names: Sequence[str]
) -> None:
    """Refuse to start jobs that together need more of a pool than is free.

    Parameters
    ----------
    places
        Where in the queue those to start are.
    needs
        (k, q) what those who wait ask for of each pool, from the engine's own columns.
    pools, names
        (k,) what is free of each, and what it is called.

    Raises
    ------
    PolicyError
        A pool has less.

    Examples
    --------
    >>> check_pools(np.array([0, 1]), np.array([[2, 3]]), np.array([4]), ["GPUs"])
    Traceback (most recent call last):
    windlass.model.errors.PolicyError: started jobs that need more GPUs than are free
    """
    short = np.flatnonzero(needs[:, places].sum(axis=1) > pools)
    if len(short):
        name = names[int(short[0])]
        are = "are" if name.endswith("s") else "is"
        raise PolicyError(f"started jobs that need more {name} than {are} free")
