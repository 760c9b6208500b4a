"""Changes of what is measured."""

from tests.mutants.mutant import Mutant

SITE, WORKERS, FLEET = "results/metrics/site.py", "results/metrics/workers.py", "results/metrics/fleet.py"
OURS = ("tests/metrics/test_plain.py",)
OF_SITE = (f"{OURS[0]}::test_batch_metrics_of_rigid_jobs_match_plain_python",)
OF_WORKERS = (f"{OURS[0]}::test_dispatch_metrics_match_plain_python",)
OF_FLEET = (f"{OURS[0]}::test_fleet_metrics_match_plain_python",)

MUTANTS = (
    Mutant(SITE, "np.percentile(wait, (95, 99))", "np.percentile(wait, (90, 99))", OF_SITE),
    Mutant(SITE, "np.median(wait)", "wait.mean()", OF_SITE),
    Mutant(SITE, "SLOWDOWN_THRESHOLD = 10.0", "SLOWDOWN_THRESHOLD = 1.0", OF_SITE),
    Mutant(SITE, "((end - start) * procs).sum()", "(end - start).sum()", OF_SITE),
    Mutant(SITE, "end.max() - submit.min()", "end.max() - start.min()", OF_SITE),
    Mutant(SITE, "(wait > starved_after).sum()", "(wait < starved_after).sum()", OF_SITE),
    Mutant(WORKERS, "done.percentile(95)", "done.percentile(90)", OF_WORKERS),
    Mutant(WORKERS, "done.percentile(99)", "done.percentile(95)", OF_WORKERS),
    Mutant(WORKERS, "(done.start - done.submit).mean()", "done.response.mean()", OF_WORKERS),
    Mutant(FLEET, "np.percentile(run.response, 95)", "np.percentile(run.response, 90)", OF_FLEET),
    Mutant(FLEET, "np.divide(run.response, service_s,", "np.divide(run.response, service_s + 1.0,", OF_FLEET),
    Mutant(FLEET, "(run.computed - run.begun).sum()", "(run.end.max() - run.begun).sum()", OF_FLEET),
    Mutant(FLEET, "np.minimum(run.computed, end) - np", "run.computed - np", OF_FLEET),
    Mutant("results/metrics/isolated.py", "end = ends[0] + duration[task]", "end = duration[task]", OF_FLEET),
)
