"""Every policy compared step by step with a plain one: choices, estimates and benchmark tasks."""

from __future__ import annotations

import random

import numpy as np
import plain_policies as plain
import pytest
from plain_pull import PlainPull
from plain_rosella import PlainRosella
from plain_sparrow import PlainSparrow

from windlass.dispatch import POLICIES
from windlass.dispatch.state import RNG
from windlass.model import InputError

#: The mean of the first four is 2, and one of them does nothing: ties of the table, and infinite waits.
RATES = [2.0, 4.0, 0.0, 2.0, 8.0]
WORKERS = len(RATES)

#: Name, arguments of the compiled policy, and the plain one from a word of the stream and the first benchmark's time.
CASES = {
    "uniform": ("uniform", {"workers": WORKERS}, lambda word, at: plain.Uniform(WORKERS, word)),
    "round-robin": ("round-robin", {"workers": WORKERS}, lambda word, at: plain.RoundRobin(WORKERS, word)),
    "pot": ("pot", {"workers": WORKERS}, lambda word, at: plain.Pot(WORKERS, word)),
    "jsq": ("jsq", {"workers": WORKERS}, lambda word, at: plain.Jsq(WORKERS, word)),
    "least-outstanding": (
        "least-outstanding",
        {"workers": WORKERS},
        lambda word, at: plain.LeastOutstanding(WORKERS, word),
    ),
    "sparrow": ("sparrow", {"workers": WORKERS}, lambda word, at: PlainSparrow(WORKERS, word, 2)),
    "pss": ("pss", {"rates": RATES}, lambda word, at: plain.Pss(RATES, word)),
    "halo": ("halo", {"rates": RATES}, lambda word, at: plain.Halo(RATES, word)),
    "ppot": ("ppot", {"rates": RATES}, lambda word, at: plain.Ppot(RATES, word)),
    "ppot-ll": ("ppot-ll", {"rates": RATES}, lambda word, at: plain.PpotLl(RATES, word)),
    "sed": ("sed", {"rates": RATES}, lambda word, at: plain.Sed(RATES, word)),
    "eps-greedy": (
        "eps-greedy",
        {"workers": WORKERS, "epsilon": 0.25, "memory": 4.0},
        lambda word, at: plain.EpsGreedy(WORKERS, word, 0.25, 4.0),
    ),
    "ucb": (
        "ucb",
        {"workers": WORKERS, "confidence": 0.5, "memory": 4.0},
        lambda word, at: plain.Ucb(WORKERS, word, 0.5, 4.0),
    ),
}
CASES |= {
    "jiq": ("jiq", {"workers": WORKERS}, lambda word, at: plain.Jiq(WORKERS, word)),
    "fastest-idle": (
        "fastest-idle",
        {"workers": WORKERS, "memory": 4.0},
        lambda word, at: plain.FastestIdle(WORKERS, word, 0.0, 4.0),
    ),
    "ll": (
        "ll",
        {"workers": WORKERS, "probes": 3, "memory": 4.0},
        lambda word, at: plain.Ll(WORKERS, word, 3, 4.0),
    ),
    "ll, one probe": (
        "ll",
        {"workers": WORKERS, "probes": 1},
        lambda word, at: plain.Ll(WORKERS, word, 1, 50.0),
    ),
    "peak-ewma": (
        "peak-ewma",
        {"workers": WORKERS, "decay": 2.0},
        lambda word, at: plain.PeakEwma(WORKERS, word, 2.0),
    ),
    "weighted-least-request": (
        "weighted-least-request",
        {"workers": WORKERS, "memory": 4.0},
        lambda word, at: plain.WeightedLeastRequest(WORKERS, word, 4.0),
    ),
}
for place, (uses, options) in enumerate(
    (
        (2**31, {"probes": 3, "hot": 2.0**-0.25, "max_age": 1.0}),
        (2**31, {"probes": 1, "hot": 0.5, "max_age": 5.0}),
        (2**31, {"probes": 5, "hot": 0.0, "max_age": 0.5}),
        (2**31, {"probes": 2, "hot": 1.0, "max_age": 100.0}),
    )
):
    CASES[f"prequal {place}"] = (
        "prequal",
        {"workers": WORKERS, "memory": 4.0, **options},
        lambda word, at, uses=uses, options=options: plain.Prequal(
            WORKERS,
            word,
            uses=uses,
            age=options["max_age"],
            **{name: options[name] for name in ("probes", "hot")},
        ),
    )
