"""A node's agent: observes its machine, decides whether it may take one more task now, and says so to whoever asks.

It answers over HTTP, in HAProxy's agent-check protocol, and in Prometheus's format; and it shares what it learned,
never what it measured, with the agents of other machines.

- :mod:`~windlass.agent.options`: what a user may say to it.
- :mod:`~windlass.agent.agent`: all of it together;
  :mod:`~windlass.agent.watch`: observes and decides, step by
  step; :mod:`~windlass.agent.node`: policies as the agent uses them;
  :mod:`~windlass.agent.default`: which it uses where its user names none;
  :mod:`~windlass.agent.guard`: rejects while tasks wait, whatever the policy foresees;
  :mod:`~windlass.agent.signal_board`: what stands until the next step.
- :mod:`~windlass.agent.envelope`: what was learned, as a file and on the wire;
  :mod:`~windlass.agent.state_file`: that file, through restarts and kills.
- :mod:`~windlass.agent.web`: an HTTP server that counts what it refuses;
  :mod:`~windlass.agent.routes`: what it answers; :mod:`~windlass.agent.check`: the second
  port, for HAProxy; :mod:`~windlass.agent.prometheus`: metrics for Prometheus.
- :mod:`~windlass.agent.aggregate`: merges what agents send, and hands it to newcomers;
  :mod:`~windlass.agent.join`: sends it there, and goes on without it;
  :mod:`~windlass.agent.token`: who may.
- :mod:`~windlass.agent.kubernetes`: taints or labels the machine's node, only when told to.
- :mod:`~windlass.agent.stop`: waits that a stop ends.

``web`` and ``shown`` need the extra ``agent``.
"""
