"""The agent's policy where its user names none: this is the one place to change it.

``forewarn`` is the one that is up before onsets more often than at other times, on all that was looked at
(docs/admit.md). It keeps to a budget of 5 %; contention that lasts is the guard's.
"""

POLICY = "forewarn"
