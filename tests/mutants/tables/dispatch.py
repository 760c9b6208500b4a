"""Changes of the dispatch policies and of what they learn."""

from tests.mutants.mutant import Mutant

LEARNER, ROSELLA = "dispatch/lib/learner.py", "dispatch/policies/rosella.py"
LEARNING, PULL = "dispatch/lib/learning.py", "dispatch/policies/pull.py"
RANKING, SPEEDS, LOG = "dispatch/lib/ranking.py", "dispatch/lib/speeds.py", "sim/workers/log.py"
BANDIT, RATED = "dispatch/lib/bandit.py", "dispatch/lib/rated.py"
PLAIN = "tests/dispatch/test_decentralised.py::test_each_scheduler_learns_as_plain_rosella"
TRUE_RATES = (f"{PLAIN}[stalled-known-3-0.4]",)
SHAKY = (f"{PLAIN}[shaky-known-2-0.0]",)
ALONE = (f"{PLAIN}[shaky-unknown-1-0.0]", f"{PLAIN}[long windows-known-1-0.0]")
PULLED = ("tests/dispatch/test_pull.py::test_each_scheduler_acts_as_plain_pull[shaky-known-4-8-1.5]",)
BANDITS = ("tests/dispatch/test_bandits.py",)
CENTRAL, AHEAD_RULE = "sim/workers/central.py", "dispatch/lib/ahead.py"
AHEAD = ("tests/dispatch/test_ahead.py",)
FETCHED = (
    "tests/dispatch/test_decentralised.py::test_a_worker_waits_for_the_tasks_that_it_fetches[pull-0.05-1-0.0-1]",
)
EJECTED = ("tests/engines/test_ejection.py",)
EVERY_STEP = ("tests/dispatch/test_plain_policies.py",)
RANKED, TAKEN = ("tests/dispatch/test_ranking.py",), ("tests/dispatch/test_speeds.py",)
CHOICES = ("tests/dispatch/test_choices.py",)

REPLICA, SHARED = "engines/serve/replica.py", "tests/engines/test_replicas_shared.py"
PARTS_OF_SERVE = ("tests/engines/test_serve_parts.py",)

