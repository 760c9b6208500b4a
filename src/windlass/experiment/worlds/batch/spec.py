"""What a scenario of the batch world may say of its site, its jobs and its policy."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from windlass.experiment.worlds import Setting
from windlass.experiment.worlds.batch.pools import Amounts
from windlass.experiment.worlds.policy import Policy
from windlass.experiment.worlds.spec import Positive, Spec
from windlass.results.metrics.site import DAY

_FACTOR = re.compile(r"x\s*(\d+(?:\.\d*)?|\.\d+)")


def factor_of(load: float | str) -> float | None:
    """By how much faster jobs are to come where a load is written as a factor, None where it is a target.

    Examples
    --------
    >>> factor_of("x1.2"), factor_of(0.8)
    (1.2, None)
    """
    found = _FACTOR.fullmatch(load) if isinstance(load, str) else None
    return None if found is None else float(found[1])


def _load(value: Any) -> Any:
    number = factor_of(value) if isinstance(value, str) else value
    known = isinstance(number, int | float) and not isinstance(number, bool)
    if number is None or not known or not 0 < number < math.inf:
        raise ValueError("expected an offered load above 0, such as 0.8, or a factor such as x1.2")
    return value


#: An offered load to reach, or ``x1.2`` for so many times what it is.
Load = Annotated[float | str, BeforeValidator(_load)]


class BatchClusterSpec(Spec):
    """The site; without ``processors``, those that the log names (128 for generated jobs)."""

    processors: Annotated[int, Field(ge=1)] | None = None


class PartitionSpec(Spec):
    """A partition, as the log calls it, and its processors."""

    name: str
    processors: Annotated[int, Field(ge=1)]


class PartitionedSpec(BatchClusterSpec):
    """One site, or ``partitions`` that share no processors: each job of the log is bound to its own.

    ``gpus`` and ``memory`` (bytes) are what the site has of them. Where they are given, a job starts only where as much
    of them is free as it asks for; each is one pool for the whole site. Where they are not, or there are partitions,
    jobs wait for processors alone, and a note says what they ask for, of the most that they held at once.
    ``fitting_gpus`` and ``fitting_memory``: only jobs that ask for at most so much, so that all sites of a sweep run
    the same ones; not for scenarios.
    """

    partitions: tuple[PartitionSpec, ...] = ()
    gpus: Positive | None = None
    memory: Positive | None = None
    fitting_gpus: Positive | None = Field(default=None, exclude=True)
    fitting_memory: Positive | None = Field(default=None, exclude=True)

    @model_validator(mode="after")
    def _apart(self) -> Self:
        if self.partitions and self.processors is not None:
            raise ValueError("processors is given beside partitions, which have their own")
        names = [each.name for each in self.partitions]
        if len(set(names)) < len(names):
            raise ValueError(f"partitions: a name is there twice in {', '.join(names)}")
        return self

    @property
    def whole(self) -> int | None:
        """Processors of all; None for those that the log names."""
        return sum(each.processors for each in self.partitions) if self.partitions else self.processors

    @property
    def beside(self) -> Amounts:
        """What jobs wait for beside processors."""
        return Amounts() if self.partitions else Amounts(self.gpus, self.memory)

    @property
    def fitting(self) -> Amounts:
        """How much of it a job may ask for."""
        beside = self.beside
        return Amounts(
            beside.gpus if self.fitting_gpus is None else self.fitting_gpus,
            beside.memory if self.fitting_memory is None else self.fitting_memory,
        )


class LublinSpec(Spec):
    """Jobs drawn from the Lublin–Feitelson model; see :func:`windlass.experiment.workloads.lublin`."""

    jobs: Annotated[int, Field(ge=1, le=100_000_000)] = 5000
    load: Positive | None = None
    kinds: bool = False
    overestimate: Annotated[float, Field(ge=1)] = 5.0


class BatchWorkloadSpec(Spec):
    """Either a log (``trace``, and how to read it) or a model (``lublin``).

    ``widest``: only jobs of at most so many processors; by default, those that fit the smallest site of the sweep.
    ``ran``: the policy that the log's system ran, as variants are called: how far its replay is from the log is said.
    """

    trace: Path | None = None
    format: str | None = None
    where: str | None = None
    skip_bad_lines: bool = False
    widest: Annotated[int, Field(ge=1)] | None = None
    ran: str | None = None
    lublin: LublinSpec | None = None

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        if (self.trace is None) == (self.lublin is None):
            raise ValueError("expected either 'trace' or 'lublin'")
        of_trace = (self.format, self.where, self.skip_bad_lines, self.widest, self.ran)
        if self.lublin is not None and any(of_trace):
            raise ValueError(
                "format, where, skip_bad_lines, widest and ran are for a trace, not for 'lublin'"
            )
        return self


def widest_for_all(variants: Sequence[tuple[BatchWorkloadSpec, BatchClusterSpec]]) -> tuple[int | None, ...]:
    """How wide the jobs of each variant may be, so that those that replay one log on several sites run the same jobs.

    Parameters
    ----------
    variants
        Workload and site of each.

    Returns
    -------
    tuple
        One entry a variant: what its workload says, or else the processors of the smallest site that its log is
        replayed on; None where there is but one, or where jobs are drawn.

    Examples
    --------
    >>> log, sites = BatchWorkloadSpec(trace=Path("a.swf")), [BatchClusterSpec(processors=count) for count in (64, 32)]
    >>> widest_for_all([(log, site) for site in sites]), widest_for_all([(log, sites[0])])
    ((32, 32), (None,))
    """
    sites: dict[BatchWorkloadSpec, set[int | None]] = {}
    for workload, cluster in variants:
        sites.setdefault(workload, set()).add(cluster.processors)

    def least(workload: BatchWorkloadSpec) -> int | None:
        known = [count for count in sites[workload] if count is not None]
        compared = workload.trace is not None and len(sites[workload]) > 1
        return min(known) if workload.widest is None and compared else workload.widest

    return tuple(least(workload) for workload, _ in variants)


def fitting_for_all(
    variants: Sequence[tuple[BatchWorkloadSpec, PartitionedSpec]],
) -> tuple[dict[str, float | None], ...]:
    """How much beside processors jobs of each variant may ask for, so that all of one log run the same jobs.

    Parameters
    ----------
    variants
        Workload and site of each.

    Returns
    -------
    tuple
        Fields of its site for each variant: what the site with the least has.

    Examples
    --------
    >>> log, sites = BatchWorkloadSpec(trace=Path("a.swf")), [PartitionedSpec(gpus=count) for count in (8, 4)]
    >>> fitting_for_all([(log, site) for site in sites])[0]
    {'fitting_gpus': 4.0, 'fitting_memory': None}
    """

    def least(workload: BatchWorkloadSpec, field: str) -> float | None:
        alike = (getattr(site.beside, field) for log, site in variants if log == workload)
        return min((amount for amount in alike if amount is not None), default=None)

    return tuple(
        {f"fitting_{field}": least(workload, field) for field in ("gpus", "memory")}
        for workload, _ in variants
    )


class BatchPoliciesSpec(Spec):
    """A policy per decision."""

    order: Policy


#: Options of the command line, and the fields that each sets, in worlds of one site that replays a log.
SITE_OPTIONS = MappingProxyType(
    {
        "--procs": "cluster.processors",
        "--where": "workload.where",
        "--format": "workload.format",
        "--skip-bad-lines": "workload.skip_bad_lines",
        "--no-kill": "kill_at_walltime",
    }
)


class BatchSetting(Setting):
    """One variant of a batch scenario.

    ``load``: the offered load that jobs are to come with, or ``x1.2`` for so many times as fast as they do.
    ``starved_after``: a job that waits for longer, s, counts as one that starves.
    """

    plain_lists: ClassVar[frozenset[str]] = frozenset({"cluster.partitions"})
    options: ClassVar[Mapping[str, str]] = SITE_OPTIONS

    world: Literal["batch"] = "batch"
    cluster: PartitionedSpec = PartitionedSpec()
    workload: BatchWorkloadSpec
    policies: BatchPoliciesSpec
    load: Load | None = None
    kill_at_walltime: bool = True
    estimates: Literal["requested", "history", "perfect"] = "requested"
    starved_after: Positive = DAY

    @model_validator(mode="after")
    def _one_load(self) -> Self:
        model = self.workload.lublin
        if self.load is not None and model is not None and model.load is not None:
            raise ValueError("load: workload.lublin.load is given as well, expected one of the two")
        return self

    @classmethod
    def together(cls, variants: Sequence[Self]) -> tuple[Self, ...]:
        """The same jobs on all sites that are compared."""
        widest = widest_for_all([(variant.workload, variant.cluster) for variant in variants])
        fitting = fitting_for_all([(variant.workload, variant.cluster) for variant in variants])
        return tuple(
            variant.model_copy(
                update={
                    "workload": variant.workload.model_copy(update={"widest": most}),
                    "cluster": variant.cluster.model_copy(update=beside),
                }
            )
            for variant, most, beside in zip(variants, widest, fitting, strict=True)
        )
