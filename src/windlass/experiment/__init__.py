"""An experiment: a scenario, the world that runs it, and every variant with every seed.

- :mod:`~windlass.experiment.library`: the functions that ``import windlass`` offers.
- :mod:`~windlass.experiment.experiment`: a scenario from its validation to its answer.
- :mod:`~windlass.experiment.answer`, :mod:`~windlass.experiment.judged`: the verdict in words, and results with it.
- :mod:`~windlass.experiment.scenario`: a scenario file, its sweep and its seeds.
- :mod:`~windlass.experiment.worlds`: the clusters that a scenario can name, each composed of parts of the simulator.
- :mod:`~windlass.experiment.workloads`: generators of random arrivals, sizes, sites and whole workloads.
- :mod:`~windlass.experiment.dispatching`: small tasks on many workers, simulated from arguments alone.
- :mod:`~windlass.experiment.runner`: every variant with every seed, in one process or several.
- :mod:`~windlass.experiment.uncut_run`: the run without cutting jobs, on a second core.
- :mod:`~windlass.experiment.checkpoint`: finished runs on disk, from which an interrupted experiment resumes.
- :mod:`~windlass.experiment.recorded`: the schedule that a log recorded, as a result to compare with.
- :mod:`~windlass.experiment.inspection`: what a scenario reads, generates and imports, without a run.
- :mod:`~windlass.experiment.long_form`: all defaults of a scenario, and the cluster that a short form stands for.
- :mod:`~windlass.experiment.finished_run`: the results of an earlier run, and explanations of its jobs' waits.
- :mod:`~windlass.experiment.run_comparison`: two earlier runs of the same jobs, compared in all metrics.
- :mod:`~windlass.experiment.job_name`: the name of a job in the table of such a run.
- :mod:`~windlass.experiment.placement`: the placement of one job over sites.
- :mod:`~windlass.experiment.catalogue`: decisions, policies, priorities, worlds and formats, for listings.
- :mod:`~windlass.experiment.site_fit`: what a log does not state about its site, fitted and judged.
- :mod:`~windlass.experiment.start_times`: when a waiting job will start, with an interval.
- :mod:`~windlass.experiment.gym`: environments for reinforcement learning, and trained agents as policies.
- :mod:`~windlass.experiment.checks`: the checks that every policy must pass, tried in the simulator.
"""
