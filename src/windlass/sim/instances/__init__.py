"""Instances that come and go, and jobs with resource vectors packed on them: where an autoscaler acts.

- :mod:`~windlass.sim.instances.part`: asks every period how many instances there should be, and lets it be so.
- :mod:`~windlass.sim.instances.fleet`: how instances behave: types, launches, failures, interruptions.
- :mod:`~windlass.sim.instances.state`: instances, jobs and logs as arrays; :mod:`~windlass.sim.instances.setup`: before
  anything happens, and with more room.
- :mod:`~windlass.sim.instances.packing`: which instance has room for a job; :mod:`~windlass.sim.instances.moves`: jobs
  that start, end and are lost; :mod:`~windlass.sim.instances.lifecycle`: instances that start, are up and go.
- :mod:`~windlass.sim.instances.loop`: the compiled loop over its instants; :mod:`~windlass.sim.instances.polling`: when
  the policy is asked between two decisions; :mod:`~windlass.sim.instances.placing`: who of those that wait starts.
- :mod:`~windlass.sim.instances.needs`: what jobs need, as numbers of instances.
- :mod:`~windlass.sim.instances.history`: what the autoscaler was shown and answered;
  :mod:`~windlass.sim.instances.collect`, :mod:`~windlass.sim.instances.result`: what happened.
"""
