"""The random cases of the checks reach their bounds, and contain missing values."""

import itertools
import math
from types import SimpleNamespace

import numpy as np

from windlass.experiment.checks import admit, dispatch, place, plan, scale, share
from windlass.experiment.checks.order import fleet, site
from windlass.share import Sharing
from windlass.share.view import Share


def span_the_bounds(values, low, high, within=0.03):
    """Return True if values are between two bounds and come near both."""
    near = within * (high - low)
    return low <= min(values) <= low + near and high - near <= max(values) <= high


def known(values):
    return [value for value in values if not math.isnan(value)]


def test_allocations_and_candidates_reach_their_bounds():
    rng = np.random.default_rng(1)
    hosts = [share.drawn_allocation(job, rng) for job in range(800)]
    assert [host.job for host in hosts] == list(range(800))
    assert {host.job_class for host in hosts} == {"montage", "blast", "statistics", "synthetic"}
    assert {host.cores for host in hosts} == set(range(1, 33))
    assert {host.memory for host in hosts} == {0.0, 8e9, 64e9}
    assert span_the_bounds([host.walltime for host in hosts], 60, 7200)
    assert {host.elapsed for host in hosts} == {0.0, 30.0, 3600.0}
    assert span_the_bounds([host.cpu for host in hosts], 0, 100)
    assert {host.memory_used for host in hosts} == {0.0, 10.0, 95.0, 100.0}
    assert {host.parallel for host in hosts} == {None, False, True}
    done = [host for host in hosts if not math.isnan(host.tasks_done)]
    assert 0.6 < len(done) / 800 < 0.8
    assert all(not math.isnan(host.rate) for host in done)
    assert (
        {host.tasks_done for host in done} == {host.tasks_left for host in done} == set(map(float, range(50)))
    )
    assert {host.rate for host in done} == {0.0, 0.1, 2.0}
    assert {host.rate_alone for host in done} == {0.1, 2.0}
    waited = known([host.waited for host in hosts])
    assert 0.4 < len(waited) / 800 < 0.6
    assert span_the_bounds(waited, 0, 100)
    guests = [share.drawn_candidate(job, rng) for job in range(800)]
    assert [guest.job for guest in guests] == list(range(800))
    assert {guest.cores for guest in guests} == set(range(1, 33))
    assert {guest.memory for guest in guests} == {0.0, 1e9, 16e9}
    assert span_the_bounds([guest.request for guest in guests], 60, 7200)
    assert 0.4 < np.mean([guest.restarts for guest in guests]) < 0.6
    cpu = known([guest.cpu for guest in guests])
    assert 0.4 < len(cpu) / 800 < 0.6
    assert span_the_bounds(cpu, 0, 100)


class RecordingPolicy:
    """Lets the first feasible pair share, and records its views and observations."""

    def __init__(self):
        self.views, self.seen = [], []

    def decide(self, view):
        self.views.append(view)
        for host in view.running:
            for guest in view.waiting:
                if host.guest is None:
                    answer = Sharing((Share(host.job, guest.job, 20, "can share"),))
                    try:
                        answer.check(view)
                    except Exception:
                        continue
                    return answer
        return Sharing()

    def observed(self, checkpoint):
        self.seen.append(checkpoint)


