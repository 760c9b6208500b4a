"""GPUs and memory as pools: jobs wait for them as for processors, if a scenario specifies them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from windlass.io.traces import Workload
from windlass.io.traces.resources import ResourceRequest
from windlass.model import InputError
from windlass.model.pools import Pools
from windlass.results.metrics.bottleneck import WaitCauses, used_shares, wait_causes
from windlass.results.metrics.site import BatchMetrics, PooledMetrics

GIB = 2.0**30
#: A pool of GPUs counts thousandths, as some logs have fractions of a GPU.
_PARTS = 1000.0
#: Upper bound of an amount, so that sums fit into 64-bit integers.
_MOST = 2**56


@dataclass(frozen=True, slots=True)
class Amounts:
    """A site's GPUs and bytes of memory; None for a resource that is not modelled.

    Examples
    --------
    >>> Amounts(gpus=8).any, Amounts().any
    (True, False)
    """

    gpus: float | None = None
    memory: float | None = None

    @property
    def any(self) -> bool:
        """Whether jobs wait for GPUs or memory."""
        return self.gpus is not None or self.memory is not None


@dataclass(frozen=True, slots=True)
class _Pooled:
    """A resource: its name, the integer units in one of it, the site's amount and the jobs' requests."""

    name: str
    units: float
    amount: float
    requested: ResourceRequest | None


def _kinds(workload: Workload, amounts: Amounts) -> Iterator[_Pooled]:
    if amounts.gpus is not None:
        yield _Pooled("GPUs", _PARTS, amounts.gpus, workload.gpus)
    if amounts.memory is not None:
        yield _Pooled("memory", 1.0, amounts.memory, workload.memory)


def pools_of(workload: Workload, amounts: Amounts) -> Pools | None:
    """Return a site's pools, in thousandths of GPUs and bytes of memory; None without any.

    A job whose request is missing in the log requests nothing.

    Parameters
    ----------
    workload
        The jobs.
    amounts
        The site's GPUs and memory.

    Examples
    --------
    >>> from windlass.model import JobTable
    >>> jobs = JobTable.of(submit=[0, 0], run=[5, 5], procs=[1, 1])
    >>> found = pools_of(Workload(jobs, 4, gpus=ResourceRequest(np.array([0.5, np.nan]), 1.0)), Amounts(gpus=2))
    >>> found.names, found.amount.tolist(), found.needs.tolist()
    (('GPUs',), [2000], [[500, 0]])
    """
    kinds = tuple(_kinds(workload, amounts))
    if not kinds:
        return None
    count = len(workload.jobs)
    needs = [
        np.zeros(count) if kind.requested is None else _units(kind.requested.amount, kind) for kind in kinds
    ]
    # Rounded before the ceiling, so that 0.46 GPUs are 460 thousandths.
    return Pools.of(
        tuple(kind.name for kind in kinds),
        [int(np.floor(np.round(min(kind.amount * kind.units, _MOST), 6))) for kind in kinds],
        np.stack([np.ceil(each) for each in needs]),
    )


def _units(amount: NDArray[np.float64], kind: _Pooled) -> NDArray[np.float64]:
    known = np.minimum(np.nan_to_num(amount, nan=0.0), 2.0 * _MOST / kind.units)
    return np.round(known * kind.units, 6)


def within(workload: Workload, amounts: Amounts) -> Workload:
    """Select the jobs that request no more than the site has; a note counts the others and names the first.

    Raises
    ------
    InputError
        No jobs are left.

    Examples
    --------
    >>> from windlass.model import JobTable
    >>> jobs = JobTable.of(submit=[0, 0], run=[5, 5], procs=[1, 1])
    >>> within(Workload(jobs, 4, gpus=ResourceRequest(np.array([1.0, 4.0]), 5.0)), Amounts(gpus=2)).notes
    ('1 job asks for more than 2 GPUs and is left out: job 2 (4)',)
    """
    notes, left = list(workload.notes), np.ones(len(workload.jobs), bool)
    pools = pools_of(workload, amounts)
    for place, kind in enumerate(_kinds(workload, amounts)):
        assert pools is not None  # At least one kind exists.
        wide = left & (pools.needs[place] > pools.amount[place])
        if kind.requested is not None and wide.any():
            count, row = int(wide.sum()), int(np.argmax(wide))
            much = f"more than {amount_of(kind.name, kind.amount)}"
            many = (
                f"1 job asks for {much} and is left out:"
                if count == 1
                else f"{count:,} jobs ask for {much} and are left out, the first:"
            )
            size = amount_of(kind.name, float(kind.requested.amount[row])).removesuffix(f" {kind.name}")
            notes.append(f"{many} job {workload.name_of(row)} ({size.removesuffix(' of')})")
            left &= ~wide
    if left.all():
        return workload
    if not left.any():
        raise InputError("cluster: no jobs are left: " + "; ".join(notes))
    return dataclasses.replace(workload.take(left), notes=tuple(notes))


def amount_of(name: str, amount: float) -> str:
    """Format an amount with its unit.

    >>> amount_of("GPUs", 1.5), amount_of("memory", 2**34)
    ('1.5 GPUs', '16 GiB of memory')
    """
    return f"{amount / GIB:,.6g} GiB of memory" if name == "memory" else f"{amount:,.6g} {name}"


def with_pools(
    metrics: BatchMetrics,
    workload: Workload,
    start: NDArray[np.float64],
    end: NDArray[np.float64],
    pools: Pools,
) -> tuple[PooledMetrics, tuple[str, ...]]:
    """Add the metrics of pools, and return a sentence on which resource jobs waited for.

    Parameters
    ----------
    metrics
        Metrics of the jobs without pools.
    workload
        The n jobs.
    start, end
        (n,) times, s.
    pools
        The jobs' GPUs and memory.
    """
    jobs = workload.jobs
    needs = np.concatenate((jobs.procs[None], pools.needs))
    amount = np.append(workload.processors, pools.amount)
    found = wait_causes(jobs.submit, start, end, needs, amount)
    use, names = used_shares(start, end, needs, amount, jobs.submit), ("processors", *pools.names)
    share_of, alone = dict(zip(names, use.tolist(), strict=True)), dict(zip(names, found.alone, strict=True))
    nan = float("nan")
    pooled = PooledMetrics.of(
        metrics,
        gpu_utilisation=share_of.get("GPUs", nan),
        memory_utilisation=share_of.get("memory", nan),
        lacked_processors=alone["processors"],
        lacked_gpus=alone.get("GPUs", nan),
        lacked_memory=alone.get("memory", nan),
    )
    return pooled, () if found.wait == 0 else (_bottleneck(names, found),)


def _bottleneck(names: tuple[str, ...], found: WaitCauses) -> str:
    parts = [f"{_percent(share)} for {name} alone" for name, share in zip(names, found.alone, strict=True)]
    most = max(found.alone)
    binds = names[found.alone.index(most)] if most > 0 else None
    which = "" if binds is None else f": {binds} {'binds' if binds == 'memory' else 'bind'}"
    return (
        f"jobs waited {', '.join(parts)}, {_percent(found.several)} for several of them, and {_percent(found.nothing)} "
        f"for their turn although their whole request was free{which}"
    )


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %" if share == 0 or share >= 0.001 else "< 0.1 %"


def request_of(pools: Pools, row: int) -> tuple[str, ...]:
    """Format a job's request for each pool and the pool's size; pools of which it requests nothing are omitted.

    >>> request_of(Pools.of(("GPUs", "memory"), [8000, 2**36], [[500], [2**34]]), 0)
    ('0.5 of 8 GPUs', '16 of 64 GiB of memory')
    """
    found = []
    for name, need, amount in zip(
        pools.names, pools.needs[:, row].tolist(), pools.amount.tolist(), strict=True
    ):
        units = 1.0 if name == "memory" else _PARTS
        shown = need / (GIB if name == "memory" else units)
        if need:
            found.append(f"{shown:,.6g} of {amount_of(name, amount / units)}")
    return tuple(found)
