"""A node's agent: observes its machine, decides whether it may take one more task now, and says so to whoever asks.

It answers over HTTP, in HAProxy's agent-check protocol, and in Prometheus's format; and it shares what it learned,
never what it measured, with the agents of other machines.

- :mod:`~windlass.engines.linux.agent.options`: what a user may say to it.
- :mod:`~windlass.engines.linux.agent.agent`: all of it together;
  :mod:`~windlass.engines.linux.agent.watch`: observes and decides, step by
  step; :mod:`~windlass.engines.linux.agent.node`: policies as the agent uses them;
  :mod:`~windlass.engines.linux.agent.default`: which it uses where its user names none;
  :mod:`~windlass.engines.linux.agent.guard`: rejects while tasks wait, whatever the policy foresees;
  :mod:`~windlass.engines.linux.agent.standing`: what stands until the next step.
- :mod:`~windlass.engines.linux.agent.envelope`: what was learned, as a file and on the wire;
  :mod:`~windlass.engines.linux.agent.keeper`: that file, through restarts and kills.
- :mod:`~windlass.engines.linux.agent.web`: an HTTP server that counts what it refuses;
  :mod:`~windlass.engines.linux.agent.routes`: what it answers; :mod:`~windlass.engines.linux.agent.check`: the second
  port, for HAProxy; :mod:`~windlass.engines.linux.agent.shown`: metrics for Prometheus.
- :mod:`~windlass.engines.linux.agent.aggregate`: merges what agents send, and hands it to newcomers;
  :mod:`~windlass.engines.linux.agent.join`: sends it there, and goes on without it;
  :mod:`~windlass.engines.linux.agent.token`: who may.
- :mod:`~windlass.engines.linux.agent.kubernetes`: taints or labels the machine's node, only when told to.
- :mod:`~windlass.engines.linux.agent.pauses`: waits that a stop ends.

``web`` and ``shown`` need the extra ``agent``.
"""
