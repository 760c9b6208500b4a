"""What planners share.

- :mod:`~windlass.plan.lib.problem`: queries, configurations and capacities as a few flat arrays.
- :mod:`~windlass.plan.lib.fair`: the same part of everything for everybody.
- :mod:`~windlass.plan.lib.greedy`: the greedy of the thesis, within the Pareto band.
- :mod:`~windlass.plan.lib.prices`: what resources are worth, by the linear relaxation;
  :mod:`~windlass.plan.lib.search`: switches and pairs of them; :mod:`~windlass.plan.lib.refine`: both together.
- :mod:`~windlass.plan.lib.keep`: few changes of what runs; :mod:`~windlass.plan.lib.merge`: common work done once.
- :mod:`~windlass.plan.lib.program`: the binary program, as HiGHS takes it.
- :mod:`~windlass.plan.lib.storm`: one pool of cores.
- :mod:`~windlass.plan.lib.places`: configurations by where they run.
- :mod:`~windlass.plan.lib.answer`: choices as a :class:`~windlass.plan.view.Plan`, with true reasons.
"""
