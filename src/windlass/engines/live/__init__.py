"""Jobs over the sites of a fleet on any executor: the engine, its book of tasks, data and workers, and their work.

- :mod:`~windlass.engines.live.run`: a whole run in one call.
- :mod:`~windlass.engines.live.engine`: the engine, which waits, shows a view, carries out the answer and logs events.
- :mod:`~windlass.engines.live.transfers`: launches and transfers that are in progress, and their retries.
- :mod:`~windlass.engines.live.book`: the state of tasks and the location of data; it checks answers.
- :mod:`~windlass.engines.live.recovery`: the changes to the book when a task fails or a worker is lost.
- :mod:`~windlass.engines.live.result`: the outcome in the simulator's form, and the results of real work.
- :mod:`~windlass.engines.live.executor`: the protocol of a cluster's executor: it launches tasks and returns events.
- :mod:`~windlass.engines.live.program`: the work of each stage's tasks, and the source of their input.
- :mod:`~windlass.engines.live.work`: the work of one task on a worker: hold a slot, call a function, run a command.
- :mod:`~windlass.engines.live.functions`: loads the function that ``./file.py:name`` in a scenario names.
- :mod:`~windlass.engines.live.wan`: emulated links between sites on one network.
"""
