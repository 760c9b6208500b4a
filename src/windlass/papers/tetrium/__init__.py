"""Hung's thesis, chapter 4: Tetrium.

- :mod:`~windlass.papers.tetrium.paper`: the rows and plots, from the parts below.
- :mod:`~windlass.papers.tetrium.examples`: the two worked examples.
- :mod:`~windlass.papers.tetrium.runs`: simulated runs for the figures; :mod:`~windlass.papers.tetrium.rows`: how they
  are judged.
- :mod:`~windlass.papers.tetrium.gains`: how much Tetrium gains; :mod:`~windlass.papers.tetrium.classes`: which jobs and
  sites gain.
- :mod:`~windlass.papers.tetrium.options`: what its options do.
- :mod:`~windlass.papers.tetrium.varied`: what the gains depend on.
- :mod:`~windlass.papers.tetrium.ours`: ours and Tetrium beside delay scheduling, and what nobody can gain.
- :mod:`~windlass.papers.tetrium.verdicts`: whether claims hold.
"""
