"""Changes of what is read, drawn, measured and judged."""

from tests.mutants.mutant import Mutant

DRAWN = "tests/model/test_drawn_jobs.py"
QUERIES = "tests/model/test_drawn_queries.py"
OTHERS = "tests/traces/test_log_columns_others.py"
JSON = "tests/traces/test_log_fields_json.py"
OF_FLEETS = "tests/metrics/test_of_fleets_and_instances.py"
OF_WORLDS = "tests/metrics/test_of_each_world.py"
SHARING = "results/metrics/sharing.py"

MUTANTS = (
    Mutant("experiment/workloads/lublin/kinds.py", "639.1, 7.073)", "639.1, 14.146)", (DRAWN,)),
    Mutant("experiment/workloads/lublin/kinds.py", "0.875, 0.705)", "0.875, 0.5)", (DRAWN,)),
    Mutant(
        "experiment/workloads/queries.py",
        'ComponentProfile("tiny", 0.72, 0.25)',
        'ComponentProfile("tiny", 0.72, 0.5)',
        (QUERIES,),
    ),
    Mutant("experiment/workloads/use.py", "_WITHIN = 0.05", "_WITHIN = 0.1", (DRAWN,)),
    Mutant(
        "experiment/workloads/swim.py",
        "2 * BLOCK_BYTES",
        "BLOCK_BYTES",
        ("tests/model/test_fleets_of_logs.py",),
    ),
    Mutant("io/traces/logs/kubectl.py", 'phase == "Pending"', 'phase == "Waiting"', (JSON,)),
    Mutant(
        "io/traces/logs/openb.py", "None if memory is None else", "None if memory is not None else", (OTHERS,)
    ),
    Mutant(
        "io/traces/logs/pbs.py", 'row.text("account", "group")', 'row.text("group", "account")', (OTHERS,)
    ),
    Mutant(
        "io/traces/logs/sacct.py",
        "held.memory or request.memory or memory",
        "memory or held.memory or request.memory",
        ("tests/traces/test_log_columns.py",),
    ),
    Mutant("io/traces/wan.py", '"cost") / 1e9', '"cost")', ("tests/traces/test_readers_published.py",)),
    Mutant("results/metrics/fleet.py", "BYTES_PER_SUBJOB = 8", "BYTES_PER_SUBJOB = 9", (OF_FLEETS,)),
    Mutant(
        "results/metrics/bound.py", "max(work[sub], squares / total) / 2.0", "work[sub] / 2.0", (OF_FLEETS,)
    ),
    Mutant("results/metrics/elastic.py", "(wait * done.shares).sum()", "wait.sum()", (OF_FLEETS,)),
    Mutant(SHARING, ">= done.start[shared.host]", "> done.start[shared.host]", (OF_WORLDS,)),
    Mutant(SHARING, ">= done.start[shared.guest]", "> done.start[shared.guest]", (OF_WORLDS,)),
    Mutant(SHARING, "np.setdiff1d(hosts, shared.guest[completed[1]])", "np.unique(hosts)", (OF_WORLDS,)),
    Mutant("results/metrics/video.py", "done.late.sum()", "done.lost.sum()", (OF_WORLDS,)),
    Mutant("results/verdict/fidelity.py", "[50, 90]", "[50, 95]", ("tests/verdict/test_results.py",)),
    Mutant(
        "experiment/worlds/elastic/spot.py",
        "changed * trace.gap, len(number)",
        "changed * trace.gap, len(changed)",
        ("tests/worlds/test_by_hand.py",),
    ),
)
