"""Jobs that request resource vectors, on cloud instances.

- :mod:`~windlass.experiment.worlds.elastic.spec`: the fields of a scenario.
- :mod:`~windlass.experiment.worlds.elastic.jobs`: jobs, read or generated;
  :mod:`~windlass.experiment.worlds.elastic.spot`: instances and interruptions by the provider.
- :mod:`~windlass.experiment.worlds.elastic.simulation`: one run; :mod:`~windlass.experiment.worlds.elastic.world`: runs
  and measures the jobs; :mod:`~windlass.experiment.worlds.elastic.need`: instances and need over time.
"""
