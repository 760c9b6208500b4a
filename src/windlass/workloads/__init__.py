"""What is drawn at random: jobs, tasks, sites, and what logs leave open.

Small tasks on workers:

- :mod:`~windlass.workloads.arrivals`: when they arrive; :mod:`~windlass.workloads.service`: how much work they are.
- :mod:`~windlass.workloads.tasks`: both drawn at once.
- :mod:`~windlass.workloads.drift`: how the speeds of workers change over a run.

Jobs over the sites of a fleet:

- :mod:`~windlass.workloads.sites`: sites and links; :mod:`~windlass.workloads.drops`: what sites lose for a while.
- :mod:`~windlass.workloads.stages`: jobs of stages, with data at many sites.
- :mod:`~windlass.workloads.fixed`: jobs of tasks fixed to sites, made from :mod:`~windlass.workloads.sizes` (how many
  tasks), :mod:`~windlass.workloads.seconds` (how long they take) and :mod:`~windlass.workloads.spread` (where they
  lie).
- :mod:`~windlass.workloads.swim`: jobs of stages or of fixed tasks, from a log that names no sites;
  :mod:`~windlass.workloads.grid`: of fixed tasks, from one that does.
- :mod:`~windlass.workloads.estimates`: what is expected where the truth is not known.

Rigid jobs on one site:

- :mod:`~windlass.workloads.lublin`: :func:`lublin`, jobs drawn from the model of Lublin and Feitelson.
- :mod:`~windlass.workloads.load`: how much work they are for a site, and the same jobs coming faster.
- :mod:`~windlass.workloads.outages`: when its nodes are away.
- :mod:`~windlass.workloads.use`: what jobs use of what they were given; :mod:`~windlass.workloads.measured`: laws that
  were measured, as quantiles.

Jobs that ask for resource vectors, on instances:

- :mod:`~windlass.workloads.seasons`: with a day and a week in them.
- :mod:`~windlass.workloads.bins`: made of counts by time.
- :mod:`~windlass.workloads.earlier`: a log cut in two, what was needed before and the jobs that are run.
Streaming queries:

- :mod:`~windlass.workloads.queries`: on cameras, below a private cluster and a cloud.
"""

from windlass.workloads.lublin import lublin

__all__ = ["lublin"]
