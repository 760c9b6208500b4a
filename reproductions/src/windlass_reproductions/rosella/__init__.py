"""Reproduction of Wu and Liu, "Rosella".

- :mod:`~windlass_reproductions.rosella.paper`: the rows and plots, from the parts below.
- :mod:`~windlass_reproductions.rosella.examples`: the paper's examples with known rates.
- :mod:`~windlass_reproductions.rosella.table`: Rosella compared with all other policies.
- :mod:`~windlass_reproductions.rosella.grid`: policy ``pull`` compared with the best other policy, cell by cell.
- :mod:`~windlass_reproductions.rosella.growth`: how the longest queue grows with the number of workers.
- :mod:`~windlass_reproductions.rosella.learning`: what learning costs and gains.
"""
