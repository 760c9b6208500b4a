"""The data model of the other packages; it imports no other package of Windlass.

- :mod:`~windlass.model.jobs`: :class:`JobTable`, rigid parallel jobs as columns, the form that all hot paths read.
- :mod:`~windlass.model.owners`: :class:`Owners`, the owners of jobs, as numbers.
- :mod:`~windlass.model.use`: the CPU time and memory that jobs use, stage by stage.
- :mod:`~windlass.model.fleet`: sites with slots and links, and jobs of stages of tasks over them.
- :mod:`~windlass.model.instances`: types of instances that a cluster rents, with their resources and prices.
- :mod:`~windlass.model.pools`: resources of a site other than processors, and the jobs' requests for them.
- :mod:`~windlass.model.vectors`: :class:`~windlass.model.vectors.VectorJobs`, jobs that request several resources.
- :mod:`~windlass.model.queries`: streaming queries with their plans, and the clusters where their components can run.
- :mod:`~windlass.model.timetable`: changes of workers and of sites over time.
- :mod:`~windlass.model.calendar`: the date and the zone of a log.
- :mod:`~windlass.model.values`: validation of users' numbers, with errors that name them.
- :mod:`~windlass.model.statistics`: Student's interval of a mean.
- :mod:`~windlass.model.limits`: maximum sizes of inputs, which environment variables can raise.
- :mod:`~windlass.model.version`: the version of the installed package.
- :mod:`~windlass.model.state_folder`: the folder of the user's state.
- :mod:`~windlass.model.text`: text from untrusted sources, made safe for a terminal.
- :mod:`~windlass.model.pipe_copies`: names of the copies of logs that come through a pipe, in messages.
- :mod:`~windlass.model.nearest`: suggestions for misspelt names.
- :mod:`~windlass.model.errors`: :class:`InputError`, the one error that a user's input can cause, with
  :class:`~windlass.model.errors.ParameterError`, which names a parameter; :class:`PolicyError`, an answer that cannot
  be carried out; :class:`TaskError`, a failed task; :class:`BatchError`, a job that a batch system did not start.

Units are seconds, bytes, processors and slots.
"""

from windlass.model.errors import BatchError, InputError, PolicyError, TaskError
from windlass.model.jobs import JobTable
from windlass.model.owners import Owners

__all__ = ["BatchError", "InputError", "JobTable", "Owners", "PolicyError", "TaskError"]
