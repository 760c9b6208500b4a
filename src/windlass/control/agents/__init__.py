"""Node agents as an engine of the control plane: what `windlass agent run` decides on each machine.

- :mod:`~windlass.control.agents.reading`: what an agent answers.
- :mod:`~windlass.control.agents.engine`: the engine, which reads agents and changes nothing.
- :mod:`~windlass.control.agents.observer`: what it reads, as rows of the journal.
"""
