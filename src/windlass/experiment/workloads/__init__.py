"""What is drawn at random: jobs, tasks, sites, and what logs leave open.

Small tasks on workers:

- :mod:`~windlass.experiment.workloads.arrivals`: when they arrive; :mod:`~windlass.experiment.workloads.service`: how
  much work they are.
- :mod:`~windlass.experiment.workloads.tasks`: both drawn at once.
- :mod:`~windlass.experiment.workloads.drift`: how the speeds of workers change over a run.

Jobs over the sites of a fleet:

- :mod:`~windlass.experiment.workloads.sites`: sites and links; :mod:`~windlass.experiment.workloads.drops`: what sites
  lose for a while.
- :mod:`~windlass.experiment.workloads.stages`: jobs of stages, with data at many sites.
- :mod:`~windlass.experiment.workloads.fixed`: jobs of tasks fixed to sites, made from
  :mod:`~windlass.experiment.workloads.sizes` (how many tasks), :mod:`~windlass.experiment.workloads.seconds` (how long
  they take) and :mod:`~windlass.experiment.workloads.spread` (where they lie).
- :mod:`~windlass.experiment.workloads.swim`: jobs of stages or of fixed tasks, from a log that names no sites;
  :mod:`~windlass.experiment.workloads.grid`: of fixed tasks, from one that does.
- :mod:`~windlass.experiment.workloads.estimates`: what is expected where the truth is not known.

Rigid jobs on one site:

- :mod:`~windlass.experiment.workloads.lublin`: :func:`lublin`, jobs drawn from the model of Lublin and Feitelson.
- :mod:`~windlass.experiment.workloads.load`: how much work they are for a site, and the same jobs coming faster.
- :mod:`~windlass.experiment.workloads.description`: a log in numbers.
- :mod:`~windlass.experiment.workloads.outages`: when its nodes are away.
- :mod:`~windlass.experiment.workloads.use`: what jobs use of what they were given;
  :mod:`~windlass.experiment.workloads.measured`: laws that were measured, as quantiles.

Jobs that ask for resource vectors, on instances:

- :mod:`~windlass.experiment.workloads.seasons`: with a day and a week in them.
- :mod:`~windlass.experiment.workloads.bins`: made of counts by time.
- :mod:`~windlass.experiment.workloads.earlier`: a log cut in two, what was needed before and the jobs that are run.
Streaming queries:

- :mod:`~windlass.experiment.workloads.queries`: on cameras, below a private cluster and a cloud.
"""

from windlass.experiment.workloads.lublin import lublin

__all__ = ["lublin"]
