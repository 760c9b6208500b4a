"""The reproduction of ASAx: its mix, and relations between its results."""

import numpy as np
import pytest

from windlass_reproductions.asax.mix import CORES, PROGRAMS, draw_mix
from windlass_reproductions.asax.runs import ASAX, EASY, PAIRS, STATIC, run_all
from windlass_reproductions.asax.tables import utilisation, verdicts
from windlass_reproductions.verdicts import interval


@pytest.mark.parametrize("size", CORES)
def test_programs_have_the_run_times_and_cpu_use_of_table_2(size):
    case = draw_mix(size, np.random.default_rng(3))
    at, classes = CORES.index(size), np.array(case.use.job_class)
    used = 100 * case.use.core_seconds(np.ones(len(case.jobs), np.int64)) / case.jobs.run
    for program in PROGRAMS:
        rows = classes == program.name
        hours = case.jobs.run[rows] / 3600
        assert hours.mean() == pytest.approx(program.hours[at])
        assert hours.std() == pytest.approx(program.hours[at] * program.spread[at])
        # A sequential stage is a larger share of a narrow job, and no job can use more than all cores.
        assert used[rows].mean() == pytest.approx(program.cpu[at], abs=2.0)
    assert (case.jobs.procs <= size).all()
    assert (case.jobs.request >= case.jobs.run).all()


def test_the_same_seed_draws_the_same_mix():
    one, other = (draw_mix(64, np.random.default_rng([4, 7])) for _ in range(2))
    assert one.jobs.run.tobytes() == other.jobs.run.tobytes()
    assert one.physics(3, 5, 40.0, 60.0, 30) == other.physics(3, 5, 40.0, 60.0, 30)


@pytest.mark.slow
def test_sharing_does_not_change_the_total_work():
    found = run_all(range(50, 52), (EASY, STATIC, ASAX, PAIRS), lambda step, share: None)
    for size in CORES:
        easy = found[size][EASY.shown]
        for each in (STATIC, PAIRS):
            ours = found[size][each.shown]
            whole = ours.of("cut_by_sharing") == 0
            work = (ours.of("cpu_utilisation") * ours.of("makespan_s"))[whole]
            assert work == pytest.approx(
                (easy.of("cpu_utilisation") * easy.of("makespan_s"))[whole], rel=1e-6
            )
    rows = verdicts(found)
    assert len(rows) == 2 * (3 * len(CORES) + 1)
    # Two seeds leave some claims undecided; a row that does not hold gives the reason.
    assert all(row.holds is True or row.note for row in rows)
    assert len(utilisation(found)) == 2 * len(CORES)


def test_the_interval_of_one_seed_is_infinite():
    assert interval(np.array([1.0])).half == np.inf
