"""Second opinions for tests: what is written here is slow, plain and independent of the code it judges.

- :mod:`tests.oracles.validator`: is this finished schedule possible at all?
- :mod:`tests.oracles.ledger`: is it possible on these nodes, with these outages?
- :mod:`tests.oracles.service`: did each task on those nodes get its work, in exact numbers?
- :mod:`tests.oracles.engine`: an event loop in plain Python, for any rule that chooses jobs.
- :mod:`tests.oracles.naive`: the ordering policies, from their definitions.
- :mod:`tests.oracles.byhand`: a policy of Windlass driven through that loop, step by step.
- :mod:`tests.oracles.queries`: streaming queries under a planner's answers, followed one by one, and single frames.
- :mod:`tests.oracles.workloads`: small nasty workloads, drawn and fixed.
"""