MUTANTS = (
    Mutant(
        REPLICA,
        "passed = min(now - self._last_end, now - sent.at)",
        "passed = now - sent.at",
        (f"{SHARED}::test_no_second_is_counted_twice",),
    ),
    Mutant(
        REPLICA,
        "passed * min(sent.length, at_once) - self.reported",
        "passed * min(sent.length, at_once)",
        (f"{SHARED}::test_reported_seconds_of_silence_are_not_reported_again",),
    ),
    Mutant(
        "engines/serve/replicas.py",
        "self._at_once, length)",
        "self._at_once, None)",
        (f"{SHARED}::test_estimates_are_service_rates_for_any_number_of_routers",),
    ),
    Mutant(
        "engines/serve/ejection.py", "self._length = min(2.0 * self._length, _LONGEST_S)", "pass", EJECTED
    ),
    Mutant(
        "dispatch/policies/peak_ewma.py", "second + 1 if second >= place else second", "second", EVERY_STEP
    ),
    Mutant("dispatch/policies/peak_ewma.py", "seconds if seconds > before else before", "before", EVERY_STEP),
    Mutant(
        "dispatch/policies/peak_ewma.py",
        "    if own == 1:\n        _observe",
        "    if own >= 0:\n        _observe",
        EVERY_STEP,
    ),
    Mutant("engines/serve/policies.py", "memory=float(options.window), ", "", PARTS_OF_SERVE),
    Mutant("engines/serve/policies.py", "probes=options.probes)", "probes=None)", PARTS_OF_SERVE),
    Mutant("engines/serve/replicas.py", "* max(len(self._ids), 1)", "", PARTS_OF_SERVE),
    Mutant(
        "dispatch/lib/learning.py",
        "rates / (1.0 - self.accuracy)",
        "rates",
        ("tests/engines/test_replicas.py",),
    ),
    Mutant("engines/serve/ejection.py", "FAILED and not self.is_out(now)", "FAILED", EJECTED),
    Mutant("engines/serve/replicas.py", "has_room &= allowed", "pass", EJECTED),
    Mutant("engines/serve/replicas.py", " and outcome is RequestOutcome.SERVED", "", EJECTED),
    Mutant("engines/serve/replicas.py", "or outcome is RequestOutcome.FAILED", "", EJECTED),
    Mutant(LEARNER, "(1.0 + epsilon) * length / least", "5.0 * (1.0 + epsilon) * length / least", TRUE_RATES),
    Mutant(
        LEARNER,
        "keep * floats[GUARANTEED] / count",
        "0.01 * keep * floats[GUARANTEED] / count",
        TRUE_RATES,
    ),
    Mutant(LEARNING, "floats[:, learn.PART] /= schedulers", "floats[:, learn.PART] /= 1", SHAKY),
    Mutant(
        LEARNING, "floats[:, learn.PART] /= schedulers", "floats[:, learn.GUARANTEED] /= schedulers", SHAKY
    ),
    Mutant(LEARNER, "(floats[GUARANTEED] * floats[PART])", "floats[GUARANTEED]", SHAKY),
    Mutant(
        LEARNER,
        "* floats[GUARANTEED] * floats[PART] / floats[MEAN_WORK]",
        "* floats[GUARANTEED] / floats[MEAN_WORK]",
        SHAKY,
    ),
    Mutant(PULL, "ints[learn.TICKS] += own == 0", "pass", PULLED),
    Mutant(PULL, "waiting + others", "waiting", PULLED),
    Mutant(PULL, "speeds.forget(worker, ints, floats)", "pass", PULLED),
    Mutant(RANKING, "return lower + 1.0 if _is_better(", "return lower + 1.0 if not _is_better(", RANKED),
    Mutant(RANKING, "return math.ceil(saved * together)", "return math.floor(saved * together)", RANKED),
    Mutant(RANKING, "return first > second * (together / arriving)", "return first > second", RANKED),
    Mutant(RANKING, "- faster / together - fetch", "- fetch", PULLED),
    Mutant(RANKING, "fetch = _FETCHED *", "fetch = 0.0 *", EVERY_STEP),
    Mutant(RANKING, "_FETCHED, _CAUTION = 0.5, 2.0", "_FETCHED, _CAUTION = 0.5, 3.0", EVERY_STEP),
    Mutant(SPEEDS, "seconds = floats[own + _SILENT]", "pass", (*TAKEN, *PULLED)),
    Mutant(SPEEDS, "floats[own + _SILENT] = 0.0", "pass", (*TAKEN, *PULLED)),
    Mutant(SPEEDS, "count = _KEPT", "count = 0.0", (*TAKEN, *PULLED)),
    Mutant(
        SPEEDS, "max(0.0, spread / (known - 1) - doubt / known)", "spread / (known - 1)", (*TAKEN, *PULLED)
    ),
    Mutant(SPEEDS, "speed = scale *", "speed =", (*TAKEN, *PULLED)),
    Mutant(SPEEDS, "min(max(difference / spread, -_MOST), _MOST)", "difference / spread", (*TAKEN, *PULLED)),
    Mutant(LOG, "progress.known_unbound - state.known_unbound[scheduler]", "progress.known_unbound", PULLED),
    Mutant(CENTRAL, "progress.unbound > 0 and progress.idle > 0", "progress.unbound > 5", AHEAD),
    Mutant(CENTRAL, "state.arrives[task] = now + fetch", "state.arrives[task] = now", FETCHED),
    Mutant(CENTRAL, "before > task", "before > task + 99999", PULLED),
    Mutant(
        CENTRAL,
        "begin_next(state, bind, worker, 0.0, now)",
        "begin_next(state, bind, worker, 9.0, now)",
        AHEAD,
    ),
    Mutant(AHEAD_RULE, "saved * (1.0 + drain) >= rest", "saved >= rest", AHEAD),
    Mutant(AHEAD_RULE, "if saved < _LEAST or", "if", AHEAD),
    Mutant(RANKING, "return np.int64(max(1.0, needs))", "return np.int64(1)", AHEAD),
    Mutant(LOG, "state.known_unbound[scheduler] = number", "pass", PULLED),
    Mutant(LEARNER, "epsilon = _ACCURACY * (1.0 - load)", "epsilon = _ACCURACY", ALONE),
    Mutant(LEARNER, "_ACCURACY, _ALIVE = 0.3, 0.1", "_ACCURACY, _ALIVE = 0.3, 0.2", TRUE_RATES),
    Mutant(LEARNER, "_LEAST_LENGTH = 16.0", "_LEAST_LENGTH = 64.0", ALONE),
    Mutant(LEARNER, "math.log(max(count, 2)) / epsilon**2", "math.log(max(count, 2)) / epsilon", ALONE),
    Mutant(LEARNER, "min(count + 1, 1000)", "min(count + 1, 10)", ALONE),
    Mutant(LEARNER, "if known - floats[index(oldest + _COUNT)] < length:", "if known < length:", ALONE),
    Mutant(LEARNER, "MOVED_ENOUGH = 0.001", "MOVED_ENOUGH = 0.1", ALONE),
    Mutant(ROSELLA, "own != 2, ints, floats)", "True, ints, floats)", ALONE),
    Mutant(LEARNING, "learn.clear_window(worker, ints, floats)", "pass", SHAKY),
    Mutant(
        RATED,
        "pick(lengths[index(second)] < lengths[index(first)], second, first)",
        "pick(lengths[index(second)] <= lengths[index(first)], second, first)",
        SHAKY,
    ),
    Mutant(
        RATED,
        "return (length + 1) * floats[rates + other]",
        "return length * floats[rates + other]",
        CHOICES,
    ),
    Mutant(
        "dispatch/policies/jsq.py",
        "lengths[worker] < lengths[best]",
        "lengths[worker] > lengths[best]",
        CHOICES,
    ),
    Mutant(
        "dispatch/policies/sed.py",
        "first_to_serve(worker, best, lengths",
        "first_to_serve(best, worker, lengths",
        CHOICES,
    ),
    Mutant(BANDIT, "floats[FADING] * floats[place + WORK] + work", "floats[place + WORK] + work", BANDITS),
    Mutant(
        BANDIT,
        "floats[FADING] * floats[place + SECONDS] + seconds",
        "floats[place + SECONDS] + seconds",
        BANDITS,
    ),
    Mutant(
        BANDIT,
        "floats[FADING] * floats[place + COMPLETIONS] + 1.0",
        "floats[place + COMPLETIONS] + 1.0",
        BANDITS,
    ),
    Mutant("dispatch/lib/alias.py", "ints[place] -= np.int64(_FULL) - ints", "ints[place] -= ints", SHAKY),
    Mutant("dispatch/state.py", "rate = used / span if span", "rate = (used + 1) / span if span", SHAKY),
)
