"""Jobs over several sites: where they can run, and what they are.

- :class:`Fleet`: sites with slots, with links or without.
- :class:`FleetJobs`, :class:`StageSpec`: jobs of stages of tasks.
- :func:`fixed_jobs`, :func:`fixed_table`: jobs of one stage whose tasks are fixed to sites.
- :class:`FleetCase`: both, and what changes when.
"""

from windlass.model.fleet.case import FleetCase
from windlass.model.fleet.fixed import fixed_jobs, fixed_table
from windlass.model.fleet.jobs import FleetJobs, StageSpec
from windlass.model.fleet.sites import Fleet

__all__ = ["Fleet", "FleetCase", "FleetJobs", "StageSpec", "fixed_jobs", "fixed_table"]
