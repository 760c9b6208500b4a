"""Input and output of an ordering policy of one site."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from windlass.model import Owners, PolicyError


def _no_numbers() -> NDArray[np.int64]:
    return np.empty(0, np.int64)


def _fill(view: object, jobs: int, columns: Sequence[str]) -> None:
    """Set owner columns that were not given to -1."""
    for name in columns:
        if len(getattr(view, name)) != jobs:
            object.__setattr__(view, name, np.full(jobs, -1, np.int64))


_OWNERS = ("user", "group", "named_queue")


def _nothing() -> NDArray[np.int64]:
    return np.empty((0, 0), np.int64)


def _fill_needs(view: Waiting | Running) -> None:
    """Shape an empty table of needs as (0, jobs)."""
    if len(view.needs) == 0:
        object.__setattr__(view, "needs", np.empty((0, len(view.job)), np.int64))


@dataclass(frozen=True, slots=True)
class Waiting:
    """Waiting jobs in the order of the queue, as columns of length q.

    The order is that of submission, except that a job that was killed or requeued waits at the end. In the simulator,
    ``submit`` is the time of the first submission. A live engine orders by the ``submit`` that the batch system
    reports, which for a requeued job is the time of the requeue. Every waiting job is included, even one wider than
    the site's present size; only a job that the batch system failed to start when requested is left out for a while.

    ``note`` is one number per job that the policy itself wrote at an earlier decision (NaN until then). The engine
    keeps it, so that a policy has no state of its own and survives a restart.

    ``user``, ``group`` and ``named_queue`` are numbers from 0 of the job's user, its group and the queue that it was
    submitted to; -1 if unknown. ``needs`` (k, q) is the amount of each of the view's k
    pools that a job requests.
    """

    job: NDArray[np.int64]
    submit: NDArray[np.float64]
    procs: NDArray[np.int64]
    request: NDArray[np.float64]
    note: NDArray[np.float64]
    user: NDArray[np.int64] = field(default_factory=_no_numbers)
    group: NDArray[np.int64] = field(default_factory=_no_numbers)
    named_queue: NDArray[np.int64] = field(default_factory=_no_numbers)
    needs: NDArray[np.int64] = field(default_factory=_nothing)

    def __post_init__(self) -> None:
        _fill(self, len(self.job), _OWNERS)
        _fill_needs(self)

    @classmethod
    def of(
        cls,
        job: object,
        submit: object,
        procs: object,
        request: object,
        note: object = None,
        user: object = None,
        needs: object = None,
    ) -> Waiting:
        """Build from array-likes; by default notes are NaN, users are -1, and there are no pools."""
        jobs = np.ascontiguousarray(job, dtype=np.int64)
        return cls(
            jobs,
            np.ascontiguousarray(submit, dtype=np.float64),
            np.ascontiguousarray(procs, dtype=np.int64),
            np.ascontiguousarray(request, dtype=np.float64),
            np.full(len(jobs), np.nan) if note is None else np.ascontiguousarray(note, dtype=np.float64),
            _no_numbers() if user is None else np.ascontiguousarray(user, dtype=np.int64),
            needs=_nothing() if needs is None else np.ascontiguousarray(needs, dtype=np.int64),
        )


@dataclass(frozen=True, slots=True)
class Running:
    """Jobs that hold processors, by expected end, then processors (columns of length r).

    ``expected_end`` is start + request, s; it lies in the past for a job that has exceeded its request. The owner
    columns and ``needs`` are as in :class:`Waiting`.
    """

    job: NDArray[np.int64]
    procs: NDArray[np.int64]
    expected_end: NDArray[np.float64]
    user: NDArray[np.int64] = field(default_factory=_no_numbers)
    group: NDArray[np.int64] = field(default_factory=_no_numbers)
    named_queue: NDArray[np.int64] = field(default_factory=_no_numbers)
    needs: NDArray[np.int64] = field(default_factory=_nothing)

    def __post_init__(self) -> None:
        _fill(self, len(self.job), _OWNERS)
        _fill_needs(self)

    @classmethod
    def of(
        cls,
        job: object = (),
        procs: object = (),
        expected_end: object = (),
        user: object = None,
        group: object = None,
        named_queue: object = None,
        needs: object = None,
    ) -> Running:
        """Build from array-likes, in any order; owners are -1 by default."""
        ends = np.ascontiguousarray(expected_end, dtype=np.float64)
        widths = np.ascontiguousarray(procs, dtype=np.int64)
        order = np.lexsort((widths, ends))
        owners = [
            _no_numbers() if given is None else np.ascontiguousarray(given, dtype=np.int64)[order]
            for given in (user, group, named_queue)
        ]
        held = _nothing() if needs is None else np.ascontiguousarray(needs, dtype=np.int64)[:, order]
        jobs = np.ascontiguousarray(job, dtype=np.int64)[order]
        return cls(jobs, widths[order], ends[order], owners[0], owners[1], owners[2], held)


def _no_use() -> NDArray[np.float64]:
    return np.zeros(1)


@dataclass(frozen=True, slots=True)
class SiteView:
    """All that an ordering policy may know about its site at one instant.

    Parameters
    ----------
    now
        The engine's clock, s.
    processors
        Processors of the site at full size, possibly more than it has now. A live engine cannot know the full size and
        gives the largest size so far, so a job may be wider still.
    free
        Idle processors of those that the site has now.
    waiting, running
        The jobs.
    refused
        Number of jobs at the front of the queue that the last decision left waiting, with no processor freed since. A
        policy may skip them; 0 is always allowed.
    owed
        Processors held beyond the current size of a site, summed over its nodes; the site removes this many of those
        that are released next. An engine that does not distinguish nodes, such as a live one, has no idle processor
        while this is above 0.
    claimed
        Processors that other loads of the site do not hold, but may take at any time. Jobs may start on them, but a
        promise must not count on them.
    used
        Processor-seconds that each user has consumed so far, decayed by the policy's ``half_life``; if there are jobs
        without a user, the last entry is theirs. Zeros if the policy has no half-life.
    pools
        (k,) free amount of each resource that jobs request in addition to processors: thousandths of GPUs, bytes of
        memory. A job starts only when everything that it requests is free. Empty if jobs request processors only.
    pool_names
        (k,) their names.

    Examples
    --------
    >>> view = SiteView(now=7.0, processors=8, free=3,
    ...     waiting=Waiting.of(job=[4, 5], submit=[6, 7], procs=[4, 2], request=[60, 60]),
    ...     running=Running.of(job=[3], procs=[5], expected_end=[100]))
    >>> view.waiting.procs <= view.free
    array([False,  True])
    """

    now: float
    processors: int
    free: int
    waiting: Waiting
    running: Running
    refused: int = 0
    owed: int = 0
    claimed: int = 0
    used: NDArray[np.float64] = field(default_factory=_no_use)
    pools: NDArray[np.int64] = field(default_factory=_no_numbers)
    pool_names: tuple[str, ...] = ()

    @classmethod
    def of_rows(
        cls,
        now: float,
        processors: int,
        free: int,
        refused: int,
        owed: int = 0,
        claimed: int = 0,
        *,
        queue: NDArray[np.int64],
        running: NDArray[np.int64],
        job: NDArray[np.int64],
        submit: NDArray[np.float64],
        procs: NDArray[np.int64],
        request: NDArray[np.float64],
        expected_end: NDArray[np.float64],
        note: NDArray[np.float64],
        owners: Owners | None = None,
        used: NDArray[np.float64] | None = None,
        pools: NDArray[np.int64] | None = None,
        needs: NDArray[np.int64] | None = None,
        pool_names: tuple[str, ...] = (),
    ) -> SiteView:
        """Build from copies of an engine's columns, so that a policy cannot change the engine through a view.

        Parameters
        ----------
        now, processors, free, refused, owed, claimed
            As in the view.
        queue
            (q,) rows of waiting jobs, in the order of the queue.
        running
            (r,) rows of running jobs, by expected end, then processors.
        job, submit, procs, request, expected_end, note
            (n,) columns with one entry per job, waiting, running or neither.
        owners
            Users, groups and queues of the n jobs; None if unknown.
        used
            As in the view.
        pools, pool_names
            As in the view; None for no pools.
        needs
            (k, n) amount of each pool that each job requests.

        Examples
        --------
        >>> times = np.array([0.0, 1.0, 2.0])
        >>> view = SiteView.of_rows(2.0, 4, 1, 0, queue=np.array([1, 2]), running=np.array([0]),
        ...     job=np.array([7, 8, 9]), submit=times, procs=np.array([3, 2, 1]), request=times + 60,
        ...     expected_end=times + 60, note=times * np.nan)
        >>> view.waiting.job, view.running.expected_end
        (array([8, 9]), array([60.]))
        """
        waiting = Waiting(
            job[queue], submit[queue], procs[queue], request[queue], note[queue], *_of(owners, needs, queue)
        )
        return cls(
            now=now,
            processors=processors,
            free=free,
            waiting=waiting,
            running=Running(
                job[running], procs[running], expected_end[running], *_of(owners, needs, running)
            ),
            refused=refused,
            owed=owed,
            claimed=claimed,
            used=_no_use() if used is None else used.copy(),
            pools=_no_numbers() if pools is None else pools.copy(),
            pool_names=pool_names,
        )


_Ints = NDArray[np.int64]


def _of(owners: Owners | None, needs: _Ints | None, rows: _Ints) -> tuple[_Ints, _Ints, _Ints, _Ints]:
    requested = _nothing() if needs is None else needs[:, rows]
    if owners is None:
        return _no_numbers(), _no_numbers(), _no_numbers(), requested
    return owners.user[rows], owners.group[rows], owners.queue[rows], requested


@dataclass(frozen=True, slots=True)
class Start:
    """A decision to start waiting jobs now, in this order.

    Parameters
    ----------
    jobs
        Job numbers, each one waiting; together they fit the free processors.
    why
        The reason of each, for ``--explain`` and for dry runs; one string applies to all.
    notes
        (q,) numbers to keep with each waiting job until the next decision, or None for no change.

    Examples
    --------
    >>> view = SiteView(now=0.0, processors=8, free=3,
    ...     waiting=Waiting.of(job=[7, 8], submit=[0, 0], procs=[2, 4], request=[60, 60]), running=Running.of())
    >>> Start((8,)).check(view)
    Traceback (most recent call last):
    windlass.model.errors.PolicyError: started jobs that need more than the 3 idle processors
    """

    jobs: tuple[int, ...] = ()
    why: tuple[str, ...] | str = ""
    notes: NDArray[np.float64] | None = field(default=None, compare=False)

    def reasons(self) -> tuple[str, ...]:
        """Return one reason per started job."""
        return (self.why,) * len(self.jobs) if isinstance(self.why, str) else self.why

    def check(self, view: SiteView) -> None:
        """Raise unless an engine can carry this out.

        Raises
        ------
        PolicyError
            A job is not waiting or is given twice; the jobs together need more processors or more of a pool than is
            free; or the number of reasons or notes is wrong.
        """
        waiting = view.waiting
        self.positions(waiting.job, waiting.procs, view.free, waiting.needs, view.pools, view.pool_names)

    def positions(
        self,
        job: NDArray[np.int64],
        procs: NDArray[np.int64],
        free: int,
        needs: NDArray[np.int64] | None = None,
        pools: NDArray[np.int64] | None = None,
        pool_names: Sequence[str] = (),
    ) -> NDArray[np.int64]:
        """Check this decision against an engine's own columns, which no policy can have changed, and return rows.

        Parameters
        ----------
        job, procs
            (q,) the waiting jobs, in the order of the queue.
        free
            Idle processors.
        needs
            (k, q) amount of each pool that each waiting job requests; None for no pools.
        pools, pool_names
            (k,) free amount of each pool, and its name.

        Returns
        -------
        (k,) queue positions of the jobs to start, in the answer's order.

        Raises
        ------
        PolicyError
            See :meth:`check`.

        Examples
        --------
        >>> Start((9, 7), "both fit").positions(np.array([7, 8, 9]), np.array([2, 4, 1]), free=3)
        array([2, 0])
        """
        if len(self.reasons()) != len(self.jobs):
            raise PolicyError(f"gave {len(self.reasons())} reasons for {len(self.jobs)} jobs")
        if self.notes is not None and np.shape(self.notes) != job.shape:
            found = f"notes of shape {np.shape(self.notes)}"
            raise PolicyError(f"left {found}, expected one per waiting job, {len(job)}")
        place_of = {number: place for place, number in enumerate(job.tolist())}
        places = np.array([place_of.get(number, -1) for number in self.jobs], dtype=np.int64)
        if (places < 0).any() or len(np.unique(places)) < len(places):
            raise PolicyError("started a job that does not wait, or the same job twice")
        if procs[places].sum() > free:
            raise PolicyError(f"started jobs that need more than the {free} idle processors")
        if needs is not None and pools is not None:
            short = np.flatnonzero(needs[:, places].sum(axis=1) > pools)
            if len(short):
                name = pool_names[int(short[0])]
                are = "are" if name.endswith("s") else "is"
                raise PolicyError(f"started jobs that need more {name} than {are} free")
        return places
