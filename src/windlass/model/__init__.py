"""The words that everything else is written in: jobs, sites, what a policy sees and what it answers.

- :class:`JobTable`: rigid parallel jobs as columns, the form every hot path reads.
- :class:`Site`, :class:`Cluster`: where jobs run.
- :class:`SiteView`: all that an ordering policy may know at one instant.
- :class:`Start`: its answer.
- :class:`InputError`: the one error that a user's input can cause; it names the thing.

Units are seconds and processors. This package imports nothing of Windlass.
"""

from windlass.model.cluster import Cluster, Site
from windlass.model.errors import InputError, PolicyError, TaskError
from windlass.model.jobs import JobTable
from windlass.model.ordering import Running, SiteView, Start, Waiting

__all__ = [
    "Cluster",
    "InputError",
    "JobTable",
    "PolicyError",
    "Running",
    "Site",
    "SiteView",
    "Start",
    "TaskError",
    "Waiting",
]
