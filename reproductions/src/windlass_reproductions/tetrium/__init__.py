"""Hung's thesis, chapter 4: Tetrium.

- :mod:`~windlass_reproductions.tetrium.paper`: the rows and plots, from the parts below.
- :mod:`~windlass_reproductions.tetrium.examples`: the two worked examples.
- :mod:`~windlass_reproductions.tetrium.runs`: simulated runs for the figures;
  :mod:`~windlass_reproductions.tetrium.rows`: how they are judged.
- :mod:`~windlass_reproductions.tetrium.gains`: how much Tetrium gains; :mod:`~windlass_reproductions.tetrium.classes`:
  which jobs and sites gain.
- :mod:`~windlass_reproductions.tetrium.options`: what its options do.
- :mod:`~windlass_reproductions.tetrium.varied`: what the gains depend on.
- :mod:`~windlass_reproductions.tetrium.ours`: ours and Tetrium beside delay scheduling, and what nobody can gain.
- :mod:`~windlass_reproductions.tetrium.verdicts`: whether claims hold.
"""
