"""Changes of commands, reports, checks and reproductions that a user would see as another number or default."""

from tests.mutants.mutant import Mutant

PASSED_ON, SHOWN = ("tests/cli/test_passed_on.py",), ("tests/cli/test_shown.py",)
BROKEN, DISPATCH = ("tests/checks/test_broken.py",), ("tests/checks/test_broken_dispatch.py",)
VALUES, WORDS = ("tests/report/test_values.py",), ("tests/report/test_words.py",)
TIMELINES = ("tests/report/test_timelines.py",)
TETRIUM, SWAG = ("tests/reproductions/test_tetrium_options.py",), ("tests/reproductions/test_swag_causes.py",)
CASCADE, LEARNING = (
    ("tests/reproductions/test_cascade_places.py",),
    ("tests/reproductions/test_rosella_learning.py",),
)
LIVE, ASAX = ("tests/reproductions/test_live_rows.py",), ("tests/reproductions/test_asax_runs.py",)

MUTANTS = (
    Mutant(
        "cli/subcommands.py",
        '] = "20min",',
        '] = "10min",',
        PASSED_ON,
    ),
    Mutant(
        "cli/agent.py",
        "where.port + 1 if where.port else 0",
        "where.port + 1",
        ("tests/cli/test_passed_on_agents.py",),
    ),
    Mutant("cli/plan/output.py", "amount * 8 / 1e6", "amount / 1e6", SHOWN),
    Mutant(
        "cli/plan/measured.py",
        "late = np.concatenate([row.late for row in calm])",
        "late = np.concatenate([row.late for row in rows])",
        SHOWN,
    ),
    Mutant("cli/slurm.py", 'if "--checkpoint" in given_in(context) and', "if", SHOWN),
    Mutant("experiment/checks/generic.py", "            answer.check(view)", "            pass", BROKEN),
    Mutant("experiment/checks/place.py", "[::7]", "[:1]", BROKEN),
    Mutant("experiment/checks/dispatch.py", " or compiled.binds_late", "", DISPATCH),
    Mutant("report/timelines.py", "function.time - known.submit.min()", "function.time", TIMELINES),
    Mutant("report/breakdowns.py", "(measure > self.above)", "(measure >= self.above)", VALUES),
    Mutant("report/waiting.py", "few = waited.wait - kept", "few = waited.wait", WORDS),
    Mutant("windlass_reproductions/tetrium/options.py", "0.3: (16, 25, 26", "0.3: (16, 24, 26", TETRIUM),
    Mutant("windlass_reproductions/swag/causes.py", "own <= each_reordered", "own < each_reordered", SWAG),
    Mutant(
        "windlass_reproductions/cascade/placement.py",
        "case.first(20 * count)",
        "case.first(10 * count)",
        CASCADE,
    ),
    Mutant(
        "windlass_reproductions/rosella/learning.py",
        "edges[slow[-1] + 1] - at",
        "edges[slow[-1]] - at",
        LEARNING,
    ),
    Mutant(
        "windlass_reproductions/sim_vs_live/cases.py",
        "stated_s / (remote_s - read_s)",
        "stated_s / remote_s",
        LIVE,
    ),
    Mutant(
        "windlass_reproductions/asax/runs.py",
        "min(100.0, 100.0 * alone[row] / share)",
        "100.0 * alone[row] / share",
        ASAX,
    ),
)
