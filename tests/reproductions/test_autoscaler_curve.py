"""The cost–wait curve: its parts on known numbers, and a small complete run."""

from __future__ import annotations

import contextlib
import dataclasses
from concurrent.futures import Future

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.reproductions.turning import rows_with_fixed_verdicts
from windlass.experiment.worlds.elastic.simulation import ElasticCase, run_elastic, scale_policy
from windlass.model import InputError
from windlass.model.instances import InstanceType
from windlass.model.vectors import VectorJobs
from windlass.sim.instances.fleet import InstanceFleet
from windlass_reproductions import by_crews, find_paper, public
from windlass_reproductions.autoscaler import curve, curve_cases
from windlass_reproductions.autoscaler.curve_cases import Workload, shortened
from windlass_reproductions.autoscaler.curve_front import Front, Gain, Savings, compare
from windlass_reproductions.autoscaler.curve_grid import CLAIRVOYANT, DEFAULT, HAZARD, REACTIVE
from windlass_reproductions.autoscaler.curve_runs import Blocks, Measured, Point, blocks, measure

HOUR, DAY = 3600.0, 86_400.0
positive = st.floats(1.0, 1e4)


def measured_blocks(hours, wait, jobs=100.0):
    """Return measured blocks with these hours and mean waits."""
    hours, wait = np.asarray(hours, float), np.asarray(wait, float)
    number = np.full(len(hours), jobs)
    none = np.zeros(len(hours))
    return Blocks(number, wait * jobs, hours, hours, none, none, wait)


def rng():
    return np.random.default_rng(3)


@given(st.lists(st.tuples(positive, positive), min_size=1, max_size=12))
def test_no_point_lies_below_the_front_and_its_corners_are_points(points):
    hours, wait = np.array(points).T
    front = Front.of(hours, wait)
    for each, other in points:
        assert front.wait_at(each) <= other * (1 + 1e-9)
        assert front.hours_at(other) <= each * (1 + 1e-9)
    assert set(zip(front.hours.tolist(), front.wait.tolist(), strict=True)) <= set(points)
    assert (np.diff(front.hours) > 0).all()
    assert (np.diff(front.wait) < 0).all()
    slopes = np.diff(front.wait) / np.diff(front.hours)
    assert (np.diff(slopes) >= -1e-6 * np.abs(slopes[1:])).all()


def test_the_front_is_nan_beyond_its_points():
    front = Front.of(np.array([2.0, 4.0]), np.array([9.0, 1.0]))
    assert np.isnan(front.wait_at(1.9))
    assert np.isnan(front.hours_at(0.9))


THEIRS = [measured_blocks([100, 120, 90, 110], [300] * 4), measured_blocks([130, 150, 120, 140], [200] * 4)]


@pytest.mark.parametrize(
    ("less_wait", "fewer_hours", "reached"),
    [
        (0.0, 0.0, False),
        (0.29, 0.0, False),
        (0.31, 0.0, True),
        (0.0, 0.14, False),
        (0.0, 0.16, True),
        (-0.4, 0.0, False),
    ],
)
def test_the_verdict_depends_on_the_savings(less_wait, fewer_hours, reached):
    """Both curves are flat in wait where only hours change, so either saving is known."""
    ours = [
        measured_blocks(each.hours * (1 - fewer_hours), each.wait / each.jobs * (1 - less_wait))
        for each in THEIRS[:1]
    ]
    result = compare(ours, THEIRS[:1], 0, rng())
    assert result.reached() is reached
    assert result.verdict() == ("reached" if reached else "not reached")
    assert result.wait.value == pytest.approx(less_wait, abs=1e-9)
    if less_wait >= 0:
        assert result.hours.value == pytest.approx(fewer_hours, abs=1e-9)


def test_a_saving_from_a_single_week_is_not_significant():
    """Three weeks lose a little; one gains so much that the mean is far above the claim."""
    theirs = measured_blocks([100.0] * 4, [300.0, 300.0, 300.0, 9000.0])
    ours = measured_blocks([100.0] * 4, [310.0, 310.0, 310.0, 500.0])
    result = compare([ours], [theirs], 0, rng())
    assert result.wait.value > 0.8
    assert not result.wait.reaches(0.3)


def test_a_curve_with_more_hours_everywhere_has_no_saving_at_equal_hours():
    result = compare([measured_blocks([200.0] * 4, [10.0] * 4)], THEIRS[:1], 0, rng())
    assert np.isnan(result.wait.value)
    assert not result.reached()
    assert result.wait.judged(0.3).holds is False
    assert str(result.wait) == "no point at this level"


def test_savings_between_two_knobs_are_interpolated():
    ours = [measured_blocks([90.0] * 4, [300.0] * 4), measured_blocks([110.0] * 4, [100.0] * 4)]
    result = compare(ours, [measured_blocks([100.0] * 4, [400.0] * 4)], 0, rng())
    assert result.wait.value == pytest.approx(0.5)
    assert result.hours.value == pytest.approx(0.1)


