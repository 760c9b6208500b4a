"""Policies written as one compiled function over arrays, for the simulator's loop and for live use alike.

The function is called once per instant at which the site has changed::

    count = select(view, chosen, why)

It returns how many entries of ``chosen`` it wrote, and changes nothing but ``view.note``, ``chosen`` and ``why``.

=================  ==========  =================================================================
``view``           tuple       a :class:`CompiledView`: the site at this instant
``chosen``         int64 (q,)  out: queue positions to start, ascending or not
``why``            int64 (q,)  out: the reason of each, as an index into the policy's ``reasons``
=================  ==========  =================================================================

The view is passed as one tuple: measured in the simulator's loop, this costs no more than nine separate arguments. In a
``decide`` called from Python it takes 2 of 16 µs. Pass the view on only to functions that are inlined or that do a
whole part of a decision: a call with it costs 3 % of a replay under EASY.
"""

from __future__ import annotations

from typing import Annotated, ClassVar, NamedTuple, Protocol, cast, runtime_checkable

import numpy as np
from numba import types
from numpy.typing import NDArray

from windlass.jit import Kernel, inlined
from windlass.jit.compiled import check_is_kernel
from windlass.jit.schema import column, numba_type
from windlass.order.site.queue_index import QueueIndex
from windlass.order.site.view import SiteView, Start
from windlass.policy.registry import capability

#: Rows of ``CompiledView.owner``.
USER, GROUP, QUEUE = range(3)


@inlined
def user_of(owner, row):
    """Return the number of a job's user."""
    return owner[USER, row]


class CompiledView(NamedTuple):
    """A site at one instant, as compiled policies receive it. Jobs are rows of the columns.

    Parameters
    ----------
    now
        The clock, s.
    free
        Idle processors.
    owed
        Processors held beyond the site's current size; the site removes this many of those that are released next.
    claimed
        Processors that other loads of the site do not hold, but may take at any time.
    refused
        Number of jobs at the front of the queue that were refused before, with nothing freed since.
    settled
        Entries at the front of the queue that were considered by a decision that started no job, if ``refused`` is
        not 0: under the same circumstances, except for a later clock, the policy refused all of them. Otherwise 0.
    freed_until
        Time, s, up to which processors were released since the last decision; infinity if unknown. A job that ends
        early releases its processors until its expected end.
    queue
        (q,) rows of waiting jobs, in order of submission.
    running
        (r,) rows of running jobs, by expected end, then processors.
    submit
        (n,) submission time of each job, s; NaN for running jobs if the view was built from a :class:`SiteView`.
    procs
        (n,) processors of each job.
    request
        (n,) requested time, s.
    expected_end
        (n,) start + request of running jobs, s.
    note
        (n,) one number per job that the policy may write; the engine keeps it until the next decision.
    processors
        Processors of the site at full size.
    owner
        (3, n) int32, numbers from 0: row :data:`USER` is the user of each job, row :data:`GROUP` its group and row
        :data:`QUEUE` the queue that it was submitted to; -1 if unknown.
    used
        (users,) processor-seconds that each user has consumed so far, decayed by the policy's half-life. If there are
        jobs without a user, the last entry is theirs, so that ``used[owner[USER, row]]`` holds for any job.
    given
        The policy's own numbers.
    pools
        (k,) free amount of each resource that jobs request in addition to processors; k is 0 without such resources.
    needs
        (k, n) amount of each pool that each job requests.
    """

    now: float
    free: int
    owed: int
    claimed: int
    refused: int
    settled: int
    freed_until: float
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
#: The signature of a function that receives the index of a long queue as well.
SELECT_BY_INDEX = types.int64(VIEW, numba_type(QueueIndex), types.int64[::1], types.int64[::1])


def _starts_none(view, chosen, why):
    return 0


def _starts_none_by_index(view, index, chosen, why):
    return 0


#: Placeholder in the simulator's loop for a policy that has only ``decide``; starts no job.
STARTS_NONE = Kernel(_starts_none, SELECT, allocates=False)
#: The same for a policy without a function that uses the index of a queue.
STARTS_NONE_BY_INDEX = Kernel(_starts_none_by_index, SELECT_BY_INDEX, allocates=False)


@runtime_checkable
class Selecting(Protocol):
    """A policy with a compiled ``select`` and its ``reasons``; :class:`CompiledPolicy` derives ``decide`` from them.

    The simulator's loop calls the function instead of ``decide``. :func:`as_compiled` tests for it once per run.
    """

    @property
    def select(self) -> Kernel | None:
        """Function of signature :data:`SELECT` that picks the jobs to start; None if there is only ``decide``."""
        ...


