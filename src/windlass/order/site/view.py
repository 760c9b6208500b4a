"""What an ordering policy of one site sees, and what it answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from windlass.model import Owners, PolicyError


def _nobody() -> NDArray[np.int64]:
    return np.empty(0, np.int64)


def _fill(view: object, jobs: int, columns: Sequence[str]) -> None:
    """-1 in columns that were not given."""
    for name in columns:
        if len(getattr(view, name)) != jobs:
            object.__setattr__(view, name, np.full(jobs, -1, np.int64))


_OWNERS = ("user", "group", "named_queue")


def _nothing() -> NDArray[np.int64]:
    return np.empty((0, 0), np.int64)


def _fill_needs(view: Waiting | Running) -> None:
    """No rows where there are no pools."""
    if len(view.needs) == 0:
        object.__setattr__(view, "needs", np.empty((0, len(view.job)), np.int64))


@dataclass(frozen=True, slots=True)
class Waiting:
    """Jobs that are submitted and not started, in the order in which they came to the queue (columns of length q).

    That is the order of submission, but a job that ran and was killed or put back waits at the end. Its ``submit`` is
    the first one in the simulator; a live engine orders by ``submit`` and has it as the batch system tells it, which of
    a job that is put back is when it was. All who wait are among them, however wide they are: what is left of the site
    may be less than a job asks for. Only a job that a batch system did not start when told to is left out for a while.

    ``note`` is one number per job that the policy itself left with it at an earlier decision (NaN until
    then): the engine keeps it, so that a policy has no memory of its own and survives a restart.

    ``user``, ``group`` and ``named_queue`` are numbers from 0 of whose a job is and of the queue that it was submitted
    to, -1 where nobody knows; a live engine knows none of them. ``needs`` (k, q) is what each asks for of the view's k
    pools.
    """

    job: NDArray[np.int64]
    submit: NDArray[np.float64]
    procs: NDArray[np.int64]
    request: NDArray[np.float64]
    note: NDArray[np.float64]
    user: NDArray[np.int64] = field(default_factory=_nobody)
    group: NDArray[np.int64] = field(default_factory=_nobody)
    named_queue: NDArray[np.int64] = field(default_factory=_nobody)
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
        """Build from anything array-like; no note means NaN everywhere, no user -1, no needs no pools."""
        jobs = np.ascontiguousarray(job, dtype=np.int64)
        return cls(
            jobs,
            np.ascontiguousarray(submit, dtype=np.float64),
            np.ascontiguousarray(procs, dtype=np.int64),
            np.ascontiguousarray(request, dtype=np.float64),
            np.full(len(jobs), np.nan) if note is None else np.ascontiguousarray(note, dtype=np.float64),
            _nobody() if user is None else np.ascontiguousarray(user, dtype=np.int64),
            needs=_nothing() if needs is None else np.ascontiguousarray(needs, dtype=np.int64),
        )


@dataclass(frozen=True, slots=True)
class Running:
    """Jobs that hold processors, by expected end, then processors (columns of length r).

    ``expected_end`` is start + request, s. It lies in the past for a job that outlived its request. Whose they are, and
    what they hold of the pools, is said as of those who wait.
    """

    job: NDArray[np.int64]
    procs: NDArray[np.int64]
    expected_end: NDArray[np.float64]
    user: NDArray[np.int64] = field(default_factory=_nobody)
    group: NDArray[np.int64] = field(default_factory=_nobody)
    named_queue: NDArray[np.int64] = field(default_factory=_nobody)
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
        """Build from anything array-like, in any order; of whom nothing is said, nobody knows."""
        ends = np.ascontiguousarray(expected_end, dtype=np.float64)
        widths = np.ascontiguousarray(procs, dtype=np.int64)
        order = np.lexsort((widths, ends))
        whose = [
            _nobody() if given is None else np.ascontiguousarray(given, dtype=np.int64)[order]
            for given in (user, group, named_queue)
        ]
        held = _nothing() if needs is None else np.ascontiguousarray(needs, dtype=np.int64)[:, order]
        jobs = np.ascontiguousarray(job, dtype=np.int64)[order]
        return cls(jobs, widths[order], ends[order], whose[0], whose[1], whose[2], held)


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
        How many the site has when it is whole, not what is left of it just now. A live engine cannot know that, and
        says the most that the site has had so far: a job may be wider still.
    free
        How many are idle, of those that the site has now.
    waiting, running
        The jobs.
    refused
        So many jobs at the front of the queue were left waiting by the last decision, and no processor
        has been freed since: a policy may skip them. 0 is always allowed.
    owed
        Processors that are held beyond what the site still has, at a site of nodes added up node by node: so many of
        those that are given back next go to nobody. Where nodes are not told apart, as in a live engine, none is free
        while any is owed.
    used
        Processor-seconds that each user has had up to now, the older the less, by the half-life that the policy names
        as its ``half_life``; the last entry is of jobs of nobody, where there are any. Zeros where it names none.
    pools
        (k,) what is free of each resource that jobs wait for beside processors: thousandths of GPUs, bytes of memory.
        A job starts only where all that it asks for is free. None where jobs wait for processors alone.
    pool_names
        (k,) what they are called.

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
    used: NDArray[np.float64] = field(default_factory=_no_use)
    pools: NDArray[np.int64] = field(default_factory=_nobody)
    pool_names: tuple[str, ...] = ()

    @classmethod
    def of_rows(
        cls,
        now: float,
        processors: int,
        free: int,
        refused: int,
        owed: int = 0,
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
        """Build from an engine's columns, of which it takes copies: what a policy does to a view stays in the view.

        Parameters
        ----------
        now, processors, free, refused, owed
            As in the view.
        queue
            (q,) rows of waiting jobs, in the order of the queue.
        running
            (r,) rows of running jobs, by expected end, then processors.
        job, submit, procs, request, expected_end, note
            (n,) columns: one entry a job, whether it waits, runs or neither.
        owners
            Whose the n jobs are; None where nobody knows.
        used
            As in the view.
        pools, pool_names
            As in the view; None for no pools.
        needs
            (k, n) what each job asks for of the pools.

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
            used=_no_use() if used is None else used.copy(),
            pools=_nobody() if pools is None else pools.copy(),
            pool_names=pool_names,
        )


