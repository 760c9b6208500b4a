"""Sites, and jobs whose tasks run across them.

- :mod:`~windlass.model.fleet.sites`: :class:`Fleet`, sites with slots, with or without links.
- :mod:`~windlass.model.fleet.jobs`: :class:`FleetJobs` and :class:`StageSpec`, jobs of stages of tasks.
- :mod:`~windlass.model.fleet.fixed`: :func:`fixed_jobs` and :func:`fixed_table`, jobs whose tasks are fixed to sites.
- :mod:`~windlass.model.fleet.case`: :class:`FleetCase`, a fleet and its jobs, with changes over time.
"""

from windlass.model.fleet.case import FleetCase
from windlass.model.fleet.fixed import fixed_jobs, fixed_table
from windlass.model.fleet.jobs import FleetJobs, StageSpec
from windlass.model.fleet.sites import Fleet

__all__ = ["Fleet", "FleetCase", "FleetJobs", "StageSpec", "fixed_jobs", "fixed_table"]
