"""Changes of commands, reports, checks and reproductions that a user would see as another number or default."""

from tests.mutants.mutant import Mutant

PASSED_ON, SHOWN = ("tests/cli/test_passed_on.py",), ("tests/cli/test_shown.py",)
BROKEN, DISPATCH = ("tests/checks/test_broken.py",), ("tests/checks/test_broken_dispatch.py",)
VALUES, WORDS = ("tests/report/test_values.py",), ("tests/report/test_words.py",)
COURSES = ("tests/report/test_courses.py",)
TETRIUM, SWAG = ("tests/papers/test_tetrium_options.py",), ("tests/papers/test_swag_causes.py",)
CASCADE, LEARNING = ("tests/papers/test_cascade_places.py",), ("tests/papers/test_rosella_learning.py",)
LIVE, ASAX = ("tests/papers/test_live_rows.py",), ("tests/papers/test_asax_runs.py",)

MUTANTS = (
    Mutant(
        "cli/app.py",
        '] = "20min",',
        '] = "10min",',
        PASSED_ON,
    ),
    Mutant("cli/agent.py", "where.port + 1 if where.port else 0", "where.port + 1", PASSED_ON),
    Mutant("cli/plan/shown.py", "amount * 8 / 1e6", "amount / 1e6", SHOWN),
    Mutant(
        "cli/plan/measured.py",
        "late = np.concatenate([row.late for row in calm])",
        "late = np.concatenate([row.late for row in rows])",
        SHOWN,
    ),
    Mutant("cli/slurm.py", 'if "--checkpoint" in given_in(context) and', "if", SHOWN),
    Mutant("checks/scale.py", "                answer.check(view)", "                pass", BROKEN),
    Mutant("checks/place.py", "[::7]", "[:1]", BROKEN),
    Mutant("checks/dispatch.py", "compiled.reservations > 0", "compiled.reservations > 1", DISPATCH),
    Mutant("report/courses.py", "function.time - known.submit.min()", "function.time", COURSES),
    Mutant("report/breakdowns.py", "(measure > self.above)", "(measure >= self.above)", VALUES),
    Mutant("report/waiting.py", "few = waited.wait - kept", "few = waited.wait", WORDS),
    Mutant("papers/tetrium/options.py", "0.3: (16, 25, 26", "0.3: (16, 24, 26", TETRIUM),
    Mutant("papers/swag/causes.py", "own <= each_put_off", "own < each_put_off", SWAG),
    Mutant("papers/cascade/placement.py", "case.first(20 * count)", "case.first(10 * count)", CASCADE),
    Mutant("papers/rosella/learning.py", "edges[slow[-1] + 1] - at", "edges[slow[-1]] - at", LEARNING),
    Mutant("papers/sim_vs_live/cases.py", "stated_s / (remote_s - read_s)", "stated_s / remote_s", LIVE),
    Mutant(
        "papers/asax/runs.py", "min(100.0, 100.0 * alone[row] / share)", "100.0 * alone[row] / share", ASAX
    ),
)
