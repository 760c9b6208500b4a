"""Rigid parallel jobs on one site.

- :mod:`~windlass.worlds.batch.spec`: what a scenario may say.
- :mod:`~windlass.worlds.batch.jobs`: the jobs read or drawn, and as a table.
- :mod:`~windlass.worlds.batch.estimates`: how long jobs are expected to run.
- :mod:`~windlass.worlds.batch.logged`: the log as it was.
- :mod:`~windlass.worlds.batch.explained`: what one job waited for.
- :mod:`~windlass.worlds.batch.resources`: what jobs ask for beside processors, and which resource binds.
- :mod:`~windlass.worlds.batch.pools`: GPUs and memory that jobs wait for.
- :mod:`~windlass.worlds.batch.partitions`: jobs bound to partitions, each replayed by itself.
- :mod:`~windlass.worlds.batch.world`: the jobs replayed, measured.
"""
