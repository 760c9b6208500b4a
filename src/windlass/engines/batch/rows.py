"""What a book of a batch system's jobs keeps of each."""

from __future__ import annotations

import numpy as np

#: States of a job: it waits; it rests, as the system did not start it when told to; it was let go and is not yet seen
#: to run; it runs; it has ended or was cancelled.
WAITS, RESTS, RELEASED, RUNS, OVER = range(5)

ROW = np.dtype(
    [
        *((name, np.int64) for name in ("job", "procs", "state", "why", "refusals", "host", "guest")),
        *((name, np.float64) for name in ("submit", "request", "note", "expected_end", "wakes")),
        *((name, np.float64) for name in ("released", "start", "end")),
        *((name, np.bool_) for name in ("ours", "cancelled")),
    ]
)
#: What a job forgets when it waits anew.
UNKNOWN = ("note", "expected_end", "wakes", "released", "start", "end")
#: No job's row.
NOBODY = -1
