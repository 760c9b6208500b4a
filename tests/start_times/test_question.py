"""Answers for jobs of a log, for proposed jobs, and for all that wait; the check of earlier predictions."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from windlass.experiment.start_times.proposed import ProposedJob
from windlass.experiment.start_times.question import StartPredictor, history_of, row_of
from windlass.experiment.start_times.sentences import answer_sentences, check_sentences
from windlass.experiment.start_times.start_check import check_starts
from windlass.experiment.workloads import lublin
from windlass.experiment.worlds.policy import PolicySpec
from windlass.io.traces import Workload, read_trace, to_workload
from windlass.model import InputError
from windlass.order.site.policies.easy import Easy

KTH = Path(__file__).parents[3] / "shared" / "traces" / "swf" / "KTH-SP2-1996-2.1-cln.swf.gz"
EASY = PolicySpec(name="easy")


@pytest.fixture(scope="module")
def history():
    jobs = lublin(900, 64, np.random.default_rng(4), load=0.9, overestimate=3.0)
    return history_of(Workload(jobs, 64), EASY, recorded=False)


@pytest.fixture(scope="module")
def predictor(history):
    return StartPredictor(history, EASY, draws=8)


@pytest.fixture(scope="module")
def checked(predictor):
    return predictor.check(250)


@pytest.mark.slow
def test_a_check_scores_each_prediction_against_the_schedule(history, checked):
    table = checked.table
    assert table.height == 250
    rows = np.array([row_of(history.workload, job) for job in table["job"]])
    jobs = history.workload.jobs
    assert (table["at_s"].to_numpy() == jobs.submit[rows]).all()
    assert (table["wait_s"].to_numpy() == history.start[rows] - jobs.submit[rows]).all()
    assert checked.certain == checked.certain_right > 0
    ours = checked.of_replays()
    judged = table.filter(~table["certain"] & table["high_s"].is_not_null())
    assert ours.predictions == judged.height > 20
    inside = (judged["wait_s"] >= judged["low_s"] - 1e-6) & (judged["wait_s"] <= judged["high_s"] + 1e-6)
    assert ours.contained == inside.sum()
    assert ours.mean_error == pytest.approx((judged["median_s"] - judged["wait_s"]).abs().mean())
    # Slurm's rule lets jobs run for their whole request, here three times too long.
    assert checked.of_plan().mean_error > ours.mean_error


@pytest.mark.slow
def test_a_check_is_the_same_for_the_same_seed(predictor, checked):
    assert predictor.check(250).table.equals(checked.table)


def test_a_check_before_an_instant_uses_nothing_after_it(history):
    middle = float(history.workload.jobs.submit[450])
    short = dataclasses.replace(history.workload.jobs, submit=history.workload.jobs.submit + 0.0)
    known = np.flatnonzero(short.submit < middle)
    cut = history_of(history.workload.take(known), EASY, recorded=False)
    # Jobs that start before the instant start the same without those that arrive after it.
    whole = StartPredictor(history, EASY, draws=4).check(40, before=middle)
    part = StartPredictor(cut, EASY, draws=4).check(40, before=middle)
    assert whole.table.equals(part.table)


@pytest.mark.matrix(0)
def test_a_job_is_predicted_at_its_submission_and_later(history, predictor, checked):
    waits = history.start - history.workload.jobs.submit
    row = int(np.argmax(waits))
    answer = predictor.job(row, checked=checked)
    assert answer.waited == pytest.approx(waits[row])
    assert answer.checked is checked
    state = history.at(answer.at)
    assert (answer.ahead, answer.running) == (state.waiting.tolist().index(row), len(state.running))
    later = predictor.job(row, at=float(history.start[row]))
    assert later.forecast.median == 0 == later.waited
    with pytest.raises(InputError, match="does not wait at"):
        predictor.job(row, at=float(history.end[row]))


def test_a_proposed_job_is_the_last_of_the_queue(history, predictor):
    waits = history.start - history.workload.jobs.submit
    at = float(history.workload.jobs.submit[int(np.argmax(waits))])
    answer = predictor.like(ProposedJob(procs=64, request=3600.0), at)
    assert answer.ahead == len(history.at(at).waiting)
    assert answer.waited is None
    assert answer.forecast.high > 0
    table = predictor.waiting(at)
    assert table.height == answer.ahead
    assert (table["low_s"] <= table["median_s"]).all()
    assert (table["median_s"] <= table["high_s"]).all()


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"procs": 0, "request": 60.0}, "procs is 0, expected a whole number"),
        ({"procs": 1, "request": 0.0}, "request is 0.0 s, expected a time above 0"),
        ({"procs": 1, "request": float("nan")}, "request is nan s, expected a time above 0"),
    ],
)
def test_a_proposed_job_that_cannot_be_is_rejected(fields, said):
    with pytest.raises(InputError, match=said):
        ProposedJob(**fields)


def test_a_question_that_has_no_answer_is_rejected(history, predictor):
    with pytest.raises(InputError, match="procs is 65, expected at most the site's processors, 64"):
        predictor.like(ProposedJob(procs=65, request=60.0))
    with pytest.raises(InputError, match="level is 1, expected a share above 0 and below 1"):
        StartPredictor(history, EASY, level=1)
    with pytest.raises(InputError, match="job 9999999: no job of the log's 900"):
        row_of(history.workload, "9999999")
    with pytest.raises(InputError, match="the log lacks the wait of 900 of 900 jobs"):
        history_of(history.workload, EASY, recorded=True)
    with pytest.raises(InputError, match="rows has job 1 after a later one"):
        check_starts(history, lambda rng: Easy(), [5, 0])


@pytest.mark.matrix(0)
def test_sentences_give_the_answer_first(history, predictor, checked):
    waits = history.start - history.workload.jobs.submit
    row = int(np.argmax(waits))
    said = list(answer_sentences(predictor.job(row, checked=checked), "easy", "now"))
    assert said[0].startswith(f"Job {row + 1} starts in ")
    assert "(90 %: " in said[0]
    assert said[-4:] == list(check_sentences(checked))[-4:]
    raw = list(answer_sentences(predictor.job(row), "easy", "now"))
    assert raw[0].endswith("not calibrated: too few jobs have started.")
    proposed = ProposedJob(procs=1, request=60.0)
    empty = history_of(Workload(lublin(1, 64, np.random.default_rng(1)), 64), EASY, recorded=False)
    alone = StartPredictor(empty, EASY).like(proposed, at=float(empty.end[0]))
    assert next(answer_sentences(alone, "easy", "now", proposed)).endswith(
        "(1 processor, walltime 1 min) starts at once."
    )


@pytest.mark.slow
@pytest.mark.parametrize("recorded", [False, True], ids=["easy", "recorded"])
def test_intervals_on_a_real_log_contain_nine_of_ten_starts(recorded):
    if not KTH.is_file():
        pytest.skip(f"{KTH} is absent")
    history = history_of(to_workload(read_trace(KTH)), EASY, recorded=recorded)
    # The last half of the log: the method was designed on the first one.
    checked = StartPredictor(history, EASY).check(700)
    ours, plan = checked.of_replays(), checked.of_plan()
    assert 0.86 <= ours.coverage <= 0.94
    assert checked.certain_right >= 0.98 * checked.certain
    assert ours.mean_error < plan.mean_error
