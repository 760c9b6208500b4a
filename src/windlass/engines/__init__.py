"""Real engines that carry out the decisions of policies.

- :mod:`~windlass.engines.address`: validation of hosts and ports that users give.
- :mod:`~windlass.engines.backoff`: delays between retries, for engines and the agent.
- :mod:`~windlass.engines.batch`: jobs of one site on a batch system, started in a policy's order.
- :mod:`~windlass.engines.worker_pool`: runs the cells of a simulated scenario in processes or on a Ray cluster.
- :mod:`~windlass.engines.elastic`: a cluster with a number of instances that a policy sets.
- :mod:`~windlass.engines.htcondor`: queues of HTCondor, and :mod:`~windlass.engines.pbs`: queues of OpenPBS.
- :mod:`~windlass.engines.http`: HTTP without redirects, for Kubernetes and the agent.
- :mod:`~windlass.engines.kubernetes`: such a cluster, with spare instances requested through the API server; Jobs as a
  batch system.
- :mod:`~windlass.engines.linux`: CPU quotas and usage of a job's processes, by cgroups; telemetry.
- :mod:`~windlass.engines.live`: jobs over sites on any executor: the simulator's workloads with real tasks.
- :mod:`~windlass.engines.loop_health`: whether the loop of a driver makes progress.
- :mod:`~windlass.engines.prometheus`: metrics and health of a driver over HTTP.
- :mod:`~windlass.engines.ray`: an executor on a Ray cluster with nodes labelled by ``site``.
- :mod:`~windlass.engines.serve`: a request router for Ray Serve.
- :mod:`~windlass.engines.slurm`: Slurm as a batch system, by its own commands.
- :mod:`~windlass.engines.streams`: streaming queries over tiers of clusters, planned again after each change.
- :mod:`~windlass.engines.targets`: the live engine that a command selects, and executors on it.

An engine makes no decisions: :func:`windlass.drive.drive` calls a policy, and the engine carries out the answer.
``docs/add-an-engine.md`` shows how to add an engine.
"""
