"""The words that everything else is written in. This package imports nothing of Windlass.

- :mod:`~windlass.model.jobs`: :class:`JobTable`, rigid parallel jobs as columns, the form every hot path reads.
- :mod:`~windlass.model.owners`: :class:`Owners`, the owners of jobs, as numbers.
- :mod:`~windlass.model.use`: what jobs use of what they were given, stage by stage.
- :mod:`~windlass.model.fleet`: sites with slots and links, and jobs of stages of tasks over them.
- :mod:`~windlass.model.instances`: types of instances that a cluster rents, with what each has and costs.
- :mod:`~windlass.model.pools`: resources of a site other than processors, and the jobs' requests for them.
- :mod:`~windlass.model.vectors`: :class:`~windlass.model.vectors.VectorJobs`, jobs that request several resources.
- :mod:`~windlass.model.queries`: streaming queries with their plans, and the clusters where their components could run.
- :mod:`~windlass.model.timetable`: changes of workers and of sites over time.
- :mod:`~windlass.model.values`: numbers as users give them, checked and named in errors.
- :mod:`~windlass.model.statistics`: Student's interval of a mean.
- :mod:`~windlass.model.limits`: how much of something is taken, and how to have more.
- :mod:`~windlass.model.version`: the version of the installed package.
- :mod:`~windlass.model.text`: text from outside, as a terminal may show it.
- :mod:`~windlass.model.errors`: :class:`InputError`, the one error that a user's input can cause, with
  :class:`~windlass.model.errors.ParameterError`, which names a parameter; :class:`PolicyError`, an answer that cannot
  be carried out; :class:`TaskError`, a task that failed; :class:`BatchError`, a job that a batch system did not start.

Units are seconds, bytes, processors and slots.
"""

from windlass.model.errors import BatchError, InputError, PolicyError, TaskError
from windlass.model.jobs import JobTable
from windlass.model.owners import Owners

__all__ = ["BatchError", "InputError", "JobTable", "Owners", "PolicyError", "TaskError"]
