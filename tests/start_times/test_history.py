"""The state of a site at an instant, against a plain loop."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from windlass.experiment.start_times.history import SiteHistory
from windlass.io.traces import Workload
from windlass.model import InputError, JobTable

TIMES = st.integers(0, 20)


@given(st.lists(st.tuples(TIMES, TIMES, TIMES), min_size=1, max_size=12), TIMES)
def test_the_state_is_that_of_a_plain_loop(jobs, now):
    jobs = sorted(jobs)
    submit, wait, run = (np.array(column, float) for column in zip(*jobs, strict=True))
    table = JobTable.of(submit=submit, run=run, procs=np.ones(len(jobs)))
    history = SiteHistory(Workload(table, 99), submit + wait, submit + wait + run)
    state = history.at(now)
    starts = dict(enumerate(submit + wait))
    running = [row for row in starts if starts[row] < now < starts[row] + run[row]]
    assert sorted(state.running.tolist()) == running
    assert [starts[row] for row in state.running] == sorted(starts[row] for row in running)
    assert state.waiting.tolist() == [row for row in starts if submit[row] <= now <= starts[row]]
    ended = [row for row in starts if starts[row] + run[row] <= now]
    assert sorted(history.ended(now, 99).tolist()) == ended
    last = history.ended(now, 2).tolist()
    assert len(last) == min(2, len(ended))
    ends = sorted((starts[row] + run[row] for row in ended), reverse=True)[:2]
    assert sorted((starts[row] + run[row] for row in last), reverse=True) == ends


@pytest.mark.parametrize(
    ("start", "end", "said"),
    [
        ([0.0], [5.0, 9.0], r"start has shape \(1,\), expected \(2,\)"),
        ([0.0, 3.0], [5.0, 9.0], "job 2, start is 3.0 s, expected submission <= start <= end"),
        ([0.0, 6.0], [5.0, 5.0], "job 2, end is 5.0 s, expected submission"),
        ([np.nan, 6.0], [5.0, 7.0], "job 1, start is nan s, expected submission"),
    ],
)
def test_a_schedule_that_cannot_be_is_rejected(start, end, said):
    jobs = JobTable.of(submit=[0, 4], run=[1, 1], procs=[1, 1])
    with pytest.raises(InputError, match=said):
        SiteHistory(Workload(jobs, 4), np.array(start), np.array(end))


def test_a_job_that_has_not_started_waits_for_ever():
    jobs = JobTable.of(submit=[0, 4], run=[1, 1], procs=[1, 1])
    history = SiteHistory(Workload(jobs, 4), np.array([0.0, np.inf]), np.array([np.inf, np.inf]))
    state = history.at(1e6)
    assert (state.running.tolist(), state.waiting.tolist()) == ([0], [1])
