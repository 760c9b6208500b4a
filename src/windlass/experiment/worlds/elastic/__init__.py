"""Jobs that ask for resource vectors, on instances that come and go.

- :mod:`~windlass.experiment.worlds.elastic.spec`: what a scenario may say.
- :mod:`~windlass.experiment.worlds.elastic.jobs`: the jobs, read or drawn;
  :mod:`~windlass.experiment.worlds.elastic.spot`: what their provider takes.
- :mod:`~windlass.experiment.worlds.elastic.simulation`: one run; :mod:`~windlass.experiment.worlds.elastic.world`: run
  and measured.
"""