def test_the_knob_is_chosen_from_the_learned_part_only():
    reference = Measured(
        Point(REACTIVE, DEFAULT, "reactive"), measured_blocks([100.0], [300.0]), measured_blocks([1.0], [1.0])
    )
    cheap, good, dear, dearer = (
        Measured(
            Point(HAZARD, knob, "hazard"),
            measured_blocks([hours], [wait]),
            measured_blocks([judged], [judged]),
        )
        for knob, hours, wait, judged in (
            ("a", 90.0, 200.0, 1.0),
            ("b", 99.0, 100.0, 9e9),
            ("c", 120.0, 1.0, 1.0),
            ("d", 150.0, 0.5, 1.0),
        )
    )
    assert curve.chosen_knob([cheap, good, dear], reference) is good
    assert curve.chosen_knob([dear], reference) is dear
    assert curve.chosen_knob([dearer, dear], reference) is dear


def small(days: int = 8, seed: int = 1) -> Workload:
    """Return mostly daytime jobs of one to four nodes, in blocks of a day."""
    draw = np.random.default_rng(seed)
    at = np.sort(draw.uniform(0, days * DAY, 60 * days))
    at = at[draw.random(len(at)) < np.where(at % DAY < DAY / 2, 1.0, 0.2)]
    jobs = VectorJobs.of(at, draw.exponential(2 * HOUR, len(at)), cores=draw.choice([1, 1, 2, 4], len(at)))
    node = InstanceType("node", cores=1.0, price=2.0, launch=300.0, most=300)
    case = ElasticCase(jobs, InstanceFleet((node,)), 300.0, DAY)
    return Workload("small", case, (DAY, 4 * DAY), (4 * DAY, days * DAY), DAY)


def run_policy(workload, name):
    policy = scale_policy(name, {}, workload.case, rng())
    return run_elastic(workload.case, policy, rng())


def test_blocks_add_up_to_the_whole_run():
    workload = small(4)
    done = run_policy(workload, "reactive")
    first = float(workload.case.jobs.submit[0])
    days = 10
    all_of_it = blocks(done, first, (DAY, (1 + days) * DAY), DAY)
    new = done.jobs.submit > done.begin
    assert all_of_it.jobs.sum() == new.sum()
    assert all_of_it.wait.sum() == pytest.approx((done.start - done.jobs.submit)[new].sum())
    assert all_of_it.hours.sum() == pytest.approx(done.paid().sum() / HOUR)
    assert all_of_it.usd.sum() == pytest.approx(2.0 * all_of_it.hours.sum())
    gone = np.isfinite(done.launches.gone).sum()
    assert all_of_it.actions.sum() == pytest.approx(len(done.launches.kind) + gone, abs=1)


def test_a_block_counts_the_hours_paid_within_it():
    node = InstanceType("node", cores=1.0, price=1.0, launch=300.0, most=1)
    jobs = VectorJobs.of([0.0, DAY], [DAY + 6 * HOUR, HOUR], cores=1)
    case = ElasticCase(jobs, InstanceFleet((node,)))
    done = run_elastic(case, scale_policy("reactive", {}, case, rng()), rng())
    split = blocks(done, 0.0, (0.0, 2 * DAY), DAY)
    assert split.hours[0] == pytest.approx(24.0)
    assert 6.0 < split.hours[1] < 9.0
    assert split.jobs.tolist() == [1.0, 1.0]


@pytest.mark.matrix(0)
def test_a_small_run_has_all_rows_and_a_picture():
    workload = small()
    chosen = [
        Point(REACTIVE, "0 min", "reactive", (("unneeded", 0.0),)),
        Point(REACTIVE, DEFAULT, "reactive", (("unneeded", 600.0),)),
        Point(HAZARD, "10 h", "hazard", (("worth", 10.0),)),
        Point(HAZARD, "60 h", "hazard", (("worth", 60.0),)),
        Point(CLAIRVOYANT, "", "clairvoyant"),
    ]
    all_found = [measure(workload, point) for point in chosen]
    rows = curve.rows_of(workload, all_found)
    verdicts = [row for row in rows if row.judged is not None]
    assert rows_with_fixed_verdicts(rows) == {}
    assert [row.what.split(", ")[-1] for row in verdicts[:2]] == [
        "wait saved at equal hours",
        "hours saved at equal wait",
    ]
    assert len(verdicts) == 3
    assert any("clairvoyant compared with" in row.what for row in rows)
    picture = curve.picture(workload, all_found)
    assert [line.name for line in picture.lines] == [REACTIVE, HAZARD, CLAIRVOYANT]
    waits = {each.point.curve: each.judged.mean_wait() for each in all_found}
    assert waits[CLAIRVOYANT] < min(waits[REACTIVE], waits[HAZARD])
    assert all_found[-1].judged.jobs.tolist() == all_found[0].judged.jobs.tolist()


