"""Synthetic sites and jobs over sites follow their distributions, and agree with plain loops."""

import math

import numpy as np
import pytest
from scipy import stats

from windlass.experiment.workloads.drops import draw_drops
from windlass.experiment.workloads.fixed import draw_arrivals, draw_fixed
from windlass.experiment.workloads.sites import SiteModel, draw_sites
from windlass.experiment.workloads.stages import JobModel, draw_jobs
from windlass.model.fleet import Fleet


def rng(seed=1):
    return np.random.default_rng(seed)


def follows(sample, law):
    return stats.kstest(sample, law.cdf).pvalue > 1e-3


def test_sites_are_uniform_on_a_logarithmic_scale():
    fleet = draw_sites(SiteModel(sites=3000, slots=(10_000, 90_000), mbit=(8.0, 800.0)), rng())
    assert follows(np.log(fleet.slots), stats.uniform(math.log(10_000), math.log(9)))
    for links in (fleet.up, fleet.down):
        assert follows(np.log(links), stats.uniform(math.log(1e6), math.log(100)))
    assert (fleet.up != fleet.down).all()
    assert SiteModel() == SiteModel(50, (25, 5000), (100.0, 2000.0), None, None)


def test_zipf_sites_keep_the_total_of_the_bounds():
    model = SiteModel(sites=40, slots=(100, 10_000), mbit=(80.0, 80.0), slot_zipf=1.5, link_zipf=0.0)
    fleet = draw_sites(model, rng())
    total = 40 * (10_000 - 100) / math.log(100)
    part = np.arange(1.0, 41.0) ** -1.5
    assert np.sort(fleet.slots)[::-1] == pytest.approx(np.maximum(1, total * part / part.sum()), abs=0.51)
    assert fleet.up == pytest.approx(np.full(40, 1e7))
    assert not (np.diff(fleet.slots) <= 0).all()


def test_arrivals_are_scaled_to_the_utilisation():
    times = draw_arrivals(5000, 600.0, 3, 0.4, rng())
    assert times[-1] == pytest.approx(600.0 / (3 * 0.4))
    assert follows(np.diff(times, prepend=0.0), stats.expon(scale=500.0 / 5000))


def test_the_defaults_of_fixed_jobs_match_the_thesis():
    case = draw_fixed(rng())
    explicit = draw_fixed(
        rng(),
        law="facebook",
        jobs=2000,
        fleet=Fleet.of([300] * 30),
        utilisation=0.78,
        skew=2.0,
        longest=20.0,
        accuracy=1.0,
    )
    assert case.fleet.slots.tolist() == [300] * 30
    assert (len(case.jobs), case.jobs.error.tolist()) == (2000, [1.0] * 2000)
    for name in ("submit", "site", "tasks", "duration"):
        assert (getattr(case.jobs, name) == getattr(explicit.jobs, name)).all()
    used = case.jobs.duration.sum() / (9000 * case.jobs.submit[-1])
    assert used == pytest.approx(0.78)


def test_changing_one_setting_of_fixed_jobs_keeps_the_others():
    fleet = Fleet.of([5, 6, 7])
    usual = {"law": "google", "jobs": 60, "fleet": fleet, "utilisation": 0.5, "skew": 1.0}
    first = draw_fixed(rng(), **usual).jobs
    later = draw_fixed(rng(), **{**usual, "utilisation": 0.25}).jobs
    assert later.submit == pytest.approx(2 * first.submit)
    assert (later.duration == first.duration).all()
    other = draw_fixed(rng(), **{**usual, "skew": "uniform"}).jobs
    assert (other.job_tasks == first.job_tasks).all()
    assert (other.submit == first.submit).all()
    assert len(other.site) > len(first.site)
    short = draw_fixed(rng(), **usual, longest=3.0).jobs
    assert short.duration.max() <= 3.0
    assert (short.job_tasks == first.job_tasks).all()
    rough = draw_fixed(rng(), **usual, accuracy=0.2).jobs
    assert sorted(rough.duration.tolist()) == pytest.approx(sorted(first.duration.tolist()))
    assert follows(rough.error, stats.uniform(0.2, 1.6))
    assert rough.estimate_s == pytest.approx(rough.task_s * rough.error)
    # Tasks are sorted by expected time, longest first, which is not the order of their real times.
    falls = [np.diff(rough.duration[a:b]) for a, b in zip(rough.task0, rough.task0[1:], strict=False)]
    assert any((each > 0).any() for each in falls)