_Ints = NDArray[np.int64]


def _of(owners: Owners | None, needs: _Ints | None, rows: _Ints) -> tuple[_Ints, _Ints, _Ints, _Ints]:
    asked = _nothing() if needs is None else needs[:, rows]
    if owners is None:
        return _nobody(), _nobody(), _nobody(), asked
    return owners.user[rows], owners.group[rows], owners.queue[rows], asked


@dataclass(frozen=True, slots=True)
class Start:
    """Start these waiting jobs now, in this order.

    Parameters
    ----------
    jobs
        Job numbers, each one waiting; together they fit the free processors.
    why
        The reason of each, for ``--explain`` and for dry runs; one string stands for all.
    notes
        (q,) what to keep with each waiting job until the next decision, or None for no change.

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
        """One reason per started job."""
        return (self.why,) * len(self.jobs) if isinstance(self.why, str) else self.why

    def check(self, view: SiteView) -> None:
        """Raise unless an engine can carry this out.

        Raises
        ------
        PolicyError
            A job does not wait or is named twice, together the jobs need more processors or more of a pool than is
            free, or there is not one reason for each job and one note for each waiting job.
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
        """Check this over an engine's own columns, which a policy cannot have changed, and return the jobs' rows.

        Parameters
        ----------
        job, procs
            (q,) the waiting jobs, in the order of the queue.
        free
            Idle processors.
        needs
            (k, q) what each waiting job needs of each pool; None for no pools.
        pools, pool_names
            (k,) what is free of each pool, and its name.

        Returns
        -------
        (k,) where in the queue the jobs to start are, in the answer's order.

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
