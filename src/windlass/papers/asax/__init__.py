"""ASAx (Souza, Pelckmans and Tordsson, 2024): jobs that share allocations, in the simulator.

- :mod:`~windlass.papers.asax.paper`: the rows and plots, from the parts below.
- :mod:`~windlass.papers.asax.mix`: the 45 jobs.
- :mod:`~windlass.papers.asax.runs`: all policies on the same draws of them.
- :mod:`~windlass.papers.asax.tables`: Tables 2 and 3, and what they say of each other.
- :mod:`~windlass.papers.asax.theorem`: Theorem 1, in random runs and where losses turn.
- :mod:`~windlass.papers.asax.on_slurm`: real programs on a real Slurm.
- :mod:`~windlass.papers.asax.beside`: what those runs say of each other.
"""