def test_sharing_jobs_are_measured_each_minute_until_one_ends():
    policy = RecordingPolicy()
    for seed in range(6):
        assert len(list(share.CASES.decisions(policy, seed))) == 60
    seen = policy.seen
    assert len(seen) > 50
    assert all(each.after.elapsed == each.before.elapsed + 60.0 for each in seen)
    assert {bool(each.ended) for each in seen} == {bool(each.killed) for each in seen} == {False, True}
    assert all(each.ended for each in seen if each.killed)
    assert 0.1 < np.mean([each.ended for each in seen]) < 0.3
    progress = known([each.guest.progress for each in seen])
    assert 0.3 < len(progress) / len(seen) < 0.7
    assert span_the_bounds(progress, 0, 120, within=0.1)
    assert [view.now for view in policy.views[1:60]] == [60.0 * step for step in range(59)]
    first = policy.views[0]
    assert (len(first.running), len(first.waiting)) == (6, 4)
    assert {len(view.waiting) for view in policy.views} == {4}
    # Job numbers are unique, except for jobs that keep running.
    for one, other in zip(policy.views[:59], policy.views[1:60], strict=True):
        numbers = [each.job for each in (*other.running, *other.waiting)]
        assert len(numbers) == len(set(numbers))
        assert not {each.job for each in other.waiting} & {each.job for each in (*one.running, *one.waiting)}


def test_measurements_change_between_checkpoints():
    policy = RecordingPolicy()
    list(share.CASES.decisions(policy, 1))
    for name in ("cpu", "waited", "rate", "rate_alone", "tasks_left"):
        pairs = [(getattr(each.before, name), getattr(each.after, name)) for each in policy.seen]
        changed = [one != other for one, other in pairs if not (math.isnan(one) or math.isnan(other))]
        assert any(changed), name
    assert all(each.before.job == each.after.job for each in policy.seen)


