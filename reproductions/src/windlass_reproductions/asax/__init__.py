"""ASAx (Souza, Pelckmans and Tordsson, 2024): jobs that share allocations, in the simulator and on Slurm.

- :mod:`~windlass_reproductions.asax.paper`: all rows and pictures, from the modules below.
- :mod:`~windlass_reproductions.asax.mix`: the workload of 45 jobs.
- :mod:`~windlass_reproductions.asax.runs`: simulations of all policies on the same draws of the jobs.
- :mod:`~windlass_reproductions.asax.tables`: Tables 2 and 3, and comparisons of policies.
- :mod:`~windlass_reproductions.asax.ablation`: the makespan, and the effect of learning.
- :mod:`~windlass_reproductions.asax.theorem`: Theorem 1, on random losses and on losses that reverse.
- :mod:`~windlass_reproductions.asax.on_slurm`: real programs on a real Slurm.
- :mod:`~windlass_reproductions.asax.slurm_results`: rows and comparisons of the runs on Slurm.
"""
