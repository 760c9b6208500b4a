"""The outcome of a run of jobs over a fleet."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from windlass.model.fleet import Fleet, FleetJobs

_Floats = NDArray[np.float64]
_Ints = NDArray[np.signedinteger[Any]]


@dataclass(frozen=True, slots=True)
class FleetRun:
    """The outcome of a run of J jobs with T tasks over n sites.

    Parameters
    ----------
    fleet, jobs
        The sites and the jobs.
    end
        (J,) when each job ended, s.
    sent
        (J,) bytes that each job sent between sites.
    carried
        (n, n) bytes sent by each pair of sites; (0, 0) without links.
    site, source
        (T,) sites where each task ran and from which it read (-1: from all sites).
    begun, read, computed
        (T,) when each task took its slot, had read its input, and released the slot, s.
    flows
        (f, 6) start, end, bytes, source, site, stage of each read between sites; empty unless logged.
    rates
        (r, 4) time, source, site, and rate of the pair from that time on, bytes/s; empty unless logged.
    decisions
        Number of decisions of the policy.
    reasons
        Number of tasks started, by the reason that the policy gave.
    jobs_reported, subjobs_reported
        Jobs and sub-jobs in the views of a policy that orders jobs, summed over all decisions.
    row
        (T,) row of the ledger on which each task held its core last; (0,) for a fleet with slots of its own.
    lost
        (l, 5) task, site, row of the ledger, start and end of each attempt that ended because its row was vacated, s;
        the other columns of tasks are those of the last attempt.
    """

    fleet: Fleet
    jobs: FleetJobs
    end: _Floats
    sent: _Floats
    carried: _Floats
    site: _Ints
    source: _Ints
    begun: _Floats
    read: _Floats
    computed: _Floats
    flows: _Floats
    rates: _Floats
    decisions: int
    reasons: dict[str, int]
    jobs_reported: int
    subjobs_reported: int
    row: _Ints = field(default_factory=lambda: np.empty(0, np.int64), kw_only=True)
    lost: _Floats = field(default_factory=lambda: np.empty((0, 5)), kw_only=True)

    @property
    def response(self) -> _Floats:
        """(J,) end − submit, s."""
        result: _Floats = self.end - self.jobs.submit
        return result

    @property
    def start(self) -> _Floats:
        """(J,) when each job's first task took its slot, s."""
        result: _Floats = np.minimum.reduceat(self.begun, self.jobs.first[self.jobs.stage0[:-1]])
        return result
