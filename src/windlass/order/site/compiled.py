"""Policies written as one compiled function over arrays, for the simulator's loop and for live use alike.

The function is called once per instant at which something changed::

    count = select(view, chosen, why)

It returns how many entries of ``chosen`` it wrote, and changes nothing but ``view.note``, ``chosen`` and ``why``.

=================  ==========  =================================================================
``view``           tuple       a :class:`CompiledView`: the site at this instant
``chosen``         int64 (q,)  out: queue positions to start, ascending or not
``why``            int64 (q,)  out: the reason of each, as its place in the policy's ``reasons``
=================  ==========  =================================================================

Measured: the view as one tuple costs the simulator's loop nothing against its nine parts as arguments, and a
``decide`` from Python 2 of its 16 µs. Hand it on to functions that are copied into their caller, or whole parts of a
decision: a call with it costs 3 % of a replay under EASY.
"""

from __future__ import annotations

from typing import Annotated, ClassVar, NamedTuple, Protocol, cast, runtime_checkable

import numpy as np
from numba import types
from numpy.typing import NDArray

from windlass.jit import Kernel, inlined
from windlass.jit.schema import column, numba_type
from windlass.order.site.view import SiteView, Start
from windlass.policy.registry import capability

#: Rows of ``CompiledView.owner``.
USER, GROUP, QUEUE = range(3)


@inlined
def user_of(owner, row):
    """Return the number of a job's user."""
    return owner[USER, row]


class CompiledView(NamedTuple):
    """A site at one instant, as compiled policies see it. Jobs are rows of the columns.

    Parameters
    ----------
    now
        The clock, s.
    free
        Idle processors.
    owed
        Processors held beyond what the site still has; so many of those that come back next go to nobody.
    refused
        Leading queue entries refused before, with nothing freed since.
    queue
        (q,) rows of waiting jobs, in order of submission.
    running
        (r,) rows of running jobs, by expected end, then processors.
    submit
        (n,) when each job came, s; NaN for running jobs where a policy is asked by hand.
    procs
        (n,) processors of each job.
    request
        (n,) requested time, s.
    expected_end
        (n,) start + request of running jobs, s.
    note
        (n,) one number per job that the policy may write; kept for it.
    processors
        How many the site has when it is whole.
    owner
        (3, n) int32, numbers from 0: in row :data:`USER` whose each job is, then its :data:`GROUP` and the
        :data:`QUEUE` that it was submitted to; -1 where nobody knows.
    used
        (users,) processor-seconds that each has had up to now, by the half-life that the policy names. The last entry
        is of jobs of nobody, where there are any: ``used[owner[USER, row]]`` is that of any job.
    given
        The policy's own numbers.
    pools
        (k,) what is free of each resource that jobs wait for beside processors; k is 0 where there is none.
    needs
        (k, n) what each job asks for of them.
    """

    now: float
    free: int
    owed: int
    refused: int
    queue: Annotated[NDArray[np.int64], column("waiting")]
    running: Annotated[NDArray[np.int64], column("running")]
    submit: Annotated[NDArray[np.float64], column("jobs")]
    procs: Annotated[NDArray[np.int64], column("jobs")]
    request: Annotated[NDArray[np.float64], column("jobs")]
    expected_end: Annotated[NDArray[np.float64], column("jobs")]
    note: Annotated[NDArray[np.float64], column("jobs")]
    processors: int
    owner: Annotated[NDArray[np.int32], column(3, "jobs")]
    used: Annotated[NDArray[np.float64], column("users")]
    given: Annotated[NDArray[np.float64], column("numbers")]
    pools: Annotated[NDArray[np.int64], column("pools")]
    needs: Annotated[NDArray[np.int64], column("pools", "jobs")]


VIEW = numba_type(CompiledView)
SELECT = types.int64(VIEW, types.int64[::1], types.int64[::1])


def _nobody(view, chosen, why):
    return 0


#: Fills the place of a compiled policy where one in Python is asked instead.
NOBODY = Kernel(_nobody, SELECT, allocates=False)


@runtime_checkable
class Selecting(Protocol):
    """A policy with a compiled ``select`` and its ``reasons``; :class:`CompiledPolicy` makes ``decide`` from them.

    The simulator's loop then calls the function, and not ``decide``. :func:`as_compiled` looks once per run.
    """

    @property
    def select(self) -> Kernel | None:
        """Which waiting jobs to start, of signature :data:`SELECT`; None of a policy that has only ``decide``."""
        ...


@runtime_checkable
class Pooled(Protocol):
    """A compiled policy with a function of its own for jobs that wait for more than processors.

    Apart from ``select``, as most sites have processors alone, and what is not called needs no compiling.
    """

    @property
    def pooled(self) -> Kernel | None:
        """Called instead of ``select`` where a site has pools, of the same signature; None for ``select`` itself."""
        ...


@runtime_checkable
class Parametric(Protocol):
    """A policy, or a priority of the policy ``queue``, whose compiled function takes numbers of its own."""

    @property
    def given(self) -> NDArray[np.float64] | None:
        """(k,) what the function finds as ``view.given``; None for no numbers. Read once, before a run."""
        ...