def test_sites_drop_in_turn_and_recover_at_the_next_drop():
    fleet = Fleet.of([10, 20, 30, 5], up=[1.0, 2.0, 3.0, 4.0], down=[5.0, 6.0, 7.0, 8.0])
    table = draw_drops(fleet, 0.25, 2, 10.0, 55.0, rng())
    assert sorted(set(table.time.tolist())) == [10.0, 20.0, 30.0, 40.0, 50.0]
    low, seen = [], set()
    for time in sorted(set(table.time.tolist())):
        rows = np.flatnonzero(table.time == time).tolist()
        back, fresh = rows[: len(low)], rows[len(low) :]
        assert sorted(table.site[back].tolist()) == sorted(low)
        low = table.site[fresh].tolist()
        assert len(set(low)) == 2
        seen.add(tuple(sorted(low)))
        for part, some in ((1.0, back), (0.75, fresh)):
            for row in some:
                site = table.site[row]
                assert table.slots[row] == round(fleet.slots[site] * part)
                assert table.up[row] == pytest.approx(fleet.up[site] * part)
                assert table.down[row] == pytest.approx(fleet.down[site] * part)
    assert len(seen) > 1
    assert len(draw_drops(fleet, 0.25, 2, 10.0, 10.0, rng())) == 0
    assert len(draw_drops(fleet, 0.25, 9, 10.0, 20.0, rng())) == 4


PLAIN = {"tasks_spread": 0.0, "task_s_spread": 0.0, "ratio_spread": 0.0, "skew": (0.0, 0.0), "site_skew": 0.0}
STILL = {"noise": 0.0, "straggler_share": 0.0, "size_spread": 0.0}
SITES = Fleet.of([50, 100, 10], up=[1e9, 2e9, 1e8], down=[1e9, 1e8, 2e9])


def busiest(jobs, fleet):
    """Return the busy time (s) of the busiest slots or link if every task ran where its data is; a plain loop."""
    n, stages = len(fleet), np.arange(len(jobs.tasks))
    here = jobs.here(n)
    work, sent, got = [0.0] * n, [0.0] * n, [0.0] * n
    lies = {}
    reads = {int(child): [] for child in jobs.children}
    for stage in stages.tolist():
        for edge in range(jobs.child_at[stage], jobs.child_at[stage + 1]):
            reads[int(jobs.children[edge])].append(stage)
    for stage in stages.tolist():
        if not jobs.shuffles[stage]:
            for site in range(n):
                work[site] += here[stage, site] * jobs.task_s[stage]
            lies[stage] = [
                here[stage, site] * jobs.task_bytes[stage] * jobs.ratio[stage] for site in range(n)
            ]
            continue
        data = [sum(lies[parent][site] for parent in reads[stage]) for site in range(n)]
        total = sum(data)
        for site in range(n):
            part = data[site] / total if total else 1 / n
            work[site] += part * jobs.tasks[stage] * jobs.task_s[stage]
            sent[site] += data[site] * (1 - part)
            got[site] += (total - data[site]) * part
        lies[stage] = [each * jobs.ratio[stage] for each in data]
    uses = [(work, fleet.slots)] + ([(sent, fleet.up), (got, fleet.down)] if fleet.linked else [])
    pairs = [pair for column, limit in uses for pair in zip(column, limit, strict=True)]
    return max(use / have for use, have in pairs if have > 0)


@pytest.mark.matrix
@pytest.mark.parametrize("task_bytes", [30e6, 1e-6, 0.0])
@pytest.mark.parametrize(
    "fleet",
    [SITES, Fleet.of([50, 100, 10]), Fleet.of([50, 0, 10], up=[1e9, 0.0, 1e8], down=[0.0, 1e9, 1e9])],
    ids=["linked", "unlinked", "closed"],
)
def test_jobs_arrive_at_the_load_of_the_busiest_resource(fleet, task_bytes):
    jobs = draw_jobs(JobModel(jobs=300, load=0.5, tasks=20.0, task_bytes=task_bytes), fleet, rng())
    gaps = np.diff(jobs.submit) * 0.5 * 300 / busiest(jobs, fleet)
    assert jobs.submit[0] == 0.0
    assert follows(gaps, stats.expon())
    # The gaps do not depend on the sites or the data.
    usual = draw_jobs(JobModel(jobs=300, load=0.5, tasks=20.0), SITES, rng())
    assert gaps == pytest.approx(np.diff(usual.submit) * 0.5 * 300 / busiest(usual, SITES))


@pytest.mark.matrix(0)
def test_stages_follow_the_job_model():
    jobs = draw_jobs(JobModel(jobs=400, **PLAIN, **STILL), SITES, rng())
    counts = np.diff(jobs.stage0)
    assert np.bincount(counts)[2:] == pytest.approx([100] * 4, abs=40)
    two_maps, further, reducers, ratios = [], [], [], []
    for job in range(400):
        first, end = int(jobs.stage0[job]), int(jobs.stage0[job + 1])
        maps = int((jobs.shuffles[first:end] == 0).sum())
        if end - first > 2:
            two_maps.append(maps == 2)
        else:
            assert maps == 1
        for stage in range(first, end):
            further.append(jobs.task_s[stage] / 8.0)
            if stage < first + maps:
                assert jobs.tasks[stage] == 150 // maps
                assert jobs.task_bytes[stage] == 30e6
                assert jobs.ratio[stage] == pytest.approx(0.4)
                assert jobs.parents[stage] == 0
            else:
                # The first reduce stage joins all maps, and each later one reads the stage before it.
                assert jobs.parents[stage] == (maps if stage == first + maps else 1)
                reducers.append(int(jobs.tasks[stage]))
                ratios.append(jobs.ratio[stage] / 0.6)
    assert np.mean(two_maps) == pytest.approx(0.5, abs=0.09)
    assert follows(np.log(further), stats.norm(0.0, 0.3))
    assert follows(np.log(ratios), stats.norm(0.0, 0.5))
    assert min(reducers) >= 30
    assert max(reducers) <= 105
    assert follows(np.array(reducers) + rng(2).uniform(-0.5, 0.5, len(reducers)), stats.uniform(30, 75))
    maps = jobs.shuffles == 0
    share = jobs.here(3)[maps].sum(axis=0) / jobs.tasks[maps].sum()
    assert share == pytest.approx([1 / 3] * 3, abs=0.01)
    assert (jobs.size == 1.0).all()
    assert jobs.duration == pytest.approx(np.repeat(jobs.task_s, jobs.tasks))
    assert (jobs.estimate_s == jobs.task_s).all()


