"""A cluster whose jobs are explained in tests: its runs, and plain computations on their tables."""

import json
import math
from functools import cache

import numpy as np
import polars as pl

from windlass.experiment.scenario import make_scenario
from windlass.experiment.worlds.cluster.build import run_cluster
from windlass.experiment.worlds.cluster.draw import draw_arrivals
from windlass.experiment.worlds.cluster.explain.explainer import recorder_of
from windlass.experiment.worlds.cluster.explain.recorder import JobRecorder
from windlass.experiment.worlds.cluster.outcome import outcome_of
from windlass.report.history import ExplainedHistory

TREE = {
    "world": "cluster",
    "seconds": 3600,
    "begin": 36000,
    "look": 300,
    "sites": {
        "iowa": {
            "nodes": [{"count": 6, "cores": 8}],
            "instances": {"types": [{"name": "small", "cores": 4, "price": 0.4, "launch": 120, "most": 6}]},
            "cameras": {"count": 2},
            "outages": {"every": 6000, "last": 600, "kill": 1.0},
            "keeps": {"tasks": 0.1},
        },
        "sydney": {"nodes": [{"count": 3, "cores": 16, "speed": 1.5}]},
    },
    "loads": {
        "batch": {"rigid": {"lublin": {"jobs": 900, "load": 5.0}}},
        "web": {"tasks": {"tasks": 900, "load": 0.05}},
        "etl": {"staged": {"drawn": {"jobs": 4, "tasks": 20}}},
        "ml": {"vectors": {"drawn": {"per_hour": 40, "run": 300, "shapes": [{"cores": 2}]}}, "at": ["iowa"]},
        "cameras": {"queries": {"per_hour": 6, "last": 600}},
    },
    "policies": {
        "plan": "cascade", "order": "easy", "place": "tetrium", "scale": "reactive", "share": "pairs",
        "dispatch": "pull", "admit": {"utilisation": {"threshold": 0.6}},
    },
    "telemetry": {"full": "spill"},
}  # fmt: skip


def run(seed=1, changes="{}"):
    """Return the setting, the arrivals, the results and the table of a run; ``changes`` replace fields, as JSON."""
    return _run(seed, changes)


@cache
def _run(seed, changes):
    setting = make_scenario(TREE | json.loads(changes)).variants[0].setting
    arrivals = draw_arrivals(setting, seed)
    done = run_cluster(setting, seed, arrivals, lambda share: None)
    return setting, arrivals, done, outcome_of(setting, seed, arrivals, done).jobs


class Several(JobRecorder):
    """Recorders of several jobs, in one run."""

    def __init__(self, recorders):
        self.recorders = recorders

    def before(self, kind, name, part, ledger):
        return [watch for each in self.recorders for watch in each.before(kind, name, part, ledger)]

    def last(self, ledger, holders):
        return [watch for each in self.recorders for watch in each.last(ledger, holders)]

    def log(self, address, view, answer):
        for each in self.recorders:
            each.log(address, view, answer)


@cache
def explained(names, seed=1, changes="{}"):
    """Return the histories of jobs, given as (load, site, number), whose run must be that of the table."""
    setting, _, _, table = run(seed, changes)
    rows = [row_of(table, *name) for name in names]
    arrivals = draw_arrivals(setting, seed)
    recorders = [recorder_of(setting, arrivals, row) for row in rows]
    done = run_cluster(setting, seed, arrivals, lambda share: None, Several(recorders))
    # Recording changes no number of any table.
    assert outcome_of(setting, seed, arrivals, done).jobs.write_csv() == table.write_csv()
    found = [each.history(done) for each in recorders]
    for history, row in zip(found, rows, strict=True):
        assert history.differs(row) == ""
        assert [step.at for step in history.steps] == sorted(step.at for step in history.steps)
        assert json.loads(json.dumps(ExplainedHistory(history).tree()))["job"] == history.job
        assert all(line.endswith(".") for line in ExplainedHistory(history).moments(everything=True))
    return found


def row_of(table, load, site, job):
    """Return the first row of a job."""
    chosen = (pl.col("load") == load) & (pl.col("site") == site) & (pl.col("job") == job)
    return table.filter(chosen).to_dicts()[0]


def result_of(results, load, site):
    """Return the result of a load at a site."""
    return next(each.result for each in results if (each.load, each.site) == (load, site))


def attempts_of(replay):
    """Return (job row, queued, start, end, lost) of each attempt, by plain loops."""
    found = []
    for row, submit in enumerate(replay.jobs.submit.tolist()):
        queued = submit
        lost = [place for place, of in enumerate(replay.lost.tolist()) if of == row]
        for place in sorted(lost, key=lambda place: replay.lost_start[place]):
            found.append((row, queued, replay.lost_start[place], replay.lost_end[place], True))
            queued = replay.lost_end[place]
        found.append((row, queued, replay.start[row], replay.end[row], False))
    return found


def batch_cores(done, load, site, at):
    """Return the cores that batch jobs hold after an instant: guests hold none while their host runs."""
    replay, held = result_of(done.rigid, load, site), 0
    shared = [each.result for each in done.shared if (each.load, each.site) == (load, site)]
    for row, _, start, end, _ in attempts_of(replay):
        if not start <= at < end:
            continue
        guests = shared and any(
            shared[0].guest[line] == row and shared[0].start[line] <= at < shared[0].end[line]
            for line in range(len(shared[0].guest))
        )
        held += 0 if guests else int(replay.jobs.procs[row])
    return held


def staged_cores(done, load, site, at):
    """Return the tasks of staged jobs that hold a core of a site after an instant."""
    fleet = result_of(done.staged, load, "")
    place = fleet.fleet.names.index(site)
    here = (fleet.site == place) & (fleet.begun <= at) & (fleet.computed > at)
    lost = fleet.lost[(fleet.lost[:, 1] == place) & (fleet.lost[:, 3] <= at) & (fleet.lost[:, 4] > at)]
    return int(here.sum()) + len(lost)


def vector_cores(done, load, site, at):
    """Return the cores of instances that vector jobs hold after an instant."""
    scaled = result_of(done.scaled, load, site)
    attempts = scaled.attempts
    rows = attempts.job[(attempts.began <= at) & ~(attempts.ended <= at)]
    return int(np.ceil(scaled.jobs.resources[rows, 1]).sum())


def same(one, other):
    """Return whether two numbers are equal; NaN equals NaN."""
    return one == other or (math.isnan(one) and math.isnan(other))
