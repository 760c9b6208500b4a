"""What happened to jobs over a fleet."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from windlass.model.fleet import Fleet, FleetJobs

_Floats = NDArray[np.float64]
_Ints = NDArray[np.signedinteger[Any]]


@dataclass(frozen=True, slots=True)
class FleetRun:
    """What happened.

    Parameters
    ----------
    fleet, jobs
        What ran, and where.
    end
        (J,) when each job ended, s.
    sent
        (J,) bytes that each job sent between sites.
    carried
        (n, n) bytes sent by each pair of sites; (0, 0) without links.
    site, source
        (T,) where each task ran and read (-1: from all sites).
    begun, read, computed
        (T,) when it took its slot, had its input, and gave the slot back, s.
    flows
        (f, 6) start, end, bytes, source, site, stage of each read between sites; empty unless logged.
    rates
        (r, 4) time, source, site, bytes/s of a pair from then on; empty unless logged.
    decisions
        How often the policy was asked.
    reasons
        How many tasks were started for which reason.
    jobs_reported, subjobs_reported
        Of how many jobs and sub-jobs with tasks left to start a policy that orders jobs was told, over all decisions.
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
