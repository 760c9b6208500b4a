"""Constants of fitted distributions, fitted again to the measurements."""

from pathlib import Path

import numpy as np
import pytest
from scipy.stats import beta

from windlass.experiment.workloads.measured import FITTED_TO_HALF, OVERESTIMATES
from windlass.experiment.workloads.use import CPU_LAW, MEMORY_LAW
from windlass.experiment.worlds.sharing.spec import InterferenceSpec
from windlass.io.traces import read_swf, to_workload
from windlass.io.traces.interference import read_interference
from windlass.share.interference import fit_interference

TRACES = Path(__file__).parents[3] / "shared" / "traces"


@pytest.fixture(scope="module")
def pairs():
    if not (TRACES / "interference").is_dir():
        pytest.skip("no measured pairs: ../shared/traces/interference")
    return read_interference(TRACES / "interference")


def test_overestimates_are_the_quantiles_of_the_log():
    path = TRACES / "swf" / "KTH-SP2-1996-2.1-cln.swf.gz"
    if not path.is_file():
        pytest.skip("no logs: ../shared/traces/swf")
    jobs = to_workload(read_swf(path)).jobs
    rows = (jobs.run > 60.0) & (jobs.run <= jobs.request)
    factors = jobs.request[rows] / jobs.run[rows]
    assert len(factors) == 19_561
    steps = np.linspace(0.0, 1.0, 21)[:-1]
    assert OVERESTIMATES.values[:-1] == pytest.approx(np.quantile(factors, steps), abs=6e-4)
    # The last twentieth is cut off far below its maximum.
    assert np.quantile(factors, 0.96) < OVERESTIMATES.values[-1] < np.quantile(factors, 0.975)


def test_cpu_and_memory_use_are_beta_fits_to_the_jobs_measured_alone(pairs):
    names, first = np.unique(pairs.jobs.reshape(-1), return_index=True)
    assert len(names) == 56
    # A beta distribution gives a use of 0 or 1 no likelihood, so such jobs count as nearly idle or nearly busy.
    use = np.clip(pairs.use.reshape(-1)[first] / 100.0, 0.005, 0.995)
    assert beta.fit(use, floc=0, fscale=1)[:2] == pytest.approx(CPU_LAW, rel=1e-3)
    memory = pairs.memory.reshape(-1)[first] / 24e9
    assert beta.fit(memory, floc=0, fscale=1)[:2] == pytest.approx(MEMORY_LAW, rel=1e-3)


def test_interference_models_are_fitted_to_the_measured_pairs(pairs):
    half = np.arange(len(pairs)) % 2 == 0
    found = fit_interference(pairs.use[half], pairs.speed[half])
    assert (found.pressure, found.both, found.crowding) == pytest.approx(FITTED_TO_HALF, abs=1e-4)
    found, spec = fit_interference(pairs.use, pairs.speed), InterferenceSpec()
    assert (found.pressure, found.both, found.crowding) == pytest.approx(
        (spec.pressure, spec.both, spec.crowding), abs=6e-4
    )
