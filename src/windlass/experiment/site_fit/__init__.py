"""What a log does not state about its site, fitted on one part of the log and judged on the rest.

- :mod:`~windlass.experiment.site_fit.site_rules`: the fitted quantities, and the replay of a log under them.
- :mod:`~windlass.experiment.site_fit.evidence`: what the recorded schedule shows without a replay.
- :mod:`~windlass.experiment.site_fit.accuracy`: how close replayed waits are to the recorded ones.
- :mod:`~windlass.experiment.site_fit.search`: the search, one quantity at a time.
- :mod:`~windlass.experiment.site_fit.gaps`: recorded waits whose cause the log lacks;
  :mod:`~windlass.experiment.site_fit.idle_waiting`: waiting time while enough processors were idle, by its cause.
- :mod:`~windlass.experiment.site_fit.calibrate`: the fit of a log, and its judgement.
- :mod:`~windlass.experiment.site_fit.sentences`: the result in words.
- :mod:`~windlass.experiment.site_fit.site_file`: the fitted site as a scenario.
"""
