"""What is drawn: arrivals, sizes, where tasks lie, estimates, sites, drops, and whole models of jobs.

- :mod:`~windlass.workloads.arrivals`, :mod:`~windlass.workloads.service`: when small tasks arrive, and how much work
  they are.
- :mod:`~windlass.workloads.drift`: how speeds of workers change over a run.
- :mod:`~windlass.workloads.sizes`, :mod:`~windlass.workloads.seconds`, :mod:`~windlass.workloads.spread`: how many
  tasks jobs over sites have, how long they take, where they lie; :mod:`~windlass.workloads.fixed` draws whole cases.
- :mod:`~windlass.workloads.sites`, :mod:`~windlass.workloads.stages`, :mod:`~windlass.workloads.drops`: sites, jobs of
  stages over them, and drops in what sites can do.
- :mod:`~windlass.workloads.estimates`: what is expected where the truth is not known.
- :mod:`~windlass.workloads.swim`, :mod:`~windlass.workloads.grid`: jobs over sites made from logs that have none.
- :func:`lublin`: rigid jobs drawn from the model of Lublin and Feitelson.
"""

from windlass.workloads.lublin import lublin

__all__ = ["lublin"]
