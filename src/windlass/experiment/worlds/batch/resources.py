"""Notes on the GPUs and memory that jobs of a log request, and on which resource is the bottleneck."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from windlass.experiment.workloads.load import offered_load
from windlass.experiment.worlds.batch.pools import Amounts, amount_of
from windlass.io.traces import Workload
from windlass.io.traces.resources import ResourceRequest


@dataclass(frozen=True, slots=True)
class _Resource:
    """GPUs or memory.

    Parameters
    ----------
    name, field
        Its name in notes and its field in scenarios.
    requested
        The jobs' requests.
    given
        The site's amount; None if the scenario has none, and jobs do not wait for it.
    """

    name: str
    field: str
    requested: ResourceRequest
    given: float | None

    @property
    def available(self) -> float:
        """The available amount; NaN if unknown."""
        return self.requested.most if self.given is None else self.given

    @property
    def amount(self) -> str:
        """The available amount with its unit."""
        return amount_of(self.name, self.available)


def resource_notes(
    workload: Workload, gpus: float | None = None, memory: float | None = None, *, waits: bool = True
) -> tuple[str, ...]:
    """Return notes on the share of jobs that request GPUs or memory, and on the bottleneck resource.

    The bottleneck is the resource with the highest load: amount × run time over available amount × span of the
    arrivals, which for processors is the offered load.

    Parameters
    ----------
    workload
        The jobs and their requests.
    gpus, memory
        The site's amounts, memory in bytes. With None, jobs do not wait for the resource, and its amount is taken to
        be the most that jobs of the log held at once.
    waits
        Whether jobs wait for these amounts; if not, they are used for the notes only.

    Returns
    -------
    tuple
        A sentence each. Empty if the log has processors only, or if its processors are GPUs: each job then has the same
        number of both.

    Examples
    --------
    >>> from windlass.model import JobTable
    >>> jobs = JobTable.of(submit=[0, 10], run=[5, 15], procs=[1, 1])
    >>> print("\\n".join(resource_notes(Workload(jobs, 8, gpus=ResourceRequest(np.array([0.0, 4.0]), most=4.0)))))
    GPUs are not modelled, and no job waits for them: 50 % of the jobs request some
    GPUs bind, not processors, by offered load: 1.5 of 4 GPUs (the most at once), 0.25 of 8 processors
    """
    known = _resources(workload, gpus, memory)
    notes = _unused(workload, Amounts(gpus, memory)) if waits else ()
    waited_for = [each for each in known if waits and each.given is not None]
    for each in waited_for:
        share = f"{100 * each.requested.jobs / len(workload.jobs):.3g} % of the jobs request"
        notes += (f"jobs wait for {each.name} as for processors: {share} some of {each.amount}",)
    resources = [each for each in known if each not in waited_for]
    if resources:
        notes += (_not_modelled(workload, resources),)
    return (*notes, *_bottleneck(workload, known))


def _unused(workload: Workload, amounts: Amounts) -> tuple[str, ...]:
    """Return a note on each resource that the scenario specifies and no job requests."""
    given = (("gpus", amounts.gpus, workload.gpus), ("memory", amounts.memory, workload.memory))
    return tuple(
        f"cluster.{field} is given, but the jobs request no {'GPUs' if field == 'gpus' else field}: it has no effect"
        for field, amount, requested in given
        if amount is not None and requested is None
    )


def _not_modelled(workload: Workload, resources: list[_Resource]) -> str:
    names = " and ".join(each.name for each in resources)
    them = "it" if names == "memory" else "them"
    verb = "is" if names == "memory" else "are"
    count = len(workload.jobs)
    shares = [f"{100 * each.requested.jobs / count:.3g} % of the jobs request" for each in resources]
    parts = (
        [f"{shares[0]} some"]
        if len(resources) == 1
        else [f"{share} {each.name}" for share, each in zip(shares, resources, strict=True)]
    )
    note = f"{names} {verb} not modelled, and no job waits for {them}: {', '.join(parts)}"
    unknown = [f"cluster.{each.field}" for each in resources if not each.available > 0]
    if unknown:
        note += f"; {' and '.join(unknown)} would set the amount"
    return note


def _resources(workload: Workload, gpus: float | None, memory: float | None) -> list[_Resource]:
    found = []
    # In logs of GPU clusters a processor is a GPU, and jobs already wait for processors.
    alike = workload.gpus is not None and np.array_equal(workload.gpus.amount, workload.jobs.procs)
    if workload.gpus is not None and (gpus is not None or not alike):
        found.append(_Resource("GPUs", "gpus", workload.gpus, gpus))
    if workload.memory is not None:
        found.append(_Resource("memory", "memory", workload.memory, memory))
    return found


def _bottleneck(workload: Workload, resources: list[_Resource]) -> tuple[str, ...]:
    """Return a note on the resource with the highest load; empty without others or if all jobs arrive at once."""
    jobs, processors = workload.jobs, workload.processors
    span = float(jobs.submit[-1] - jobs.submit[0])
    own = offered_load(jobs, processors)
    if math.isnan(own):
        return ()
    loads = [("processors", own, f"{processors:,} processors")]
    for each in resources:
        if each.available > 0:
            work = float(np.nansum(jobs.run * each.requested.amount))
            available = each.amount if each.given is not None else f"{each.amount} (the most at once)"
            loads.append((each.name, work / (each.available * span), available))
    if len(loads) == 1:
        return ()
    loads.sort(key=lambda load: -load[1])
    first = loads[0][0]
    verb = "binds" if first == "memory" else "bind"
    which = f"{first} {verb}" if first == "processors" else f"{first} {verb}, not processors,"
    shares = ", ".join(f"{load:.3g} of {available}" for _, load, available in loads)
    return (f"{which} by offered load: {shares}",)
