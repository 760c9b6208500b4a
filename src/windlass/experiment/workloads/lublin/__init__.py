"""Rigid jobs drawn from the model of Lublin and Feitelson (2003).

- :mod:`~windlass.experiment.workloads.lublin.model`: :func:`lublin`, the jobs: sizes, run times and arrivals.
- :mod:`~windlass.experiment.workloads.lublin.day`: arrivals through a day of busy and quiet half hours.
- :mod:`~windlass.experiment.workloads.lublin.kinds`: the published parameters, set for a system's size.
"""

from windlass.experiment.workloads.lublin.model import lublin

__all__ = ["lublin"]
