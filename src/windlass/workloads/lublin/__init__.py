"""Rigid jobs drawn from the model of Lublin and Feitelson (2003).

- :mod:`~windlass.workloads.lublin.model`: :func:`lublin`, the jobs: sizes, run times and arrivals.
- :mod:`~windlass.workloads.lublin.day`: arrivals through a day of busy and quiet half hours.
- :mod:`~windlass.workloads.lublin.kinds`: the published parameters, set for a system's size.
"""

from windlass.workloads.lublin.model import lublin

__all__ = ["lublin"]
