"""Every command rejects options without effect in one line."""

import pytest

PLAN = ("plan", "run", "q.yaml", "--cluster", "h.yaml")
DRIVE = ("slurm", "drive", "--policies", "order=easy")
AGENT = ("agent", "run", "--proc", "none")
AGGREGATE = ("agent", "aggregate", "--token-file", "none")
LIVE = ("run", "s.yaml", "--engine", "ray")
RUNS = "a real run; --dry-run runs nothing"
PRIVATE = "a private cluster; the address of a running one is given"
TABLES = "tables; --json prints everything"

CASES = [
    (("run", "--on", "ray:127.0.0.1:1", "--nodes", "2"), "--nodes", PRIVATE),
    ((*LIVE, "--address", "127.0.0.1:1", "--nodes", "2"), "--nodes", PRIVATE),
    ((*LIVE, "--no-check"), "--no-check", "the simulator"),
    ((*LIVE, "--jobs", "2"), "--jobs", "the simulator"),
    *(
        ((*LIVE, "--dry-run", option, "x"), option, RUNS)
        for option in ("--out", "--report", "--by", "--require")
    ),
    *(
        ((*LIVE, "--dry-run", option), option, RUNS)
        for option in ("--json", "--csv", "--force", "--resume", "--wide")
    ),
    (("place", "job.yaml", "--explain", "--json"), "--explain", TABLES),
    (("explain", "out", "1", "--all", "--json"), "--all", TABLES),
    (("plan", "solve", "q.yaml", "--cluster", "h.yaml", "--explain", "--json"), "--explain", TABLES),
    ((*PLAN, "--dry-run", "--seconds", "5"), "--seconds", RUNS),
    ((*PLAN, "--dry-run", "--json"), "--json", RUNS),
    ((*PLAN, "--dry-run", "--real-links"), "--real-links", RUNS),
    ((*PLAN, "--address", "127.0.0.1:1", "--nodes", "2"), "--nodes", PRIVATE),
    ((*DRIVE, "--dry-run", "--until-idle"), "--until-idle", RUNS),
    ((*DRIVE, "--dry-run", "--keep-held"), "--keep-held", RUNS),
    ((*DRIVE, "--checkpoint", "5"), "--checkpoint", "--policies with share=…"),
    ((*AGENT, "--save-every", "5"), "--save-every", "--state"),
    ((*AGENT, "--join-every", "5"), "--join-every", "--join"),
    ((*AGENT, "--name", "one"), "--name", "--join"),
    ((*AGENT, "--token-file", "none"), "--token-file", "--join"),
    ((*AGENT, "--node", "one"), "--node", "--kubernetes"),
    ((*AGGREGATE, "--save-every", "5"), "--save-every", "--state"),
    ((*AGGREGATE, "--join-every", "5"), "--join-every", "--join"),
    ((*AGGREGATE, "--name", "one"), "--name", "--join"),
]
NAMES = [f"{' '.join(words[:2])} {option}" for words, option, _ in CASES]


@pytest.mark.parametrize(("words", "option", "what"), CASES, ids=NAMES)
def test_an_option_without_effect_is_rejected(windlass, words, option, what):
    status, out, err = windlass(*words)
    assert (status, out) == (2, "")
    assert err == f"windlass: {option}: has no effect here, it is for {what}\n"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("run", "--jobs", "2", "--on", "ray"), "--on: --jobs is also given, expected one of the two"),
        (("run", "--json", "--csv"), "--csv: --json is also given, expected one of the two"),
        (("reproduce", "asax", "--slurm", "--engine", "ray"), "--slurm: --engine ray is also given"),
        (("reproduce", "asax", "--slurm", "--on", "ray"), "--on: --engine is also given"),
        (
            ("reproduce", "swag", "--slurm"),
            "--engine: 'slurm' for paper 'swag', which runs only in the simulator: omit --engine",
        ),
        (("reproduce", "sim-vs-live", "--on", "ray"), "--on: paper 'sim-vs-live' runs in one process"),
    ],
)
def test_conflicting_options_are_rejected(windlass, words, message):
    status, out, err = windlass(*words)
    assert (status, out, len(err.splitlines())) == (2, "", 1)
    assert err.startswith(f"windlass: {message}")


def test_an_option_with_the_option_it_requires_is_accepted(windlass):
    """The error is about the missing file, not the option."""
    for words, option, needed in (
        (AGENT, ("--save-every", "5"), ("--state", "state")),
        (AGENT, ("--name", "one"), ("--join", "http://127.0.0.1:1")),
        (AGGREGATE, ("--join-every", "5"), ("--join", "http://127.0.0.1:1")),
    ):
        status, _, err = windlass(*words, *option, *needed)
        assert (status, "none" in err, "no effect" in err) == (2, True, False)
