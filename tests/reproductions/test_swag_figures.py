"""Each row and picture of SWAG's figures compares the runs that it names, in the settings of the thesis."""

import itertools
from functools import partial

import numpy as np
import pytest

from tests.reproductions.keyed import axes, mean_and_half
from tests.reproductions.swag_runs import EACH, ONE, OPTIMAL, SHOWN, SIZE, experiment, room
from windlass_reproductions.swag import bounds, laws, settings


@pytest.fixture(autouse=True)
def runs(monkeypatch):
    for module in (laws, settings):
        monkeypatch.setattr(module, "experiment", experiment)
    monkeypatch.setattr(laws, "room", room)


FIGURES = {
    "facebook": ("3.6", "3.9", 0.50),
    "google": ("3.7", "3.10", 0.29),
    "exponential": ("3.8", "3.11", 0.35),
}


@pytest.mark.parametrize("law", FIGURES)
def test_rows_of_a_law_use_the_runs_at_its_loads(law):
    figure, slowdowns, theirs = FIGURES[law]
    progress = []
    rows, pictures = laws.law_figures(law, SIZE, partial(progress.append, 1))
    assert len(progress) == 3 * 5 * 6
    by_load = {
        load: experiment(5, law=law, jobs=SIZE.jobs[law], utilisation=load) for load in (0.39, 0.58, 0.78)
    }
    for row, (load, name) in zip(rows, itertools.product(by_load, SHOWN), strict=False):
        ratios = by_load[load].responses(name) / by_load[load].responses("FCFS")
        mean, half = mean_and_half(ratios)
        assert row.what == f"Fig. {figure}, {law}, {load:.0%}: {name}, response over FCFS's"
        assert (row.paper, row.ours, row.holds) == (None, f"{mean:.3f} ± {half:.3f}", None)
    high, low = by_load[0.78], by_load[0.39]
    most, least = (room(5, law=law, jobs=SIZE.jobs[law], utilisation=load) for load in (0.78, 0.39))
    known = np.min([high.responses(name) for name in SHOWN], axis=0)
    where = f"Fig. {figure}, {law}"
    slow = high.slowdowns("FCFS")[:, 0]
    own = rows[15:]
    assert own[0] == laws.gain_row(f"{where}, 78%", theirs, high, most)
    assert own[1] == laws.least_gain_row(f"{where}, 39%", low, least)
    assert own[2:5] == laws.reordering_rows(f"{where}, 78%", high)
    assert own[5].ours == f"{slow.mean():.1f}"
    assert own[5].judged == laws.above_limit(laws.over(slow), 15.0)
    assert ("jobs wait less here" in own[5].note) == (slow.mean() <= 15)
    assert own[7] == bounds.bound_row(figure, law, most, known)
    assert own[8:] == laws.fairness_rows(law, slowdowns, high)
    # The best order of ten jobs, on three workloads of a thousand jobs at most.
    setting = {"law": law, "jobs": min(SIZE.jobs[law], 1000), "utilisation": 0.78}
    swag = experiment(3, ("SWAG",), **setting).responses("SWAG")
    ten = experiment(3, (OPTIMAL,), **setting).responses(OPTIMAL)
    least_of_three = room(3, **setting)
    assert own[6].ours == f"{(swag / ten - 1.0).mean():.2%}; {least_of_three.above.mean():.1%}"
    assert own[6].judged == bounds.near_best(swag, np.minimum(swag, ten), least_of_three.least)
    assert f"3 workloads of {setting['jobs']:,} jobs" in own[6].what
    responses, classes = pictures
    assert [line.name for line in responses.lines] == list(SHOWN)
    for line in responses.lines:
        each = [found.responses(line.name) / found.responses("FCFS") for found in by_load.values()]
        assert list(line.x) == [0.39, 0.58, 0.78]
        assert list(line.y) == pytest.approx([values.mean() for values in each])
        assert list(line.half_width) == pytest.approx([mean_and_half(values)[1] for values in each])
    assert [line.name for line in classes.lines] == [EACH, f"{EACH} w/Reordering", "SWAG"]
    for line in classes.lines:
        assert list(line.x) == [0, 1, 2, 3]
        assert list(line.y) == pytest.approx(high.slowdowns(line.name).mean(axis=0).tolist())
    assert axes(responses) == (f"response-{law}", "utilisation", "response over FCFS's")
    assert axes(classes) == (f"slowdown-{law}", "jobs", "slowdown")
    assert classes.categories == ("Overall", "Small", "Medium", "Large")


