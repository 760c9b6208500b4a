"""The demonstration: a simulated cluster as an engine of the control plane, at a chosen speed.

The simulator itself is driven, and its clock waits for the wall clock. The pages therefore show decisions when they are
made, and not a recording.

- :mod:`~windlass.control.demo.engine`: the engine, which runs a cluster scenario.
- :mod:`~windlass.control.demo.observer`: a part of the simulation that reads the others at intervals and waits.
- :mod:`~windlass.control.demo.pace`: simulated time by the wall clock.
- :mod:`~windlass.control.demo.watches`: what runs, waits, started and ended at each site;
  :mod:`~windlass.control.demo.fleet_watches`: the same of loads over all sites.
- :mod:`~windlass.control.demo.predictor`: predicts when waiting batch jobs of a site start.
- :mod:`~windlass.control.demo.machines`: the machines of a site and the cores that loads hold.
- :mod:`~windlass.control.demo.answers`: answers of policies as records of the journal.
"""
