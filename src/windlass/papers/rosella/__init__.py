"""Wu and Liu, Rosella.

- :mod:`~windlass.papers.rosella.paper`: the rows and plots, from the parts below.
- :mod:`~windlass.papers.rosella.examples`: the paper's examples with known rates.
- :mod:`~windlass.papers.rosella.table`: Rosella beside all other policies.
- :mod:`~windlass.papers.rosella.grid`: workers that pull beside the best of the others, cell by cell.
- :mod:`~windlass.papers.rosella.growth`: how the longest queue grows with the number of workers.
- :mod:`~windlass.papers.rosella.learning`: what learning costs and gains.
"""
