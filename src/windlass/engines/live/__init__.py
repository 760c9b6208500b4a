"""Jobs over sites on any executor: the engine, its book of tasks, data and workers, and what tasks do.

- :mod:`~windlass.engines.live.run`: all of it, from one call.
- :mod:`~windlass.engines.live.engine`: waits, shows a view, carries out the answer, and logs what happened.
- :mod:`~windlass.engines.live.transfers`: what is sent to which worker, what is under way, what is sent once more.
- :mod:`~windlass.engines.live.book`: which tasks wait, run and have ended, where data lies; checks an answer.
- :mod:`~windlass.engines.live.recovery`: what is undone in the book when a task fails or a worker is gone.
- :mod:`~windlass.engines.live.result`: what happened, as the simulator tells it, and the results of real work.
- :mod:`~windlass.engines.live.executor`: the protocol that a cluster's executor keeps: launches in, events out.
- :mod:`~windlass.engines.live.program`: what the tasks of each stage do, and where their input comes from.
- :mod:`~windlass.engines.live.work`: what one task does on a worker: hold, call, run a command, make or read input.
- :mod:`~windlass.engines.live.functions`: the function that ``./file.py:name`` in a scenario means.
- :mod:`~windlass.engines.live.wan`: emulated links between sites that are not truly apart.
"""
