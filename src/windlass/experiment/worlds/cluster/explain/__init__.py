"""Explanations of one job of a cluster: the run is repeated, and what concerns the job is recorded.

- :mod:`~windlass.experiment.worlds.cluster.explain.explainer`: the explainer of the world.
- :mod:`~windlass.experiment.worlds.cluster.explain.recorder`: what all recorders have in common.
- :mod:`~windlass.experiment.worlds.cluster.explain.site_watch`: the cores of a site over time, and their holders.
- :mod:`~windlass.experiment.worlds.cluster.explain.attempts`: when batch jobs waited and ran.
- :mod:`~windlass.experiment.worlds.cluster.explain.batch`: batch jobs, with order, share and outages.
- :mod:`~windlass.experiment.worlds.cluster.explain.sharing`: the decisions on sharing that name a batch job.
- :mod:`~windlass.experiment.worlds.cluster.explain.tasks`: short tasks, with dispatch, admission and spilling.
- :mod:`~windlass.experiment.worlds.cluster.explain.worker_watch`: nodes at the arrival of a short task.
- :mod:`~windlass.experiment.worlds.cluster.explain.vectors`: jobs for instances, with scale.
- :mod:`~windlass.experiment.worlds.cluster.explain.staged`: staged jobs, with place.
- :mod:`~windlass.experiment.worlds.cluster.explain.stage_data`: what a stage reads, and where it lies.
- :mod:`~windlass.experiment.worlds.cluster.explain.queries`: streaming queries, with plan.
"""
