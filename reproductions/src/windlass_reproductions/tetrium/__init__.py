"""Reproduction of Hung's thesis, chapter 4: Tetrium.

- :mod:`~windlass_reproductions.tetrium.paper`: the rows and plots, from the parts below.
- :mod:`~windlass_reproductions.tetrium.examples`: the two worked examples.
- :mod:`~windlass_reproductions.tetrium.runs`: simulated runs for the figures;
  :mod:`~windlass_reproductions.tetrium.rows`: how their rows are made.
- :mod:`~windlass_reproductions.tetrium.gains`: Tetrium's gains; :mod:`~windlass_reproductions.tetrium.classes`:
  gains by class of jobs and sites.
- :mod:`~windlass_reproductions.tetrium.options`: the effect of its options.
- :mod:`~windlass_reproductions.tetrium.varied`: the gains with the setting varied.
- :mod:`~windlass_reproductions.tetrium.delay_scheduling`: ``gather`` and Tetrium compared with delay scheduling,
  and the largest possible gain.
- :mod:`~windlass_reproductions.tetrium.verdicts`: the criteria of the figures' claims.
"""