CASES["pss, most do nothing"] = (
    "pss",
    {"rates": [0.0, 3.0, 0.0]},
    lambda word, at: plain.Pss([0.0, 3.0, 0.0], word),
)
CASES["sed, most do nothing"] = (
    "sed",
    {"rates": [0.0, 3.0, 0.0]},
    lambda word, at: plain.Sed([0.0, 3.0, 0.0], word),
)
CASES["rosella, one worker"] = (
    "rosella",
    {"workers": 1, "guaranteed": 0.5, "window_scale": 30.0},
    lambda word, at: PlainRosella(1, 0.5, 1, word, at, 30.0),
)
CASES["pull, one worker"] = (
    "pull",
    {"workers": 1, "guaranteed": 0.5, "window_scale": 30.0},
    lambda word, at: PlainPull(1, 0.5, 1, word, at, 30.0),
)
for number, options in enumerate(
    (
        {"gaps": 3},
        {"gaps": 1, "by": "wait"},
        {"gaps": 20, "probes": 4, "most_load": 0.5},
        {"gaps": 5, "by": "wait", "probes": 3, "probe_share": 0.7, "window_scale": 9.0},
        {"gaps": 50, "probe_share": 0.0, "window_scale": 2.0},
    )
):
    for sure in (16.0, None):
        CASES[f"rosella {number} {'told' if sure else 'not told'}"] = (
            "rosella",
            {"workers": WORKERS, "guaranteed": sure, **options},
            lambda word, at, sure=sure, options=options: PlainRosella(
                WORKERS, sure, 1, word, at, **{"window_scale": 0.02, **options}
            ),
        )
        own = {name: value for name, value in options.items() if name not in ("by", "probes")}
        for late in (True, False):
            CASES[f"pull {number} {'told' if sure else 'not told'} {'late' if late else 'at once'}"] = (
                "pull",
                {"workers": WORKERS, "guaranteed": sure, "late": late, **own},
                lambda word, at, sure=sure, own=own, late=late: PlainPull(
                    WORKERS, sure, 1, word, at, late=late, **{"window_scale": 0.02, **own}
                ),
            )


def same_beliefs(policy, twin):
    """Check that the public state of a policy equals that of the plain one."""
    if hasattr(twin, "rates"):
        np.testing.assert_allclose(policy.rates, twin.rates, rtol=1e-9)
    if hasattr(twin, "average"):
        np.testing.assert_allclose(policy.latencies, twin.average, rtol=1e-9)
    assert policy.benchmark_at == pytest.approx(twin.benchmark_at, rel=1e-9)
    if isinstance(twin, PlainRosella):
        gaps, span = len(twin.times) - 1, twin.times[-1] - twin.times[0] if twin.times else 0.0
        rate = 0.0 if gaps < 1 else gaps / span if span > 0.0 else np.inf
        assert policy.arrival_rate == pytest.approx(rate, rel=1e-9)
        assert (policy.load, policy.accuracy) == pytest.approx((twin.load, twin.epsilon), rel=1e-9)


@pytest.mark.matrix
@pytest.mark.parametrize("case", CASES)
def test_every_step_equals_the_plain_policy(case):
    name, arguments, make = CASES[case]
    steps = random.Random(case)
    policy = POLICIES.make(name, np.random.default_rng(7), **arguments)
    twin = make(int(policy.ints[RNG]), policy.benchmark_at)
    workers, now, chosen = policy.workers, 0.0, []
    for step in range(250):
        now += steps.choice([0.0, 0.125, 0.25, 0.5, 0.5, 1.0, 1.0, 30.0 if step % 50 == 49 else 0.25])
        what = steps.random()
        worker = steps.randrange(workers)
        # The first choice is requested before any arrival.
        if (what < 0.5 and step > 0) or step == 1:
            # The clock of an engine may be behind that of the last task.
            came = now if steps.random() < 0.9 else now - 0.375
            for each in (policy, twin):
                each.arrived(came)
        if what < 0.55 or step < 2:
            lengths = np.array([steps.randrange(4) for _ in range(workers)])
            if getattr(twin, "copies", 0) < 0:
                chosen += [order := list(twin.offers())]
                assert list(policy.offers()) == order
            elif twin.here:
                chosen.append(twin.choose(lengths.tolist()))
                assert policy.choose(lengths) == chosen[-1]
            else:
                with pytest.raises(InputError, match="every worker has left"):
                    policy.choose(lengths)
        elif what < 0.8:
            # Nothing known of sizes is ever 0 for a bandit, which would divide by it.
            work = steps.choice([0.5, 1.0, 2.0, 2.0 if hasattr(twin, "curiosity") else 0.0])
            seconds = work / (worker + 1) * steps.choice([1.0, 2.0])
            method = steps.choice(["completed", "completed", "reported", "benchmarked"])
            for each in (policy, twin):
                getattr(each, method)(worker, work, seconds)
        elif what < 0.85:
            for each in (policy, twin):
                each.left(worker)
        elif what < 0.9:
            for each in (policy, twin):
                each.joined(worker)
        elif what < 0.92:
            rate = steps.choice([0.0, 1.0, 4.0])
            for each in (policy, twin):
                if hasattr(each, "set_rate"):
                    each.set_rate(worker, rate)
        elif what < 0.96 and getattr(twin, "copies", 0) < 0 and worker in twin.here:
            waiting, others = steps.randrange(8), steps.randrange(8)
            earlier = now - steps.choice([0.0, 0.0, 0.625])
            held, fetch = steps.choice([0, 0, 1, 2, 4]), steps.choice([0.25, 0.5, 1.0])
            expected = twin.takes(worker, earlier, waiting, others, held=held, fetch=fetch)
            assert policy.takes(worker, earlier, waiting, others, held=held, fetch=fetch) == expected
        elif twin.benchmark_at < np.inf:
            # Each at its own instant, as sums are rounded in another order; at that very instant it is due.
            own, other = (now, now) if steps.random() < 0.3 else (policy.benchmark_at, twin.benchmark_at)
            assert policy.benchmark(own) == twin.benchmark(other)
        same_beliefs(policy, twin)
    assert len(set(map(str, chosen))) > 1 or workers == 1
