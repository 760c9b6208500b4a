"""Parts that several planners share.

- :mod:`~windlass.plan.lib.compact`: configurations without unused resources, and the undominated ones.
- :mod:`~windlass.plan.lib.problem`: queries, configurations and capacities as flat arrays.
- :mod:`~windlass.plan.lib.fair`: equal shares of every resource for its users.
- :mod:`~windlass.plan.lib.greedy`: the thesis's greedy algorithm, within the Pareto band.
- :mod:`~windlass.plan.lib.prices`: prices of resources from the linear relaxation;
  :mod:`~windlass.plan.lib.search`: single and paired switches; :mod:`~windlass.plan.lib.refine`: both
  together.
- :mod:`~windlass.plan.lib.keep`: few changes to running queries; :mod:`~windlass.plan.lib.merge`: shared
  work.
- :mod:`~windlass.plan.lib.program`: the binary program for HiGHS;
  :mod:`~windlass.plan.lib.restricted`: the same on few configurations of each query;
  :mod:`~windlass.plan.lib.shared_program`: the program in which equal work counts once;
  :mod:`~windlass.plan.lib.refine_shared`: plans near its optimum.
- :mod:`~windlass.plan.lib.storm`: planning on one pool of cores, then placing once.
- :mod:`~windlass.plan.lib.places`: selection of configurations by placement.
- :mod:`~windlass.plan.lib.answer`: choices as a :class:`~windlass.plan.view.Plan` with reasons.
"""
