"""Actions of people: requested on a page or by a command, carried out by the process of the engines.

- :mod:`~windlass.control.actions.kinds`: the actions, and what undoes each.
- :mod:`~windlass.control.actions.messages`: requests and replies.
- :mod:`~windlass.control.actions.channel`: a Unix socket next to the journal, on which requests are sent.
- :mod:`~windlass.control.actions.tokens`: the named tokens that may act.
- :mod:`~windlass.control.actions.job_control`: the protocol of an engine that lets people hold and release jobs.
"""
