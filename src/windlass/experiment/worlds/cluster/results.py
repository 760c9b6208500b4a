"""The results of a run of a cluster, and the interface of what records one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

import polars as pl

from windlass.experiment.worlds.cluster.sampler import Samples
from windlass.sim.fleet.result import FleetRun
from windlass.sim.instances.result import Scaled
from windlass.sim.ledger import Ledger
from windlass.sim.part import Part
from windlass.sim.queries.result import Streamed
from windlass.sim.shares.result import Shared
from windlass.sim.site.result import Replay
from windlass.sim.telemetry.result import Observed
from windlass.sim.workers.result import Dispatched

_Result_co = TypeVar("_Result_co", covariant=True)


@dataclass(frozen=True, slots=True, eq=False)
class LoadResult(Generic[_Result_co]):
    """The result of a load at a site; of a load over several sites, ``site`` is empty."""

    load: str
    site: str
    result: _Result_co


@dataclass(slots=True, eq=False)
class ClusterRun:
    """The results of all parts of a cluster, by kind."""

    rigid: list[LoadResult[Replay]] = field(default_factory=list)
    shared: list[LoadResult[Shared]] = field(default_factory=list)
    staged: list[LoadResult[FleetRun]] = field(default_factory=list)
    tasks: list[LoadResult[Dispatched]] = field(default_factory=list)
    observed: list[LoadResult[Observed]] = field(default_factory=list)
    scaled: list[LoadResult[Scaled]] = field(default_factory=list)
    queries: list[LoadResult[Streamed]] = field(default_factory=list)
    samples: list[LoadResult[Samples]] = field(default_factory=list)
    parts: list[LoadResult[object]] = field(default_factory=list)
    part_jobs: list[LoadResult[pl.DataFrame]] = field(default_factory=list)


class ClusterRecorder(Protocol):
    """What records a run in addition to its results, without changing them."""

    def before(self, kind: str, name: str, part: Any, ledger: Ledger) -> Sequence[Part]:
        """Return parts that act just before a part.

        Parameters
        ----------
        kind, name
            Its kind, a field of :class:`ClusterRun`, and its load with its site, such as ``web@iowa``.
        part, ledger
            The part, and the ledger.
        """
        ...

    def last(self, ledger: Ledger, holders: Mapping[int, str]) -> Sequence[Part]:
        """Return parts that act after all others; ``holders`` has the load of each number in the ledger."""
        ...

    def log(self, address: str, view: Any, answer: Any) -> None:
        """Receive an answer that was carried out, of a policy outside of the loops."""
        ...
