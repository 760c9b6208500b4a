"""A queue of HTCondor, whose held jobs are released in the order of a policy.

- :mod:`~windlass.engines.htcondor.client`: the client of HTCondor's commands.
- :mod:`~windlass.engines.htcondor.models`: jobs and slots; :mod:`~windlass.engines.htcondor.reader`: their attributes.
- :mod:`~windlass.engines.htcondor.site`: the queue that :mod:`windlass.engines.batch.holds` drives.

``docs/htcondor.md`` documents its use and its guarantees.
"""
