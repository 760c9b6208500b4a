"""When will a waiting job start? Predicted starts with intervals, from replays of the site's state.

- :mod:`~windlass.experiment.start_times.history`: jobs with their starts and ends, and the site at an instant.
- :mod:`~windlass.experiment.start_times.run_times`: run times drawn from similar jobs.
- :mod:`~windlass.experiment.start_times.replays`: replays with drawn run times and arrivals.
- :mod:`~windlass.experiment.start_times.calibration`: intervals that contain the stated share of starts.
- :mod:`~windlass.experiment.start_times.start_check`: predictions at earlier instants, and how good they were.
- :mod:`~windlass.experiment.start_times.proposed`: a job that might be submitted.
- :mod:`~windlass.experiment.start_times.question`: the answer for a job of a log, or for one that might be submitted.
- :mod:`~windlass.experiment.start_times.alternatives`: starts under other policies and sizes, in the same draws.
- :mod:`~windlass.experiment.start_times.fidelity`: the recent past replayed, compared with what happened.
- :mod:`~windlass.experiment.start_times.live`: the history of a live Slurm.
- :mod:`~windlass.experiment.start_times.sentences`: the answer in words.
"""
