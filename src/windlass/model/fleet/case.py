"""A fleet, the jobs that run on it, and changes of its sites over time."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from windlass.model.calendar import Calendar
from windlass.model.errors import InputError
from windlass.model.fleet.jobs import FleetJobs, check_column
from windlass.model.fleet.sites import Fleet
from windlass.model.timetable import SiteTimetable


@dataclass(frozen=True, slots=True)
class FleetCase:
    """The input of a run: a fleet, jobs, a timetable, and the calendar of the log; None without one.

    Raises
    ------
    InputError
        A job has tasks at a site that does not exist, or at a site without slots in a fleet without links.

    Examples
    --------
    >>> from windlass.model.fleet import fixed_table
    >>> FleetCase(Fleet.of([1]), fixed_table([0.0], [[2]], [1.0, 1.0])).fleet.linked
    False
    """

    fleet: Fleet
    jobs: FleetJobs
    timetable: SiteTimetable = field(default_factory=SiteTimetable.none)
    calendar: Calendar | None = None

    def __post_init__(self) -> None:
        site, slots = self.jobs.site, self.fleet.slots
        check_column("site", site, site < len(slots), f"a site's number, below {len(slots)}")
        check_column(
            "timetable: site", self.timetable.site, self.timetable.site < len(slots), "a site's number"
        )
        closed = np.flatnonzero((site >= 0) & (slots[np.maximum(site, 0)] == 0))
        if len(closed) and not self.fleet.linked:
            number = int(site[closed[0]])
            raise InputError(f"slots[{number}] is 0, but the site has tasks; expected at least 1")
