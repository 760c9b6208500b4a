"""Changes of shared allocations: co-schedulers, batch systems, Slurm and the simulator of pairs."""

from tests.mutants.mutant import Mutant

LARGEST, NEIGHBOURS, PAST = "share/lib/largest.py", "sim/shares/neighbours.py", "engines/slurm/history.py"
SHARING, BOOK, ENGINE = "engines/batch/sharing.py", "engines/batch/book.py", "engines/batch/engine.py"
OF_PAIRS = ("tests/share/test_pairs_plain.py",)
OF_ASAX = ("tests/share/test_asax.py",)
OF_DEFAULTS = ("tests/share/test_defaults.py",)
OF_FACTORS = ("tests/sim/test_shares_defaults.py",)
OF_PAST = ("tests/engines/slurm/test_past.py",)
OF_RULES = ("tests/engines/test_sharing_rules.py",)
OF_LEAVING = ("tests/engines/test_sharing_leaving.py",)
OF_BOOK = ("tests/engines/test_batch_book.py",)
OF_REFUSED = ("tests/engines/test_batch_refused.py",)
OF_SHARING = ("tests/engines/test_sharing.py",)
OF_MISHAPS = ("tests/engines/test_sharing_mishaps.py",)
OF_DRIVER = ("tests/engines/slurm/test_driver.py",)
OF_READINGS = ("tests/engines/slurm/test_readings.py",)
OF_TELEMETRY = ("tests/sim/test_telemetry.py",)
STEPS, OF_STEPS = "sim/shares/steps.py", "tests/coupled/test_share_steps.py"

MUTANTS = (
    Mutant(LARGEST, "np.clip(faster, 0.0, 1.0) * use(guest) *", "np.clip(faster, 0.0, 1.0) *", OF_PAIRS),
    Mutant(LARGEST, "_MARGIN = 1.1", "_MARGIN = 1.0", OF_PAIRS),
    Mutant("share/policies/asax.py", "if not self.learn:", "if False:", OF_ASAX),
    Mutant("share/lib/part.py", "if found >= 1.0 else", "if found > 1.0 else", OF_DEFAULTS),
    Mutant(
        "share/policies/pairs.py", 'part_of("worth", worth, 100.0)', 'part_of("worth", worth)', OF_DEFAULTS
    ),
    Mutant(
        NEIGHBOURS,
        "_part(self.model.host_time(guest_cpu, quota), host_cpu)",
        "_part(quota, host_cpu)",
        OF_FACTORS,
    ),
    Mutant(
        "share/interference.py",
        'quota if self.host == "capped" else min(quota, guest_use)',
        "quota",
        ("tests/share/test_interference.py",),
    ),
    Mutant(
        PAST,
        "(left.submit, left.restarts) == (row.submit, row.restarts)",
        "left.restarts == row.restarts",
        OF_PAST,
    ),
    Mutant(
        PAST,
        'case Ended(job, at) if job in under_way:\n                    entries.append(Over(at, job, "ended"))',
        "case Ended(job, at) if job in under_way:\n                    pass",
        OF_PAST,
    ),
    Mutant(SHARING, "        need -= sum(book.width(job) for job in self._leaving)\n", "", OF_LEAVING),
    Mutant(SHARING, "every: float = 5.0", "every: float = 10.0", OF_RULES),
    Mutant(SHARING, "self._shares.host_of(job) is not None}", "self._shares.host_of(job) is None}", OF_RULES),
    Mutant(
        SHARING,
        "if not self._book.waits(share.guest) or not self._book.holds(share.host):",
        "if not self._book.holds(share.host):",
        OF_RULES,
    ),
    Mutant(SHARING, "if paired & {pair.host, pair.guest}:", "if False:", OF_RULES),
    Mutant(
        SHARING, "min(end, shares.until(partner)) if self._may_leave(partner) else end", "end", OF_MISHAPS
    ),
    Mutant(BOOK, 'jobs["expected_end"][rows] = now + jobs', 'jobs["expected_end"][rows] = jobs', OF_BOOK),
    Mutant(BOOK, '        entry["refusals"] += 1\n', "", OF_BOOK),
    Mutant(BOOK, "self._seen = self.free, self.owed\n\n    def apart", "pass\n\n    def apart", OF_REFUSED),
    Mutant(
        ENGINE,
        "        self._take_in()\n        if self._side_decision.due(now) is None:",
        "        if self._side_decision.due(now) is None:",
        OF_SHARING,
    ),
    Mutant(ENGINE, "            self._wanted = True\n", "", OF_SHARING),
    Mutant(
        "engines/slurm/driver.py",
        "            if not driving.keep_held:\n",
        "            if True:\n",
        OF_DRIVER,
    ),
    Mutant("engines/slurm/shares.py", "_SLACK_S = 60.0", "_SLACK_S = 120.0", OF_READINGS),
    Mutant("engines/slurm/use.py", "usage.waited - usage.throttled)", "usage.waited)", OF_READINGS),
    Mutant("sim/telemetry/neighbours.py", "peak + float(rng.exponential(last))", "peak + last", OF_TELEMETRY),
    Mutant("sim/telemetry/pressure.py", "seconds * state.speed[node]", "seconds", OF_TELEMETRY),
    Mutant(
        STEPS,
        "own.ended != counts.ended or own.lost != counts.lost",
        "own.ended != counts.ended",
        (f"{OF_STEPS}::test_a_job_that_restarts_as_it_is_lost_is_measured_from_its_restart",),
    ),
    Mutant(
        STEPS,
        "(counts.late > 0 and _in_the_way(run, counts.late))",
        "False",
        (f"{OF_STEPS}::test_late_guests_make_way_as_soon_as_this_helps_the_head",),
    ),
    Mutant(
        STEPS,
        "now >= clock.stage_end or now >= clock.promise",
        "now >= clock.stage_end",
        (f"{OF_STEPS}::test_late_guests_make_way_as_soon_as_this_helps_the_head",),
    ),
    Mutant(
        STEPS,
        "    return REACHED\n",
        "    return IN_PYTHON\n",
        (f"{OF_STEPS}::test_instants_at_which_nothing_happens_need_no_python",),
    ),
)