def test_gains_are_reported_relative_to_both_srpts():
    high = experiment(5, law="some")
    found = room(5, law="some")
    means = {name: high.responses(name).mean() for name in (ONE, EACH)}
    better, worse = min(means, key=means.get), max(means, key=means.get)
    off = {name: 1.0 - high.responses("SWAG") / high.responses(name) for name in means}
    row = laws.gain_row("here", 0.29, high, found)
    possible = 1.0 - found.least.mean() / found.srpt.mean()
    assert row.ours == f"{off[better].mean():.1%}, {off[worse].mean():.1%}; {possible:.1%}"
    assert row.judged.parts[0].low == pytest.approx(0.285)
    least = laws.least_gain_row("here", high, found)
    assert least.ours == f"{off[better].mean():.1%}; {possible:.1%}"
    assert least.judged.parts[0].low == pytest.approx(0.115)
    both, larger, swag = laws.reordering_rows("here", high)
    taken = {
        name: 1.0 - high.responses(f"{name} w/Reordering") / high.responses(name) for name in (ONE, EACH)
    }
    assert both.ours == ", ".join(f"{name} {values.mean():.1%}" for name, values in taken.items())
    assert larger.ours == f"{max(values.mean() for values in taken.values()):.1%}"
    assert larger.judged.parts[0].low == pytest.approx(0.265)
    put = sorted((f"{name} w/Reordering" for name in taken), key=lambda name: high.responses(name).mean())
    below = [(1.0 - high.responses("SWAG") / high.responses(name)).mean() for name in put]
    assert swag.ours == f"{below[0]:.1%}, {below[1]:.1%}"
    assert swag.judged.parts[1].high == pytest.approx(0.105)


def test_size_classes_are_compared_with_all_jobs():
    high = experiment(5, law="some")
    names = (EACH, f"{EACH} w/Reordering", "SWAG")
    for row, name in zip(laws.fairness_rows("facebook", "3.9", high), names, strict=True):
        slow = high.slowdowns(name)
        more = (slow[:, 3] / slow[:, 0] - 1.0).mean()
        shown = ", ".join(f"{value:.2f}" for value in slow.mean(axis=0))
        assert row.ours == f"{shown} (large {more:+.0%})"


def test_reported_state_is_eight_bytes_per_subjob():
    rows, picture = settings.state_figure(SIZE)
    names = (ONE, f"{ONE} w/Reordering", f"{EACH} w/Reordering", "SWAG")

    def kbytes(load, name):
        found = experiment(3, (name,), law="exponential", jobs=40, utilisation=load)
        return np.array([run.reported for run in found.runs[name]]) * 8 / 1000

    assert rows == [settings.state_row({name: kbytes(0.78, name) for name in names})]
    assert axes(picture) == ("state", "utilisation", "kB")
    assert [line.name for line in picture.lines] == list(names)
    for line in picture.lines:
        assert list(line.x) == [0.39, 0.58, 0.78]
        assert list(line.y) == pytest.approx([kbytes(load, line.name).mean() for load in line.x])


def check_bars(picture, found, key, x_title):
    """Check that a picture shows the responses of these settings relative to FCFS's."""
    assert axes(picture) == (key, x_title, "response over FCFS's")
    assert picture.categories == tuple(found)
    assert [line.name for line in picture.lines] == list(SHOWN)
    for line in picture.lines:
        each = [own.responses(line.name) / own.responses("FCFS") for own in found.values()]
        assert list(line.x) == list(range(len(found)))
        assert list(line.y) == pytest.approx([values.mean() for values in each])


def base(**setting):
    return experiment(3, law="exponential", jobs=40, **setting)


def test_skew_is_varied_from_even_to_one_site():
    skews = {"uniform": "uniform", "1.0": 1.0, "2.0": 2.0, "3.0": 3.0, "4.0": 4.0, "one-site": "one-site"}
    found = {name: base(skew=skew) for name, skew in skews.items()}
    rows, picture = settings.skew_figure(SIZE)
    ratios = {name: own.responses("SWAG") / own.responses("FCFS") for name, own in found.items()}
    assert rows == [settings.skew_row(ratios), settings.same_row(found["one-site"])]
    best = min(list(ratios)[1:-1], key=lambda name: ratios[name].mean())
    for part, end in zip(rows[0].judged.parts, ("uniform", "one-site"), strict=True):
        assert part.found.mean == pytest.approx((ratios[best] - ratios[end]).mean())
    lone = found["one-site"]
    most = max(
        abs(1.0 - lone.responses(name) / lone.responses(ONE)).max() for name in SHOWN if name != "SWAG"
    )
    assert rows[1].ours == f"{most:.2%}"
    check_bars(picture, found, "skew", "skew of Zipf's law")


def test_sites_share_nine_thousand_slots():
    counts = (10, 15, 20, 25, 30)
    found = {str(sites): base(fleet=settings.Fleet.of(np.full(sites, 9000 // sites))) for sites in counts}
    rows, picture = settings.sites_figure(SIZE)
    ratios = {int(name): own.responses("SWAG") / own.responses("FCFS") for name, own in found.items()}
    assert rows == [settings.sites_row(ratios)]
    slopes = [np.polyfit(counts, [ratios[sites][seed] for sites in counts], 1)[0] for seed in range(3)]
    assert rows[0].judged.parts[0].found.mean == pytest.approx(np.mean(slopes))
    assert f"{10 * np.mean(slopes):+.3f} for ten sites more" in rows[0].note
    check_bars(picture, found, "sites", "sites")


def test_accuracy_is_varied_from_0_to_100_percent():
    found = {f"{accuracy:.0%}": base(accuracy=accuracy) for accuracy in (0.0, 0.4, 0.8, 1.0)}
    rows, picture = settings.accuracy_figure(SIZE)
    times = {name: own.responses("SWAG") for name, own in found.items()}
    assert rows == [settings.accuracy_row(times)]
    assert f"by {(times['0%'] / times['100%'] - 1).mean():.1%};" in rows[0].note
    check_bars(picture, found, "accuracy", "accuracy")
