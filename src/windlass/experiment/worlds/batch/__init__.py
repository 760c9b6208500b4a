"""Rigid parallel jobs on one site.

- :mod:`~windlass.experiment.worlds.batch.spec`: the fields of a scenario.
- :mod:`~windlass.experiment.worlds.batch.jobs`: jobs read from a log or generated, and the table of a run's jobs.
- :mod:`~windlass.experiment.worlds.batch.estimates`: estimated run times.
- :mod:`~windlass.experiment.worlds.batch.recorded`: the log's own schedule.
- :mod:`~windlass.experiment.worlds.batch.explainer`: explains one job's wait.
- :mod:`~windlass.experiment.worlds.batch.resources`: requests for GPUs and memory, and the bottleneck resource.
- :mod:`~windlass.experiment.worlds.batch.pools`: GPUs and memory as pools that jobs wait for.
- :mod:`~windlass.experiment.worlds.batch.partitions`: jobs bound to partitions, each partition replayed separately.
- :mod:`~windlass.experiment.worlds.batch.world`: replays and measures the jobs.
"""
