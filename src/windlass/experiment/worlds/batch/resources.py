"""What jobs of a log ask for beside processors: what they wait for, what they do not, and which resource binds."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from windlass.experiment.workloads.load import offered_load
from windlass.experiment.worlds.batch.pools import Amounts, amount_of
from windlass.io.traces import Workload
from windlass.io.traces.resources import ResourceRequest


@dataclass(frozen=True, slots=True)
class _Beside:
    """A resource beside processors.

    Parameters
    ----------
    name, field
        What notes and scenarios call it.
    asked
        What the jobs ask for.
    given
        What the site has of it; None where the scenario does not say, and jobs do not wait for it.
    """

    name: str
    field: str
    asked: ResourceRequest
    given: float | None

    @property
    def there(self) -> float:
        """What there is of it; NaN where nobody knows."""
        return self.asked.most if self.given is None else self.given

    @property
    def amount(self) -> str:
        """The same, in words."""
        return amount_of(self.name, self.there)


def resource_notes(
    workload: Workload, gpus: float | None = None, memory: float | None = None, *, waits: bool = True
) -> tuple[str, ...]:
    """How many jobs ask for what they wait for beside processors, and for what not; and which resource binds.

    A resource binds where the jobs that come ask for the greatest part of it: amount × run time over what there is ×
    the time in which they come, which for processors is the offered load.

    Parameters
    ----------
    workload
        The jobs, and what they ask for.
    gpus, memory
        What the site has of them, memory in bytes; None where jobs do not wait for them, and then it is taken to be the
        most that jobs of the log held at once.
    waits
        Whether jobs wait for what is said here; where they do not, it is for the notes alone.

    Returns
    -------
    tuple
        A sentence each. Nothing where the log knows of processors alone, or where these are its GPUs: each job asks for
        as many of both.

    Examples
    --------
    >>> from windlass.model import JobTable
    >>> jobs = JobTable.of(submit=[0, 10], run=[5, 15], procs=[1, 1])
    >>> print("\\n".join(resource_notes(Workload(jobs, 8, gpus=ResourceRequest(np.array([0.0, 4.0]), most=4.0)))))
    GPUs are not modelled, and no job waits for them: 50 % of the jobs ask for some
    GPUs bind, and not processors, by the work that comes: 1.5 of 4 GPUs (the most at once), 0.25 of 8 processors
    """
    known = _beside(workload, gpus, memory)
    said = _nobody_asks(workload, Amounts(gpus, memory)) if waits else ()
    waited_for = [each for each in known if waits and each.given is not None]
    for each in waited_for:
        share = f"{100 * each.asked.jobs / len(workload.jobs):.3g} % of the jobs ask for"
        said += (f"jobs wait for {each.name} as for processors: {share} some of {each.amount}",)
    beside = [each for each in known if each not in waited_for]
    if beside:
        said += (_not_modelled(workload, beside),)
    return (*said, *_binding(workload, known))


def _nobody_asks(workload: Workload, amounts: Amounts) -> tuple[str, ...]:
    """What the scenario names, and no job asks for."""
    given = (("gpus", amounts.gpus, workload.gpus), ("memory", amounts.memory, workload.memory))
    return tuple(
        f"cluster.{field} is given, and the jobs name no {'GPUs' if field == 'gpus' else field}: it has no effect"
        for field, amount, asked in given
        if amount is not None and asked is None
    )


def _not_modelled(workload: Workload, beside: list[_Beside]) -> str:
    names = " and ".join(each.name for each in beside)
    them = "it" if names == "memory" else "them"
    verb = "is" if names == "memory" else "are"
    count = len(workload.jobs)
    shares = [f"{100 * each.asked.jobs / count:.3g} % of the jobs ask for" for each in beside]
    parts = (
        [f"{shares[0]} some"]
        if len(beside) == 1
        else [f"{share} {each.name}" for share, each in zip(shares, beside, strict=True)]
    )
    note = f"{names} {verb} not modelled, and no job waits for {them}: {', '.join(parts)}"
    unknown = [f"cluster.{each.field}" for each in beside if not each.there > 0]
    if unknown:
        note += f"; {' and '.join(unknown)} would say what there is"
    return note


def _beside(workload: Workload, gpus: float | None, memory: float | None) -> list[_Beside]:
    found = []
    # In logs of GPU clusters a processor is a GPU: those are waited for.
    alike = workload.gpus is not None and np.array_equal(workload.gpus.amount, workload.jobs.procs)
    if workload.gpus is not None and (gpus is not None or not alike):
        found.append(_Beside("GPUs", "gpus", workload.gpus, gpus))
    if workload.memory is not None:
        found.append(_Beside("memory", "memory", workload.memory, memory))
    return found


def _binding(workload: Workload, beside: list[_Beside]) -> tuple[str, ...]:
    """Which resource is asked for most, over what there is; nothing where no other is known, or all come at once."""
    jobs, processors = workload.jobs, workload.processors
    span = float(jobs.submit[-1] - jobs.submit[0])
    own = offered_load(jobs, processors)
    if math.isnan(own):
        return ()
    loads = [("processors", own, f"{processors:,} processors")]
    for each in beside:
        if each.there > 0:
            work = float(np.nansum(jobs.run * each.asked.amount))
            there = each.amount if each.given is not None else f"{each.amount} (the most at once)"
            loads.append((each.name, work / (each.there * span), there))
    if len(loads) == 1:
        return ()
    loads.sort(key=lambda load: -load[1])
    first = loads[0][0]
    verb = "binds" if first == "memory" else "bind"
    which = f"{first} {verb}" if first == "processors" else f"{first} {verb}, and not processors,"
    said = ", ".join(f"{load:.3g} of {there}" for _, load, there in loads)
    return (f"{which} by the work that comes: {said}",)
