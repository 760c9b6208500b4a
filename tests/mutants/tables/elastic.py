"""Changes of the engine of scaling and of simulated instances."""

from tests.mutants.mutant import Mutant

ENGINE, PLACING = "engines/elastic/engine.py", "sim/instances/placing.py"
COURSE = "tests/engines/elastic/test_course.py"
OUTAGES = (f"{COURSE}::test_times_and_lines_equal_those_of_a_plain_loop",)
BOUNDS = (f"{COURSE}::test_ready_and_launching_instances_raise_the_maximum",)
PLAIN = "tests/sim/test_instances_plain.py"
AT_ONCE = (f"{PLAIN}::test_draining_instances_count_towards_the_maximum",)

BUFFER = ("tests/scale/test_buffer.py",)

MUTANTS = (
    Mutant("scale/policies/buffer.py", "self._spare + demand", "demand", BUFFER),
    Mutant("scale/policies/buffer.py", "self._share * view.used", "self._share * view.ready", BUFFER),
    Mutant("scale/policies/buffer.py", "if not view.due:", "if False:", BUFFER),
    Mutant("scale/policies/thrifty.py", 'self.idle = number("idle", idle, 0.0)', "self.idle = 0.0", BUFFER),
    Mutant("scale/policies/hazard.py", 'self.idle = number("idle", idle, 0.0)', "self.idle = 0.0", BUFFER),
    Mutant(
        "experiment/workloads/earlier.py",
        "np.where(left.walltime > done, left.walltime - done, np.inf)",
        "left.walltime - done",
        ("tests/model/test_drawn_jobs.py",),
    ),
    Mutant(
        PLACING,
        "present = fleet.starting[of] + fleet.up[of] + fleet.leaving[of]",
        "present = fleet.starting[of] + fleet.up[of]",
        AT_ONCE,
    ),
    Mutant(ENGINE, "(seen.ready + seen.coming).tolist()", "seen.ready.tolist()", BOUNDS),
    Mutant(
        ENGINE,
        "self._missed = 0\n        if answer",
        "if answer",
        OUTAGES,
    ),
    Mutant(ENGINE, "self._next = now + self._period", "self._next += self._period", OUTAGES),
    Mutant(
        "engines/kubernetes/snapshot.py",
        "up = holds or is_ready",
        "up = is_ready",
        ("tests/engines/kubernetes/test_counts.py",),
    ),
    Mutant(
        "engines/kubernetes/pods.py",
        "most = np.maximum(most, sidecars + _requested(each))",
        "most = np.maximum(most, _requested(each))",
        ("tests/engines/kubernetes/test_pods.py",),
    ),
)
