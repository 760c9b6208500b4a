"""The agent's default policy, defined only here.

``forewarn`` is the only policy with a signal that rises before onsets more often than at other times, on all
recordings examined (docs/admit.md). It keeps to a budget of 5 %; the guard handles lasting contention.
"""

POLICY = "forewarn"
