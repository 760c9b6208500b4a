"""Reference implementations for tests: slow, plain and independent of the code that they check.

- :mod:`tests.oracles.validator`: check that a finished schedule is possible.
- :mod:`tests.oracles.ledger`: check that it is possible on given nodes with given outages.
- :mod:`tests.oracles.service`: check in exact numbers that each task on those nodes received its work.
- :mod:`tests.oracles.engine`: an event loop in plain Python, for any rule that chooses jobs.
- :mod:`tests.oracles.naive`: the ordering policies, implemented from their definitions.
- :mod:`tests.oracles.byhand`: run a policy of Windlass through that loop, step by step.
- :mod:`tests.oracles.queries`: streaming queries under the decisions of a planner, query by query and frame by frame.
- :mod:`tests.oracles.cluster`, :mod:`tests.oracles.cluster_loads`: check the log of one cluster of all kinds of parts.
- :mod:`tests.oracles.workloads`: small random and fixed workloads with edge cases.
"""
