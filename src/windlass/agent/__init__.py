"""The node agent: it observes its machine and reports whether the machine may take one more task now.

It answers over HTTP, in HAProxy's agent-check protocol, and in Prometheus's format. It shares what it learned, but
never its measurements, with the agents of other machines.

- :mod:`~windlass.agent.options`: the options of an agent and an aggregator.
- :mod:`~windlass.agent.agent`: the whole agent; :mod:`~windlass.agent.watch`: its loop, which observes and decides;
  :mod:`~windlass.agent.node`: policies as used by the agent;
  :mod:`~windlass.agent.default`: the default policy;
  :mod:`~windlass.agent.guard`: rejects tasks while CPU Ready is high, whatever the policy predicts;
  :mod:`~windlass.agent.signal_board`: the current decision.
- :mod:`~windlass.agent.envelope`: learned state as a file and as a message;
  :mod:`~windlass.agent.state_file`: that file, which survives restarts and kills.
- :mod:`~windlass.agent.web`: an HTTP server that counts rejected requests;
  :mod:`~windlass.agent.routes`: its pages; :mod:`~windlass.agent.check`: the second
  port, for HAProxy; :mod:`~windlass.agent.prometheus`: metrics for Prometheus.
- :mod:`~windlass.agent.aggregate`: merges what agents send, and returns it to new agents;
  :mod:`~windlass.agent.join`: an agent's connection to an aggregator;
  :mod:`~windlass.agent.token`: the shared secret that admits agents.
- :mod:`~windlass.agent.kubernetes`: taints or labels the machine's Kubernetes node, if enabled.
- :mod:`~windlass.agent.stop`: interruptible waits and retry delays.

``web`` and ``prometheus`` need the extra ``agent``.
"""
