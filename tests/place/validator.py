"""Checks a log of the simulated fleet, written apart from it: slots, links, bytes, order of events."""

import numpy as np

CLOSE = 1e-6


def tasks_stage(jobs):
    return np.repeat(np.arange(len(jobs.tasks)), jobs.tasks)


def check_tasks(run, changes=None):
    """Every task ran once, read before it computed, at a site that exists, and no site over its slots."""
    jobs, fleet = run.jobs, run.fleet
    stage = tasks_stage(jobs)
    assert np.isfinite(run.computed).all()
    assert (run.begun <= run.read).all()
    assert (run.begun >= jobs.submit[jobs.job[stage]]).all()
    np.testing.assert_allclose(run.computed - run.read, jobs.duration, rtol=1e-9, atol=1e-6)
    for site in range(len(fleet)):
        here = run.site == site
        instants = [(time, 1, 1) for time in run.begun[here]] + [(time, 0, -1) for time in run.computed[here]]
        if changes is not None:
            instants += [
                (time, -1, slots)
                for time, own, slots in zip(changes.time, changes.site, changes.slots, strict=True)
                if own == site
            ]
        room, held = fleet.slots[site], 0
        for _, kind, amount in sorted(instants):
            if kind == -1:
                room = amount
                continue
            held += amount
            # A drop takes slots as tasks end, so more may be held than there are, but none begins then.
            assert amount < 0 or held <= room, f"site {site}: {held} tasks in {room} slots"
        assert held == 0


def check_order(run):
    """A shuffle begins when its parents have ended; a job ends with its last task."""
    jobs = run.jobs
    stage = tasks_stage(jobs)
    begun = np.full(len(jobs.tasks), np.inf)
    ended = np.zeros(len(jobs.tasks))
    np.minimum.at(begun, stage, run.begun)
    np.maximum.at(ended, stage, run.computed)
    for parent in range(len(jobs.tasks)):
        for child in jobs.children[jobs.child_at[parent] : jobs.child_at[parent + 1]]:
            assert begun[child] >= ended[parent]
    last = np.zeros(len(jobs))
    np.maximum.at(last, jobs.job, ended)
    np.testing.assert_array_equal(last, run.end)


def expected_bytes(run):
    """(n, n) bytes that tasks had to read between sites, from where they ran; moves ahead of tasks left out."""
    jobs, n = run.jobs, len(run.fleet)
    sent = np.zeros((n, n))
    written = np.zeros((len(jobs.tasks), n))
    for row in range(len(jobs.tasks)):
        out = np.zeros(n)
        for task in range(jobs.first[row], jobs.first[row + 1]):
            y = run.site[task]
            if jobs.shuffles[row]:
                part = jobs.size[task] / jobs.tasks[row]
                sent[:, y] += written[row] * part
                out[y] += written[row].sum() * part
            else:
                sent[run.source[task], y] += jobs.task_bytes[row]
                out[y] += jobs.task_bytes[row]
        for child in jobs.children[jobs.child_at[row] : jobs.child_at[row + 1]]:
            written[child] += out * jobs.ratio[row]
    np.fill_diagonal(sent, 0.0)
    return sent


def check_bytes(run, exact=True, moves=False):
    """What was to be read was carried: by the reads, by their totals a job, and by the rates over time."""
    n = len(run.fleet)
    carried = np.zeros((n, n))
    start, end, amount, source, site, _ = run.flows.T
    assert (end >= start - CLOSE).all()
    np.add.at(carried, (source.astype(int), site.astype(int)), amount)
    if not moves:
        np.testing.assert_allclose(carried, expected_bytes(run), rtol=1e-9, atol=1.0)
    np.testing.assert_allclose(carried.sum(), run.sent.sum(), rtol=1e-9, atol=1.0)
    np.testing.assert_allclose(carried, run.carried, rtol=1e-9, atol=1.0)
    times, rates = rate_course(run)
    over_time = (
        (rates * np.diff(np.append(times, times[-1]))[:, None, None]).sum(axis=0) if len(times) else carried
    )
    if exact:
        np.testing.assert_allclose(over_time, carried, rtol=1e-6, atol=10.0)
    else:
        assert (over_time >= carried * (1 - 1e-6) - 10.0).all()


def rate_course(run):
    """Instants, and (r, n, n) bytes/s of each pair from each on."""
    n = len(run.fleet)
    if not len(run.rates):
        return np.empty(0), np.empty((0, n, n))
    table = run.rates.reshape(-1, n * n, 4)
    return table[:, 0, 0], table[:, :, 3].reshape(-1, n, n)


def check_links(run, changes=None):
    """No link carries more than it can at any instant."""
    up, down = run.fleet.up.copy(), run.fleet.down.copy()
    times, rates = rate_course(run)
    coming = 0
    for time, rate in zip(times, rates, strict=True):
        while changes is not None and coming < len(changes.time) and changes.time[coming] <= time:
            site = changes.site[coming]
            up[site], down[site] = changes.up[coming], changes.down[coming]
            coming += 1
        assert (rate.sum(axis=1) <= up * (1 + CLOSE) + CLOSE).all()
        assert (rate.sum(axis=0) <= down * (1 + CLOSE) + CLOSE).all()
        assert (rate <= run.fleet.pair * (1 + CLOSE) + CLOSE).all()


def check(run, changes=None, exact=True, moves=False):
    """Run all checks."""
    check_tasks(run, changes)
    check_order(run)
    check_bytes(run, exact, moves)
    check_links(run, changes)
