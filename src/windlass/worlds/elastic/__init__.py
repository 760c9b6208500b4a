"""Jobs that ask for resource vectors, on instances that come and go.

- :mod:`~windlass.worlds.elastic.spec`: what a scenario may say.
- :mod:`~windlass.worlds.elastic.jobs`: the jobs, read or drawn; :mod:`~windlass.worlds.elastic.spot`: what their
  provider takes.
- :mod:`~windlass.worlds.elastic.runs`: one run; :mod:`~windlass.worlds.elastic.world`: run and measured.
"""
