"""Checks that hold for the log of every engine, independent of the engines."""

import numpy as np

CLOSE = 1e-6


def stage_of(jobs):
    return np.repeat(np.arange(len(jobs.tasks)), jobs.tasks)


def every_task_ran(run):
    """Check that every task ran to its end, at a site, after its job arrived."""
    assert np.isfinite(run.computed).all()
    assert ((run.site >= 0) & (run.site < len(run.fleet))).all()
    assert (run.begun <= run.read + CLOSE).all()
    assert (run.read <= run.computed + CLOSE).all()
    assert (run.begun >= run.jobs.submit[run.jobs.job[stage_of(run.jobs)]] - CLOSE).all()


def jobs_end_with_their_last_task(run, late=CLOSE):
    """``late``: the largest delay (s) between a task's end and its notice by the engine."""
    last = np.zeros(len(run.jobs))
    np.maximum.at(last, run.jobs.job[stage_of(run.jobs)], run.computed)
    assert (run.end >= last - CLOSE).all()
    assert (run.end <= last + late).all()


def no_site_is_over_its_slots(run):
    for site in range(len(run.fleet)):
        here = run.site == site
        steps = sorted([(time, -1) for time in run.computed[here]] + [(time, 1) for time in run.begun[here]])
        assert max(np.cumsum([step for _, step in steps]), default=0) <= run.fleet.slots[site]


def stages_follow_each_other(run):
    """Check that a stage begins after the stages that it reads have ended."""
    stage, jobs = stage_of(run.jobs), run.jobs
    begun, ended = np.full(len(jobs.tasks), np.inf), np.zeros(len(jobs.tasks))
    np.minimum.at(begun, stage, run.begun)
    np.maximum.at(ended, stage, run.computed)
    for parent in range(len(jobs.tasks)):
        for child in jobs.children[jobs.child_at[parent] : jobs.child_at[parent + 1]]:
            assert begun[child] >= ended[parent] - CLOSE


def decisions_were_carried_out(run, decisions):
    """Check that the tasks run at each site equal the decisions, and that every decision fits the policy's view."""
    decided = np.zeros((len(run.jobs), len(run.fleet)), int)
    for view, answer in decisions:
        taken = np.zeros(len(run.fleet), int)
        for row, _, site, tasks in answer.starts.tolist():
            decided[view.ready.job[row], site] += tasks
            taken[site] += tasks
        assert (taken <= view.sites.free).all()
        assert (view.sites.free <= view.sites.slots).all()
        assert len(answer.why) == len(answer.starts)
    ran = np.zeros_like(decided)
    np.add.at(ran, (run.jobs.job[stage_of(run.jobs)], run.site), 1)
    return decided, ran


def bytes_add_up(run):
    """Check that the bytes sent by jobs equal those carried between sites, and that no site sends to itself."""
    np.testing.assert_allclose(run.sent.sum(), run.carried.sum())
    assert (np.diag(run.carried) == 0).all()
