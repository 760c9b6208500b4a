"""The words that everything else is written in. This package imports nothing of Windlass.

- :class:`JobTable`: rigid parallel jobs as columns, the form every hot path reads.
- :mod:`~windlass.model.fleet`: sites with slots and links, and jobs of stages of tasks over them.
- :mod:`~windlass.model.timetable`: what changes when.
- :mod:`~windlass.model.values`: numbers as users give them, checked and named in errors.
- :class:`InputError`: the one error that a user's input can cause; it names the thing.
- :class:`PolicyError`, :class:`TaskError`: an answer that cannot be carried out; a task that failed.

Units are seconds, bytes, processors and slots.
"""

from windlass.model.errors import InputError, PolicyError, TaskError
from windlass.model.jobs import JobTable

__all__ = ["InputError", "JobTable", "PolicyError", "TaskError"]
