"""Instances that are launched and end, and jobs packed on them: the simulation of an autoscaler's cluster.

- :mod:`~windlass.sim.instances.part`: the part, which calls the policy and carries out its answers.
- :mod:`~windlass.sim.instances.fleet`: the behaviour of instances: types, launches, failures, interruptions.
- :mod:`~windlass.sim.instances.state`: instances, jobs and logs as arrays; :mod:`~windlass.sim.instances.setup`: their
  allocation and growth.
- :mod:`~windlass.sim.instances.packing`: the instance on which a job starts; :mod:`~windlass.sim.instances.moves`: jobs
  that start, end and are killed; :mod:`~windlass.sim.instances.lifecycle`: launches, boots and ends of instances.
- :mod:`~windlass.sim.instances.loop`: the compiled event loop; :mod:`~windlass.sim.instances.placing`: the placement of
  waiting jobs; :mod:`~windlass.sim.instances.polling`: calls of the policy between two periodic decisions.
- :mod:`~windlass.sim.instances.needs`: the requests of jobs as numbers of instances;
  :mod:`~windlass.sim.instances.loads`: what batch jobs and short tasks of other parts use and lack.
- :mod:`~windlass.sim.instances.history`: the policy's inputs and answers; :mod:`~windlass.sim.instances.collect`,
  :mod:`~windlass.sim.instances.result`: the result of a run.
"""
