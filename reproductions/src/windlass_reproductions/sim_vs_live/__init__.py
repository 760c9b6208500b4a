"""Simulated runs compared with real runs of the same workloads: fleets on Ray, and jobs of one site on Slurm.

- :mod:`~windlass_reproductions.sim_vs_live.cases`: the workloads on Ray, and the calibration of the simulator.
- :mod:`~windlass_reproductions.sim_vs_live.paper`: both runs of each of them, compared.
- :mod:`~windlass_reproductions.sim_vs_live.site_case`: jobs of one site, observations of them, and their simulation.
- :mod:`~windlass_reproductions.sim_vs_live.delayed`: the live engine in virtual time, with starts and ends reported as
  late as on a real system.
- :mod:`~windlass_reproductions.sim_vs_live.on_slurm`: both runs of these jobs, compared.
- :mod:`~windlass_reproductions.sim_vs_live.verdicts`: criteria of agreement.
"""
