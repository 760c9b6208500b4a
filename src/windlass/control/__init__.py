"""The control plane: engines that run for months, the journal of what they decide, and pages that show it.

- :mod:`~windlass.control.serve`: engines in threads and the pages in a second process, until a stop is requested.
- :mod:`~windlass.control.engine`: the protocol of an engine.
- :mod:`~windlass.control.supervisor`: runs engines, pauses them, and records their conditions.
- :mod:`~windlass.control.action_service`: carries out what people request; :mod:`~windlass.control.actions`: requests;
  :mod:`~windlass.control.left_actions`: outcomes of those that a killed process has left.
- :mod:`~windlass.control.pages_process`: the process of the pages, restarted if it ends.
- :mod:`~windlass.control.site_status`: the state of a site, the content of a view.
- :mod:`~windlass.control.predicted_starts`: which jobs are predicted again, and how predictions are scored.
- :mod:`~windlass.control.summary`: what runs and what waits now; :mod:`~windlass.control.words`: times in words.
- :mod:`~windlass.control.what_if`: replays of a site's queue from its state in the journal;
  :mod:`~windlass.control.last_day`: of its last day.
- :mod:`~windlass.control.top`: the same in a terminal.
- :mod:`~windlass.control.cluster_file`: the file that lists the engines of a live cluster;
  :mod:`~windlass.control.engine_file`: that of one engine, as commands print it.
- :mod:`~windlass.control.demo`: a simulated cluster as an engine; :mod:`~windlass.control.slurm`: a live Slurm;
  :mod:`~windlass.control.scaling`: a live cluster of instances; :mod:`~windlass.control.agents`: node agents;
  :mod:`~windlass.control.held_queue`: a queue of OpenPBS or HTCondor, for its command only.
- :mod:`~windlass.control.hurry`: the end of patience at a second signal; :mod:`~windlass.control.taken_over`: held jobs
  that a driver takes over from another one.
- :mod:`~windlass.control.web`: the pages; :mod:`~windlass.control.mcp`: the same for programs that converse.
- :mod:`~windlass.control.journal`: one SQLite file of views, decisions, acts, actions and events.
"""