def test_demands_and_instance_counts_reach_their_bounds():
    rng = np.random.default_rng(1)
    found = scale.drawn_demands(rng, 1500, 5e4)
    gpus, cores, memory = found.resources.T
    assert set(gpus) == {0.0, 1.0, 4.0, 12.0}
    assert 0.4 < (gpus == 0).mean() < 0.6
    assert set(cores) == set(map(float, range(1, 25)))
    assert span_the_bounds(memory, 1e9, 40e9)
    assert span_the_bounds(5e4 - found.since, 0, 1e4)
    finite = found.walltime[np.isfinite(found.walltime)]
    assert 0.65 < len(finite) / 1500 < 0.75
    assert span_the_bounds(finite, 60, 1e5)
    views = [scale.drawn_view(rng, 7.0, np.zeros((1, 3))) for _ in range(400)]
    for column, most in enumerate((20, 10, 5)):
        for name in ("ready", "coming"):
            assert {int(getattr(view, name)[column]) for view in views} == set(range(most // 2 + 1))
        assert all(view.used[column] <= view.ready[column] for view in views)
        assert any(view.used[column] == view.ready[column] > 0 for view in views)
    for name in ("running", "waiting"):
        assert {len(getattr(view, name).resources) for view in views} == set(range(12))


def test_instance_types_are_small_large_and_gpu():
    small, large, gpu = scale._TYPES
    assert (small.cores, small.memory, small.price, small.most, small.gpus) == (4, 16e9, 0.2, 20, 0)
    assert (large.cores, large.memory, large.price, large.most, large.gpus) == (16, 64e9, 0.7, 10, 0)
    assert (gpu.cores, gpu.memory, gpu.price, gpu.most, gpu.gpus) == (32, 256e9, 8.0, 5, 4)


def test_histories_have_a_daily_cycle_and_a_jump():
    seen = []
    for seed in range(12):
        policy = SimpleNamespace(decide=lambda view: seen.append(view.history))
        scale.CASES.outcome(policy, seed)
    day = 1.0 + np.sin(2.0 * np.pi * np.arange(191) / 144.0)
    day[100] *= 50.0
    longest = [history for history in seen if len(history) == 191]
    assert len(longest) == 12
    ratios = np.array(longest) / (day[:, None] * (6.0, 3.0, 1.0))
    assert span_the_bounds(ratios[np.isfinite(ratios)], 0.9, 1.1)


def test_hierarchies_and_queries_reach_their_bounds():
    rng = np.random.default_rng(1)
    drawn = [plan.drawn_hierarchy(rng, 3) for _ in range(300)]
    clusters = [each for tiers in drawn for each in tiers.clusters]
    cloud = [each for each in clusters if each.name == "cloud"]
    private = [each for each in clusters if each.name.startswith("private")]
    cameras = [each for each in clusters if each.name.startswith("camera")]
    assert (len(cloud), len(private), len(cameras)) == (300, 600, 900)
    assert {each.cores for each in cloud} == {0.0, 8.0, 40.0}
    assert span_the_bounds([each.cores for each in private], 0, 8)
    assert {each.up for each in private} == {0.0, 4e5, math.inf}
    assert {(each.down, each.parent) for each in private} == {(2e6, "cloud")}
    assert {each.cores for each in cameras} == {0.0, 1.0}
    assert {each.up for each in cameras} == {2e5, 1e6}
    assert {(each.name, each.parent) for each in cameras} == {
        ("camera-0", "private-0"),
        ("camera-1", "private-1"),
        ("camera-2", "private-0"),
    }
    queries = [plan.drawn_query(rng, "query", "camera-1") for _ in range(300)]
    assert {query.source for query in queries} == {1e5}
    assert {len(query.plans) for query in queries} == {3, 4, 5, 6}
    for lines in (1080, 480, 240):
        for detector, factor in (("mog", 1.0), ("knn", 2.0)):
            own = [
                each
                for query in queries
                for each in query.plans
                if [part.name for part in each.components[:2]] == [f"decode {lines}p", f"detect {detector}"]
            ]
            decode, detect, associate = zip(*(each.components for each in own), strict=True)
            assert {(part.cores, part.output) for part in decode} == {(0.1, 300.0 * lines)}
            assert {part.output for part in detect} == {100.0 * lines}
            assert {part.output for part in associate} == {0.0}
            assert span_the_bounds(
                [part.cores * 480 / lines / factor for part in detect], 0.5, 1.5, within=0.05
            )
            assert all(one.cores == 2 * other.cores for one, other in zip(detect, associate, strict=True))
            mean = np.mean([each.accuracy for each in own])
            assert abs(mean - min(0.2 + lines / 1600 + 0.05 * factor, 0.99)) < 0.03


def test_plan_views_have_current_plans_and_up_to_12_queries():
    rng = np.random.default_rng(1)
    views = [plan.drawn_view(rng) for _ in range(60)]
    assert {len(view.queries) for view in views} == {8}
    assert span_the_bounds([view.now for view in views], 0, 1e5, within=0.1)
    current = [each.current for view in views for each in view.queries]
    assert 0.4 < np.mean(np.array(current) >= 0) < 0.6
    assert all(each.piece is not None for view in views for each in view.queries)
    seen = []
    plan.CASES.outcome(SimpleNamespace(decide=seen.append), 1)
    assert [len(view.queries) for view in seen] == [0, 1, 5, 12, 0, 1, 5, 12, 0, 1, 5, 5]
    last = seen[-1].queries
    assert len({each.demand.tobytes() for each in last}) == 1


def test_nodes_have_bursts_and_missing_metrics():
    views = [list(admit.drawn_views(seed)) for seed in range(8)]
    assert {len(each) for each in views} == {150}
    every = [view for each in views for view in each]
    metrics = np.array([view.metrics for view in every])
    assert metrics.shape[1] == 12
    blank = np.isnan(metrics).all(axis=1)
    assert 0.005 < blank.mean() < 0.04
    assert set(metrics[~np.isnan(metrics[:, 0]), 0]) == {7.0}
    for each in views:
        late = np.array([view.metrics[1] for view in each])
        assert np.isnan(late[:60]).all()
        assert not np.isnan(late[60:]).all()
    others = metrics[~blank][:, 2:]
    assert 0.01 < np.isnan(others).mean() < 0.03
    steps = [other.now - one.now for each in views for one, other in itertools.pairwise(each)]
    assert set(steps) == {1.0, 3600.0, -5.0}
    assert 0.5 < np.mean(np.array(steps) == 1.0) < 0.7
    busy = [view.busy for view in every]
    assert 0.02 < np.isnan(busy).mean() < 0.08
    assert [math.isnan(value) for value in busy] == [math.isnan(view.ready) for view in every]
    assert max(known(busy)) == 1.0
    assert 0.25 < np.median(known(busy)) < 0.6
    # Tasks on a node in a burst wait for processors.
    waits = np.array([view.ready for view in every])
    assert 0.0 < max(waits[np.array(busy) < 0.9]) < 0.05
    assert 0.2 < np.nanmax(waits) < 0.45


def test_jobs_of_one_site_have_ties_and_requests_above_their_run_times():
    jobs = site.workload(1, 3000)
    assert set(jobs.run) == set(map(float, range(30)))
    assert set(jobs.submit) == set(map(float, range(400)))
    assert set(jobs.procs) == set(range(1, 17))
    more = jobs.request - jobs.run
    assert set(more) == set(map(float, range(20)))
    assert 0.4 < (more == 0).mean() < 0.6
    assert len(site.workload(1)) == 200


def test_jobs_over_a_fleet_have_ties_and_different_sites():
    cases = [fleet.workload(seed) for seed in range(40)]
    assert {len(case.jobs) for case in cases} == {60}
    assert {len(case.fleet) for case in cases} == {4}
    assert {int(slots) for case in cases for slots in case.fleet.slots} == {1, 2, 3}
    here = np.concatenate([case.jobs.here(4) for case in cases])
    assert here.max() == 4
    assert {float(time) for case in cases for time in case.jobs.submit} == set(map(float, range(60)))
    assert {float(time) for case in cases for time in case.jobs.duration} == {0.0, 1.0, 2.0, 3.0}


def test_place_cases_have_a_site_without_slots(monkeypatch):
    seen = []
    monkeypatch.setattr(
        place, "run_placed", lambda case, policy, decide_every: seen.append((case, decide_every))
    )
    for seed in (3, 4, 9):
        for drops in (False, True):
            place._run(None, seed, drops=drops)
            case, every = seen[-1]
            assert every == 0.5
            assert np.flatnonzero(case.fleet.slots == 0).tolist() == [seed % 6]
            others = np.delete(case.fleet.slots, seed % 6)
            assert ((others >= 2) & (others <= 60)).all()
            assert len(case.jobs) == 12
            assert (len(case.timetable.time) > 0) is drops
            if drops:
                # Every 20 s, until a minute after the last arrival, two sites lose half of their capacity.
                assert set(np.diff(np.unique(case.timetable.time))) == {20.0}
                last = case.jobs.submit[-1] + 60
                assert last - 20.0 < case.timetable.time.max() <= last + 20.0


def test_dispatch_cases_have_workers_of_different_speeds(monkeypatch):
    calls = []
    monkeypatch.setattr(
        dispatch,
        "simulate",
        lambda *given, **more: calls.append((*given[1:], more)) or SimpleNamespace(response=1.0),
    )
    assert dispatch._responses(None) == 1.0
    ((speeds, load, tasks, more),) = calls
    assert (speeds.tolist(), load, tasks, more) == ([0.5, 1.0, 1.0, 4.0], 0.7, 2000, {"seed": 3})
    queues = []

    class RecordingDispatcher:
        def arrived(self, now):
            queues.append([now])

        def choose(self, lengths):
            queues[-1] += lengths.tolist()
            return 3

        def completed(self, worker, work, seconds):
            queues[-1] += [worker, work, seconds]

    monkeypatch.setattr(dispatch, "make_policy", lambda *given: RecordingDispatcher())
    dispatch.check_chooses_a_worker(None, "made")
    assert [each[0] for each in queues] == list(range(500))
    assert {length for each in queues for length in each[1:5]} == {0, 1, 2, 3, 4}
    assert {tuple(each[5:]) for each in queues} == {(3, 1.0, 0.25)}