@runtime_checkable
class Pooled(Protocol):
    """A compiled policy with a separate function for jobs that request more than processors.

    It is separate from ``select`` because most sites have no pools, and a function that is not called is not compiled.
    """

    @property
    def pooled(self) -> Kernel | None:
        """Function called instead of ``select`` at a site with pools, of the same signature; None for ``select``."""
        ...


@runtime_checkable
class Indexed(Protocol):
    """A compiled policy with a separate function for long queues, which have an index.

    It is called instead of ``select`` by an engine that keeps an index, at a site without pools. It finds jobs by
    :func:`~windlass.order.site.queue_index.next_fit`, as only this function knows of holes in the queue.
    """

    @property
    def indexed(self) -> Kernel | None:
        """Function of signature :data:`SELECT_BY_INDEX`; None for ``select`` only."""
        ...


@runtime_checkable
class Parametric(Protocol):
    """A policy, or a priority of the policy ``queue``, whose compiled function takes its own numbers."""

    @property
    def given(self) -> NDArray[np.float64] | None:
        """(k,) the numbers passed as ``view.given``; None for no numbers. Read once, before a run."""
        ...


class CompiledPolicy:
    """Base class that derives ``decide`` from a compiled ``select``, or from ``pooled`` at a site with pools."""

    name: ClassVar[str]
    select: ClassVar[Kernel]
    pooled: ClassVar[Kernel | None] = None
    reasons: ClassVar[tuple[str, ...]]

    def decide(self, view: SiteView) -> Start:
        """Return the jobs to start now, the reasons, and the notes to keep."""
        # Not by `select_of`: a protocol check takes a quarter of the time of a decision.
        pooled = self.pooled if len(view.pools) else None
        return decided(self.select if pooled is None else pooled, self.reasons, view)


def select_of(policy: object, pools: bool) -> Kernel:
    """Return a compiled policy's function for a site with or without pools.

    This is ``pooled`` at a site with pools if the policy has one, and ``select`` otherwise.

    Parameters
    ----------
    policy
        A compiled policy, or its class if the functions are class attributes.
    pools
        Whether jobs request more than processors.

    Examples
    --------
    >>> from windlass.order.site.policies.fcfs import Fcfs
    >>> select_of(Fcfs, pools=False) is Fcfs.select, select_of(Fcfs, pools=True) is Fcfs.select
    (True, False)
    """
    able = capability(policy, Pooled) if pools else None
    found = None if able is None else able.pooled
    return cast(CompiledPolicy, policy).select if found is None else found


def indexed_of(policy: object) -> Kernel | None:
    """Return a compiled policy's function for long queues; None if it has none."""
    able = capability(policy, Indexed)
    return None if able is None else able.indexed


def numbers_of(policy: object) -> NDArray[np.float64]:
    """Return the numbers that a policy passes to its compiled function; an empty array if it has none."""
    able = capability(policy, Parametric)
    given = None if able is None else able.given
    return np.zeros(0) if given is None else np.ascontiguousarray(given, np.float64)


def decided(
    select: Kernel, reasons: tuple[str, ...], view: SiteView, given: NDArray[np.float64] | None = None
) -> Start:
    """Return the decision of a compiled policy.

    Parameters
    ----------
    select
        The policy's function.
    reasons
        The texts of its reasons, indexed by the codes that the function writes.
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
    """Convert a site view to columns: the q waiting jobs are the first rows, in the order of the queue.

    Parameters
    ----------
    view
        The site; its columns are copied.
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
        claimed=view.claimed,
        refused=view.refused,
        settled=0,
        freed_until=np.inf,
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
    """Extend ``used`` with zeros for users that a hand-made view leaves out."""
    least = int(user.max(initial=-1)) + 1
    more = np.zeros(max(0, max(least, 1) - len(used)))
    return np.ascontiguousarray(np.append(used, more), np.float64)


def as_compiled(policy: object) -> CompiledPolicy | None:
    """Return the policy if it has a compiled function, or None if only its ``decide`` can be called.

    >>> from windlass.order.site.policies.fcfs import Fcfs
    >>> as_compiled(Fcfs()).reasons
    ('head of the queue',)
    """
    found = capability(policy, Selecting)
    if found is None or found.select is None:
        return None
    check_is_kernel(policy, "select", found.select)
    return cast(CompiledPolicy, policy)
