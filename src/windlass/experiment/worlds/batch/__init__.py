"""Rigid parallel jobs on one site.

- :mod:`~windlass.experiment.worlds.batch.spec`: what a scenario may say.
- :mod:`~windlass.experiment.worlds.batch.jobs`: the jobs read or drawn, and as a table.
- :mod:`~windlass.experiment.worlds.batch.estimates`: how long jobs are expected to run.
- :mod:`~windlass.experiment.worlds.batch.recorded`: the log as it was.
- :mod:`~windlass.experiment.worlds.batch.explainer`: what one job waited for.
- :mod:`~windlass.experiment.worlds.batch.resources`: what jobs ask for beside processors, and which resource binds.
- :mod:`~windlass.experiment.worlds.batch.pools`: GPUs and memory that jobs wait for.
- :mod:`~windlass.experiment.worlds.batch.partitions`: jobs bound to partitions, each replayed by itself.
- :mod:`~windlass.experiment.worlds.batch.world`: the jobs replayed, measured.
"""
