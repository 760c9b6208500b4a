"""The same workloads simulated and for real: on Ray, and the jobs of one site on Slurm.

- :mod:`~windlass_reproductions.sim_vs_live.cases`: the workloads of Ray.
- :mod:`~windlass_reproductions.sim_vs_live.paper`: both runs of each, side by side.
- :mod:`~windlass_reproductions.sim_vs_live.site_case`: jobs of one site, what was seen of them, and the same simulated.
- :mod:`~windlass_reproductions.sim_vs_live.as_told`: the same engine in virtual time, told of starts as late as a real
  one.
- :mod:`~windlass_reproductions.sim_vs_live.on_slurm`: both runs of these;
  :mod:`~windlass_reproductions.sim_vs_live.verdicts`: whether they agree.
"""