def test_spreads_are_standard_deviations_of_logarithms():
    changed = {
        **PLAIN,
        **STILL,
        "stages": (1, 1),
        "tasks_spread": 0.5,
        "ratio_spread": 0.7,
        "estimate_error": 0.3,
    }
    jobs = draw_jobs(
        JobModel(
            jobs=3000,
            tasks=100.0,
            task_s_spread=0.4,
            **{key: value for key, value in changed.items() if key != "task_s_spread"},
        ),
        SITES,
        rng(),
    )
    logs = np.log(jobs.tasks + rng(2).uniform(-0.5, 0.5, 3000))
    assert follows(logs, stats.norm(math.log(100.0), 0.5))
    assert follows(np.log(jobs.ratio), stats.norm(math.log(0.4), 0.7))
    assert follows(np.log(jobs.task_s), stats.norm(math.log(8.0), 0.5))
    assert follows(jobs.estimate_s / jobs.task_s, stats.uniform(0.7, 0.6))
    few = draw_jobs(JobModel(jobs=30, tasks=0.01, **PLAIN, **STILL), SITES, rng())
    assert set(few.tasks[few.shuffles == 0].tolist()) == {1, 2}
    assert set(few.tasks[few.shuffles == 1].tolist()) == {1}
    many = draw_jobs(JobModel(jobs=2, stages=(1, 1), tasks=1e6, **PLAIN, **STILL), SITES, rng())
    assert many.tasks.tolist() == [5000, 5000]


def test_tasks_within_a_stage_differ_by_noise_stragglers_and_sizes():
    model = {**PLAIN, "stages": (2, 2), "tasks": 400.0, "jobs": 40}
    jobs = draw_jobs(JobModel(**model, noise=0.3, straggler_share=0.0, size_spread=0.0), SITES, rng())
    noise = np.log(jobs.duration / np.repeat(jobs.task_s, jobs.tasks))
    assert follows(noise, stats.norm(-(0.3**2) / 2, 0.3))
    jobs = draw_jobs(
        JobModel(**model, noise=0.0, straggler_share=0.1, straggler_factor=5.0, size_spread=0.0), SITES, rng()
    )
    factor = jobs.duration / np.repeat(jobs.task_s, jobs.tasks)
    assert set(np.round(factor, 6).tolist()) == {1.0, 5.0}
    assert (factor > 2.0).mean() == pytest.approx(0.1, abs=0.01)
    jobs = draw_jobs(JobModel(**model, noise=0.0, straggler_share=0.0, size_spread=0.4), SITES, rng())
    for stage in range(len(jobs.tasks)):
        own = jobs.size[jobs.first[stage] : jobs.first[stage + 1]]
        if jobs.shuffles[stage]:
            assert own.mean() == pytest.approx(1.0)
            assert np.log(own).std() == pytest.approx(0.4, rel=0.25)
        else:
            assert (own == 1.0).all()
    assert jobs.duration == pytest.approx(np.repeat(jobs.task_s, jobs.tasks) * jobs.size)


def test_data_is_skewed_by_site_and_by_job():
    model = {**PLAIN, **STILL, "stages": (1, 1), "tasks": 4000.0, "jobs": 120}
    by_site = draw_jobs(JobModel(**{**model, "site_skew": 0.9}), Fleet.of([1] * 200), rng())
    logs = np.log(by_site.here(200).sum(axis=0))
    assert logs.std() == pytest.approx(0.9, rel=0.15)
    by_job = draw_jobs(JobModel(**{**model, "skew": (0.5, 0.5)}), Fleet.of([1] * 20), rng())
    assert np.log(by_job.here(20)).std() == pytest.approx(0.5, rel=0.1)
    assert np.log(by_job.here(20).sum(axis=0)).std() < 0.1
    least = draw_jobs(JobModel(**{**model, "skew": (0.0, 1.0)}), Fleet.of([1] * 20), rng())
    own = np.log(np.maximum(least.here(20), 0.5)).std(axis=1)
    assert np.median(own) == pytest.approx(0.5, abs=0.1)
    assert JobModel() == JobModel(
        *(100, 0.7, (2, 5), 150.0, 1.2, 8.0, 0.5, 30e6, 0.4, 0.8, (0.2, 1.6), 0.5, 0.2, 0.03, 3.0, 0.4, 0.0)
    )
