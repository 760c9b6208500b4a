"""ASAx (Souza, Pelckmans and Tordsson, 2024): jobs that share allocations, in the simulator.

- :mod:`~windlass_reproductions.asax.paper`: the rows and plots, from the parts below.
- :mod:`~windlass_reproductions.asax.mix`: the 45 jobs.
- :mod:`~windlass_reproductions.asax.runs`: all policies on the same draws of them.
- :mod:`~windlass_reproductions.asax.tables`: Tables 2 and 3, and what they say of each other.
- :mod:`~windlass_reproductions.asax.theorem`: Theorem 1, in random runs and where losses turn.
- :mod:`~windlass_reproductions.asax.on_slurm`: real programs on a real Slurm.
- :mod:`~windlass_reproductions.asax.beside`: what those runs say of each other.
"""