def test_money_is_compared_where_prices_of_types_differ():
    """Ours has more hours of the cheap type and fewer of the expensive one."""
    workload = small()
    dear = InstanceType("large", cores=4.0, price=40.0, launch=300.0, most=10)
    fleet = InstanceFleet((*workload.case.fleet.types, dear))
    two = dataclasses.replace(workload, case=dataclasses.replace(workload.case, fleet=fleet))

    def at(curve_name, knob, hours, usd):
        made = dataclasses.replace(measured_blocks([hours] * 4, [100.0] * 4), usd=np.full(4, usd))
        return Measured(Point(curve_name, knob, curve_name), made, made)

    all_found = [at(REACTIVE, DEFAULT, 100.0, 500.0), at(HAZARD, "1 h", 150.0, 400.0)]
    rows = {row.what.partition(f"{REACTIVE}, ")[2]: row for row in curve.rows_of(two, all_found)}
    assert rows["money saved at equal wait"].ours.startswith("20.0 %")
    assert rows["money saved at equal wait"].holds
    assert curve.picture(two, all_found).x_title == "USD"
    assert curve.picture(workload, all_found).x_title == "instance-hours"


@pytest.mark.matrix(0)
def test_jobs_after_the_learned_part_do_not_change_it():
    whole = small()
    jobs, until = whole.case.jobs, float(whole.case.jobs.submit[0]) + whole.judged[0]
    known = jobs.submit < until
    late = VectorJobs(
        jobs.job,
        np.where(known, jobs.submit, until + (jobs.submit - until) / 3),
        jobs.run,
        jobs.resources,
        jobs.walltime,
    )
    other = Workload(
        "other", ElasticCase(late, whole.case.fleet, 300.0, DAY), whole.learned, whole.judged, DAY
    )
    point = Point(HAZARD, "", "hazard", (("worth", 20.0),))
    one, two = (measure(each, point).learned for each in (whole, other))
    # Sums over more numbers are rounded differently.
    assert one.hours.tolist() == pytest.approx(two.hours.tolist(), rel=1e-12)


def test_a_shortened_workload_is_judged_from_the_same_instant():
    workload = small(10)
    short = shortened(workload, 2)
    first, begin = (float(each.case.jobs.submit[0]) for each in (workload, short))
    assert begin - first == pytest.approx(2 * DAY, abs=2 * HOUR)
    assert short.judged == (2 * DAY, 4 * DAY)
    assert short.case.jobs.submit[-1] < first + 6 * DAY


def test_without_logs_every_row_reports_not_run(monkeypatch, tmp_path):
    monkeypatch.setenv(public.VARIABLE, str(tmp_path))
    rows, pictures = curve.cost_and_wait(quick=False, notify=lambda step, share: None, cores=1)
    assert [row.ours for row in rows] == ["not run"] * len(curve_cases.SOURCES)
    assert pictures == ()


@settings(max_examples=20)
@given(st.floats(-1, 1), st.integers(-100, 100).map(lambda n: n / 100))
def test_a_saving_must_be_large_enough_and_significant(value, low):
    gain = Gain(value, low, 1.0)
    compared = Savings(gain, Gain(0.0, 0.0, 0.0))
    assert compared.reached() == (value >= 0.3 and low > 0)
    # A gain as large as claimed that is not significant is undecided.
    assert (
        (gain.judged(0.3).holds is None)
        == (compared.judged().holds is None)
        == (value >= 0.3 and low <= 0 < 1)
    )


@pytest.mark.slow
def test_a_quick_run_on_the_real_log():
    if not (public.traces() / "swf").is_dir():
        pytest.skip("the public traces are not beside the project")
    rows, pictures = curve.cost_and_wait(quick=True, notify=lambda step, share: None, names=("KTH",))
    assert len(pictures) == 1
    assert sum(row.judged is not None for row in rows) >= 6


def test_points_are_the_same_with_and_without_a_crew(monkeypatch):
    calls = []

    class Crew:
        def share(self, value):
            calls.append("share")
            return value

        def submit(self, function, /, *arguments):
            calls.append("submit")
            future = Future()
            future.set_result(function(*arguments))
            return future

    monkeypatch.setattr(curve, "measure", lambda workload, point: (workload, point))
    points = list("abc")
    assert list(curve._measured("w", points, Crew())) == list(curve._measured("w", points, None))
    assert calls == ["share", "submit", "submit", "submit"]


def test_the_option_on_is_refused_for_a_paper_that_runs_in_one_process():
    with pytest.raises(
        InputError, match=r"^--on: paper 'swag' runs in one process, expected one of autoscaler$"
    ):
        by_crews(find_paper("swag"), contextlib.nullcontext)
    assert by_crews(find_paper("swag"), None).name == "swag"
    assert by_crews(find_paper("autoscaler"), lambda: contextlib.nullcontext)._crews is contextlib.nullcontext