class CompiledPolicy:
    """Gives a policy its ``decide`` from its compiled ``select``, or from ``pooled`` at a site with pools."""

    """Gives a policy its ``decide`` from its compiled ``select``; with pools, from ``pooled`` if it has one."""

    name: ClassVar[str]
    select: ClassVar[Kernel]
    pooled: ClassVar[Kernel | None] = None
    reasons: ClassVar[tuple[str, ...]]

    def decide(self, view: SiteView) -> Start:
        """Which waiting jobs to start now, why, and the notes to keep."""
        # Not by `select_of`: to look for a protocol takes a quarter of the time of a decision.
        pooled = self.pooled if len(view.pools) else None
        return decided(self.select if pooled is None else pooled, self.reasons, view)


def select_of(policy: object, pools: bool) -> Kernel:
    """A compiled policy's function for a site that has pools, or none; its ``select`` where it has no other.

    Parameters
    ----------
    policy
        Compiled; or its class, where that has the functions.
    pools
        Whether jobs wait for more than processors.

    Examples
    --------
    >>> from windlass.order.site.policies.fcfs import Fcfs
    >>> select_of(Fcfs, pools=False) is Fcfs.select, select_of(Fcfs, pools=True) is Fcfs.select
    (True, False)
    """
    able = capability(policy, Pooled) if pools else None
    found = None if able is None else able.pooled
    return cast(CompiledPolicy, policy).select if found is None else found


def numbers_of(policy: object) -> NDArray[np.float64]:
    """What a policy gives to its compiled function with every view: its ``given``, none where it has none."""
    able = capability(policy, Parametric)
    given = None if able is None else able.given
    return np.zeros(0) if given is None else np.ascontiguousarray(given, np.float64)


def decided(
    select: Kernel, reasons: tuple[str, ...], view: SiteView, given: NDArray[np.float64] | None = None
) -> Start:
    """What a compiled policy answers to a view.

    Parameters
    ----------
    select
        The policy's function.
    reasons
        Its reasons, by the numbers that the function gives.
    view
        The site.
    given
        The policy's own numbers.

    Examples
    --------
    >>> from windlass.order.site.policies.fcfs import Fcfs
    >>> from windlass.order.site.view import Running, Waiting
    >>> waiting = Waiting.of(job=[7], submit=[0], procs=[1], request=[60])
    >>> decided(Fcfs.select, Fcfs.reasons, SiteView(0.0, 1, 1, waiting, Running.of())).jobs
    (7,)
    """
    count, columns = len(view.waiting.job), columns_of(view, given)
    chosen, why = np.zeros((2, count), np.int64)
    picked = select.ready()(columns, chosen, why)
    return Start(
        jobs=tuple(view.waiting.job[chosen[:picked]].tolist()),
        why=tuple(reasons[code] for code in why[:picked]),
        notes=columns.note[:count],
    )


def columns_of(view: SiteView, given: NDArray[np.float64] | None = None) -> CompiledView:
    """A site as compiled policies see it: the q jobs that wait are the first rows, in the order of the queue.

    Parameters
    ----------
    view
        The site; the columns are copies.
    given
        The policy's own numbers.

    Examples
    --------
    >>> from windlass.order.site.view import Running, Waiting
    >>> waiting = Waiting.of(job=[7], submit=[0], procs=[2], request=[60])
    >>> columns_of(SiteView(0.0, 4, 3, waiting, Running.of([9], [1], [30]))).procs
    array([2, 1])
    """
    waiting, running = view.waiting, view.running
    count = len(waiting.job)
    rows = np.arange(count + len(running.job))
    procs = np.concatenate((waiting.procs, running.procs))
    request, expected_end = np.zeros((2, len(rows)))
    request[:count], expected_end[count:] = waiting.request, running.expected_end
    note, submit = np.full((2, len(rows)), np.nan)
    note[:count], submit[:count] = waiting.note, waiting.submit
    owner = np.empty((3, len(rows)), np.int32)
    for part, some in ((slice(count), waiting), (slice(count, None), running)):
        owner[:, part] = some.user, some.group, some.named_queue
    return CompiledView(
        now=float(view.now),
        free=view.free,
        owed=view.owed,
        refused=view.refused,
        queue=rows[:count],
        running=rows[count:],
        submit=submit,
        procs=procs,
        request=request,
        expected_end=expected_end,
        note=note,
        processors=view.processors,
        owner=owner,
        used=_for_all(view.used, owner[USER]),
        given=np.zeros(0) if given is None else given,
        pools=np.ascontiguousarray(view.pools, np.int64),
        needs=np.ascontiguousarray(np.concatenate((waiting.needs, running.needs), axis=1), np.int64),
    )


def _for_all(used: NDArray[np.float64], user: NDArray[np.int32]) -> NDArray[np.float64]:
    """The same with zeros for users of whom a view that was made by hand says nothing."""
    least = int(user.max(initial=-1)) + 1
    more = np.zeros(max(0, max(least, 1) - len(used)))
    return np.ascontiguousarray(np.append(used, more), np.float64)


def as_compiled(policy: object) -> CompiledPolicy | None:
    """The policy with its compiled function, or None where it has none and is asked through ``decide``.

    >>> from windlass.order.site.policies.fcfs import Fcfs
    >>> as_compiled(Fcfs()).reasons
    ('head of the queue',)
    """
    found = capability(policy, Selecting)
    return None if found is None or found.select is None else cast(CompiledPolicy, policy)
