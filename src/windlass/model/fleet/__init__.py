"""Jobs over several sites: where they can run, and what they are.

- :class:`Fleet`: sites with slots, with links or without.
- :class:`FleetJobs`, :class:`StageSpec`: jobs of stages of tasks.
- :class:`FleetCase`: both, and what changes when.
"""

from windlass.model.fleet.case import FleetCase
from windlass.model.fleet.jobs import FleetJobs, StageSpec
from windlass.model.fleet.sites import Fleet

__all__ = ["Fleet", "FleetCase", "FleetJobs", "StageSpec"]
