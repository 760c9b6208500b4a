"""Latest start times of waiting jobs, as backfilling policies promise them."""

from __future__ import annotations

import dataclasses
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from windlass.order.site.view import Running, SiteView, Start, Waiting
from windlass.policy.registry import capability


class Reservation(NamedTuple):
    """The head of the queue, its earliest start, s, and the processors that it leaves idle then."""

    job: int
    at: float
    spare: int


def reservation(view: SiteView) -> Reservation | None:
    """Return when the first waiting job can start if every running job runs for its requested time.

    Parameters
    ----------
    view
        The site after the ordering policy has started its jobs.

    Returns
    -------
    Reservation | None
        None if no job waits; a start of infinity and 0 spare processors for a job wider than the site's present size.
        If jobs request more than processors, the start is when everything that the job requests is free. Among jobs
        expected to end at the same instant, the narrowest that suffice are counted, as in
        :class:`~windlass.order.site.policies.easy.Easy`.

    Source: Lifka, "The ANL/IBM SP scheduling system", JSSPP 1995.

    Examples
    --------
    >>> from windlass.order.site.view import Running, Waiting
    >>> waiting = Waiting.of(job=[7], submit=[0], procs=[3], request=[60])
    >>> running = Running.of(job=[1, 2], procs=[2, 2], expected_end=[90, 50])
    >>> reservation(SiteView(5.0, processors=4, free=0, waiting=waiting, running=running))
    Reservation(job=7, at=90.0, spare=1)
    """
    waiting, running = view.waiting, view.running
    if not len(waiting.job):
        return None
    job, now = int(waiting.job[0]), int(waiting.procs[0]) + view.owed
    need, others = now + view.claimed, waiting.needs[:, 0]
    if now <= view.free and (others <= view.pools).all():
        return Reservation(job, view.now, view.free - now)
    free = view.free + np.cumsum(running.procs)
    fits = free >= need
    for wanted, idle, held in zip(others, view.pools, running.needs, strict=True):
        fits &= idle + np.cumsum(held) >= wanted
    last = int(np.argmax(fits)) if fits.any() else len(free)
    if last == len(free):
        return Reservation(job, np.inf, 0)
    # A job past its expected end may end at any time, but not before now.
    return Reservation(job, max(view.now, float(running.expected_end[last])), int(free[last]) - need)


def after(view: SiteView, answer: Start) -> SiteView:
    """Return the site after an answer has been carried out, at the same instant.

    Parameters
    ----------
    view
        The site that the policy decided on.
    answer
        Its decision; must be feasible.

    Examples
    --------
    >>> waiting = Waiting.of(job=[7, 8], submit=[0, 0], procs=[3, 2], request=[60, 50])
    >>> done = after(SiteView(5.0, 4, 4, waiting, Running.of()), Start((7,), "fits"))
    >>> done.free, done.waiting.job.tolist(), done.running.expected_end.tolist()
    (1, [8], [65.0])
    """
    waiting, running = view.waiting, view.running
    started = np.isin(waiting.job, answer.jobs)
    notes = waiting.note if answer.notes is None else answer.notes
    return dataclasses.replace(
        view,
        free=view.free - int(waiting.procs[started].sum()),
        waiting=waiting_at(dataclasses.replace(waiting, note=notes), np.flatnonzero(~started)),
        running=Running.of(
            np.concatenate((running.job, waiting.job[started])),
            np.concatenate((running.procs, waiting.procs[started])),
            np.concatenate((running.expected_end, view.now + waiting.request[started])),
            np.concatenate((running.user, waiting.user[started])),
            np.concatenate((running.group, waiting.group[started])),
            np.concatenate((running.named_queue, waiting.named_queue[started])),
            np.concatenate((running.needs, waiting.needs[:, started]), axis=1),
        ),
        pools=view.pools - waiting.needs[:, started].sum(axis=1),
        refused=int((~started).sum()),
    )


def waiting_at(waiting: Waiting, places: NDArray[np.int64]) -> Waiting:
    """Return the jobs at the given positions of the queue, in that order."""
    return Waiting(*(getattr(waiting, field.name)[..., places] for field in dataclasses.fields(waiting)))


def in_other_order(view: SiteView, answer: Start, places: NDArray[np.int64]) -> tuple[SiteView, Start]:
    """Return a site and an answer to it with the queue reordered by ``places`` (q,), positions of the old queue."""
    notes = None if answer.notes is None else answer.notes[places]
    return (
        dataclasses.replace(view, waiting=waiting_at(view.waiting, places), refused=0),
        dataclasses.replace(answer, notes=notes),
    )


def promise_to_head(view: SiteView, answer: Start) -> NDArray[np.float64]:
    """Return (q,) the latest start of the first job that is not started, s; NaN for all others.

    Examples
    --------
    >>> waiting = Waiting.of(job=[7, 8], submit=[0, 0], procs=[3, 2], request=[60, 50])
    >>> promise_to_head(SiteView(5.0, 4, 4, waiting, Running.of()), Start((7,), "fits"))
    array([nan, 65.])
    """
    found = np.full(len(view.waiting.job), np.nan)
    first = reservation(after(view, answer))
    if first is not None:
        found[view.waiting.job == first.job] = first.at
    return found


@runtime_checkable
class Reserving(Protocol):
    """A policy that promises start times to waiting jobs."""

    def promised(self, view: SiteView, answer: Start) -> NDArray[np.float64]:
        """Return (q,) the latest start of each waiting job, s; NaN without a promise.

        Engines that show or check promises call it after a decision, through :func:`promises`.

        Parameters
        ----------
        view
            The site that the policy decided on, with q waiting jobs.
        answer
            The policy's decision.
        """
        ...


def promises(policy: object, view: SiteView, answer: Start) -> NDArray[np.float64]:
    """Return the latest start that a policy promises to each waiting job.

    Parameters
    ----------
    policy
        A policy; one that makes promises is :class:`Reserving`.
    view, answer
        The site that it decided on, and its decision.

    Returns
    -------
    NDArray
        (q,) s; NaN for a job without a promise and for a job that starts now.

    Examples
    --------
    >>> from windlass.order.site.policies.fcfs import Fcfs
    >>> waiting = Waiting.of(job=[7], submit=[0], procs=[3], request=[60])
    >>> promises(Fcfs(), SiteView(5.0, 4, 0, waiting, Running.of([1], [4], [9])), Start())
    array([nan])
    """
    able = capability(policy, Reserving)
    if able is None:
        return np.full(len(view.waiting.job), np.nan)
    found = np.asarray(able.promised(view, answer), np.float64)
    return np.where(np.isin(view.waiting.job, answer.jobs), np.nan, found)
