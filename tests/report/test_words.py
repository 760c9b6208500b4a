"""Sentences on the wait of one job, and numbers with units, against texts written by hand."""

import dataclasses
import math

import pytest

from windlass.model.calendar import Calendar
from windlass.report.cut_work import input_sentence
from windlass.report.fidelity import fidelity_sentence
from windlass.report.phrases import in_words, label
from windlass.report.units import (
    decimals_of,
    duration,
    number,
    percentage,
    plural,
    share,
    time_unit,
    unit_for,
)
from windlass.report.waiting import ExplainedWait, moment_lines, waiting_sentences
from windlass.results.explanation import Moment, StartExplanation, WaitExplanation
from windlass.results.verdict.fidelity import Fidelity


def moment(at, place=0, idle=2, left=1, running=1, ended=(), started=(), promise=math.nan, short=()):
    return Moment(at, place, idle, left, running, tuple(ended), tuple(started), promise, tuple(short))


def wait_explanation(*moments, procs=3, start=None, expected=600.0, other_requests=()):
    last = moments[-1].at if start is None else start
    return WaitExplanation(
        7,
        procs,
        8,
        100.0,
        last,
        600.0,
        expected,
        "fits",
        moments,
        *([other_requests] if other_requests else []),
    )


BEFORE, AFTER, SAME = (
    StartExplanation(4, 1, True, "head"),
    StartExplanation(9, 1, False, "backfilled"),
    StartExplanation(7, 3, True, "fits"),
)


@pytest.mark.parametrize(
    ("start", "dates"),
    [
        (160.0, "submitted on Wed 2024-05-01 14:01:40 and started on Wed 2024-05-01 14:02:40"),
        (100.0, "submitted and started on Wed 2024-05-01 14:01:40"),
    ],
)
def test_a_wait_has_dates_if_the_log_has_a_calendar(start, dates):
    found = wait_explanation(moment(start, started=[SAME]))
    assert not any("submitted on" in line for line in waiting_sentences(found))
    assert "calendar" not in ExplainedWait(found).tree()
    dated = dataclasses.replace(found, calendar=Calendar(1714564800.0, "Europe/Paris"))
    assert waiting_sentences(dated)[1] == f"It was {dates} (Europe/Paris)."
    assert ExplainedWait(dated).tree()["calendar"] == {"origin": 1714564800.0, "zone": "Europe/Paris"}


def test_a_wait_is_described_from_submission_to_start():
    found = wait_explanation(
        moment(100.0, place=2, idle=2, left=2, running=5, started=[AFTER], promise=900.0),
        moment(
            160.0,
            place=1,
            idle=3,
            left=3,
            started=[BEFORE, StartExplanation(5, 1, False, "spare")],
            promise=700.0,
        ),
        moment(400.0, place=0, idle=4, left=1, ended=[11, 12], started=[SAME], promise=700.0),
        expected=300.0,
    )
    assert waiting_sentences(found) == (
        "Job 7 requested 3 of 8 processors for 10 min, and was expected to run for 5 min.",
        "It waited 5 min, over 3 scheduling decisions.",
        "At submission, 2 processors were idle, 5 jobs were running, and 2 earlier jobs were waiting.",
        "Meanwhile the policy started 1 earlier job (head) and 2 later jobs (1 backfilled; 1 spare).",
        "For 1 min, too few processors were idle; for 4 min, enough were idle, but the policy kept them for other "
        "jobs.",
        "At submission, the policy promised a start within 13 min 20 s of submission; the promise changed once, and "
        "the job started 8 min 20 s before the first promised time.",
        "It started when jobs 11 and 12 ended: fits.",
    )


def test_a_wait_without_other_starts_is_described():
    found = wait_explanation(moment(100.0, place=0, idle=1, running=0), moment(160.0, started=[SAME]))
    assert waiting_sentences(found) == (
        "Job 7 requested 3 of 8 processors for 10 min.",
        "It waited 1 min, over 2 scheduling decisions.",
        "At submission, 1 processor was idle, no job was running, and no earlier job was waiting.",
        "No other job started meanwhile.",
        "Throughout the wait, fewer processors were idle than the job requested.",
        "It started: fits.",
    )


@pytest.mark.parametrize(
    ("promises", "text"),
    [
        (
            [math.inf, math.nan],
            "At submission, no start could be promised, because the job was wider than what was left of the site.",
        ),
        (
            [math.nan, 160.0],
            "After 1 min, the policy promised a start within 1 min of submission; the job started exactly at the "
            "promised time.",
        ),
        (
            [130.0, 150.0],
            "At submission, the policy promised a start within 30 s of submission; the promise changed once, and the "
            "job started 30 s after the first promised time.",
        ),
    ],
)
def test_promised_starts_are_compared_with_the_actual_start(promises, text):
    found = wait_explanation(
        moment(100.0, promise=promises[0]), moment(160.0, promise=promises[1], started=[SAME])
    )
    assert text in waiting_sentences(found)


def test_changes_of_a_promise_are_counted():
    moments = [moment(100.0 + 10 * n, promise=500.0 + n) for n in range(4)]
    (line,) = [line for line in waiting_sentences(wait_explanation(*moments)) if "promised" in line]
    assert "the promise changed 3 times, and" in line


def test_a_wait_with_enough_idle_but_reserved_processors_is_described():
    found = wait_explanation(moment(100.0, left=3), moment(160.0, left=3, started=[SAME]))
    assert "For 1 min, enough were idle, but the policy kept them for other jobs." in waiting_sentences(found)


def test_lacking_resources_are_listed_by_duration():
    found = wait_explanation(
        moment(100.0, short=("GPUs",)),
        moment(160.0, short=("memory", "GPUs", "cores")),
        moment(400.0, short=()),
        moment(410.0, short=("GPUs",)),
        moment(420.0, started=[SAME]),
        other_requests=("2 GPUs", "1 licence"),
    )
    lines = waiting_sentences(found)
    assert lines[0] == "Job 7 requested 3 of 8 processors, 2 GPUs and 1 licence for 10 min."
    assert (
        "For 4 min, it lacked memory, GPUs and cores; for 1 min 10 s, it lacked GPUs; for 10 s, its whole request was "
        "idle, but the policy kept it for other jobs." in lines
    )


def test_a_job_that_starts_immediately_has_two_sentences():
    found = wait_explanation(moment(100.0, started=[SAME]), start=100.0)
    assert waiting_sentences(found) == (
        "Job 7 requested 3 of 8 processors for 10 min.",
        "It started immediately: fits.",
    )


def test_each_decision_that_changed_something_has_a_line():
    many = [StartExplanation(number, 1, False, "spare") for number in range(20, 29)]
    found = wait_explanation(
        moment(100.0, place=2, left=2, promise=900.0),
        moment(130.0, place=2, left=2, promise=900.0),
        moment(
            160.0,
            place=1,
            left=1,
            started=[BEFORE, AFTER, StartExplanation(3, 1, True, "head")],
            promise=math.inf,
        ),
        moment(190.0, place=0, left=0, started=many, promise=800.0),
        moment(220.0, place=0, left=1, started=[SAME], promise=800.0),
    )
    lines = (
        "after 0 s: a start is promised within 13 min 20 s of submission; 2 processors stay idle.",
        "after 1 min: earlier jobs 4 and 3 start (head); later job 9 starts (backfilled); no start can be promised, "
        "because the job is wider than what is left of the site; 1 processor stays idle.",
        "after 1 min 30 s: no earlier job is waiting any more; later jobs 20, 21, 22, 23, 24, 25 and 3 more start "
        "(spare); a start is promised within 11 min 40 s of submission; "
        "0 processors stay idle.",
        "after 2 min: job 7 starts (fits); 1 processor stays idle.",
    )
    assert moment_lines(found) == lines
    everything = moment_lines(found, everything=True)
    assert everything[1] == "after 30 s: no job starts; 2 processors stay idle."
    assert (everything[0], *everything[2:]) == lines


def test_seven_jobs_are_all_named():
    seven = [StartExplanation(number, 1, False, "spare") for number in range(20, 27)]
    (line, *_) = moment_lines(wait_explanation(moment(100.0, started=seven), moment(160.0, started=[SAME])))
    assert "later jobs 20, 21, 22, 23, 24, 25 and 26 start" in line


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (59.94, "59.9 s"),
        (59.96, "1 min"),
        (60.0, "1 min"),
        (61.0, "1 min 1 s"),
        (3569.0, "59 min 29 s"),
        (3599.6, "1 h"),
        (86399.0, "1 d"),
        (90000.0, "1 d 1 h"),
        (-90.0, "−1 min 30 s"),
        (1e9, "11,574 d 2 h"),
        (0.25, "0.25 s"),
        (math.inf, "∞"),
    ],
)
def test_durations_are_in_two_units(seconds, text):
    assert duration(seconds) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (9.0, "9.000"),
        (10.0, "10"),
        (10.5, "10.50"),
        (9.9996, "10.00"),
        (999.96, "1,000"),
        (1000.6, "1,001"),
        (-0.001234, "−0.001234"),
        (1e-12, "0.000000000"),
        (-math.inf, "−∞"),
    ],
)
def test_numbers_have_four_digits(value, text):
    assert number(value) == text
    assert number(1.23456, 1) == "1.2"
    assert decimals_of(0.0) == 0


def test_units_of_time_leave_no_value_below_one():
    assert [time_unit([value]).symbol for value in (59.0, 60.0, 3599.0, 3600.0, 86399.0, 86400.0, 0.5)] == [
        "s",
        "min",
        "min",
        "h",
        "h",
        "d",
        "s",
    ]
    assert time_unit([0.0, math.nan, math.inf, 7200.0, -90000.0]).symbol == "h"
    assert time_unit([]).symbol == "s"
    assert (unit_for("cpu_utilisation", [0.5]).factor, unit_for("jobs", [5.0]).symbol) == (100.0, "")


def test_shares_near_0_and_100_percent_are_not_rounded_to_them():
    assert [share(*pair) for pair in ((1, 1000), (999, 1000), (9, 10_000), (9_991, 10_000), (0, 0))] == [
        "0.1 %",
        "99.9 %",
        "< 0.1 %",
        "> 99.9 %",
        "0 %",
    ]
    assert [plural(noun) for noun in ("entry", "key", "job")] == ["entries", "keys", "jobs"]


def test_metrics_have_readable_labels():
    assert label("starved") == "number of starved jobs"
    assert label("p99_wait_s") == "p99 wait"
    assert label("accounts_jain") == "Jain's index over accounts"
    assert [in_words(*pair)[0] for pair in (("mean_wait_s", 30.0), ("utilisation", 0.5), ("cost", 2.5))] == [
        "30 s",
        "50 %",
        "2.500",
    ]


@pytest.mark.parametrize(
    ("seconds", "texts"),
    [
        ((14_390.0, 590.2), ("239.8 min", "9.837 min")),
        ((7200.0, 0.0), ("2.000 h", "0 h")),
        ((600.0, 0.5), ("600 s", "0.5000 s")),
        # In minutes, the larger value would have five digits.
        ((864_000.0, 120.0), ("240 h", "0.03333 h")),
        ((599_999.0, 60.0), ("10,000 min", "1.000 min")),
        ((math.inf, 3600.0), ("∞ h", "1.000 h")),
    ],
)
def test_values_of_a_sentence_have_one_unit(seconds, texts):
    assert in_words("mean_wait_s", *seconds) == texts


@pytest.mark.parametrize(
    ("part", "text"),
    [
        (0.0, "0 %"), (0.00009, "< 0.01 %"), (0.0001, "0.01 %"), (0.0039, "0.39 %"), (0.0394, "3.9 %"),
        (0.5, "50 %"), (0.984, "98 %"), (0.991, "99.1 %"), (0.996, "99.6 %"), (0.9999, "> 99.9 %"),
        (1.0, "100 %"), (1.004, "100 %"), (12.5, "1,250 %"),
    ],
)  # fmt: skip
def test_percentages_have_no_exponent(part, text):
    assert percentage(part) == text


@pytest.mark.parametrize(
    ("cut", "text"),
    [
        (0.01, "1 % of"),
        (0.0099, "0.99 % of"),
        (0.336, "34 % of"),
        (0.00004, "< 0.01 % of"),
        (0.005, "0.5 % of"),
        (0.9999, "> 99.9 % of"),
    ],
)
def test_the_share_of_cut_work_is_reported(cut, text):
    expected = f"{text} the work is cut because jobs are stopped at their requested time."
    assert input_sentence(cut, None, None) == expected


def test_a_replay_under_another_policy_is_reported_as_such():
    text = fidelity_sentence(Fidelity("easy", False, 3600.0, 7200.0, 60.0, 600.0))
    assert text == (
        "Fidelity: the recorded system's policy is unknown (set workload.ran); under easy, the closest variant, the "
        "replay has a mean wait of 60 min, compared with 120 min in the log; 50 % of the jobs start within 1.000 min "
        "of their recorded start, 90 % within 10 min."
    )
    assert fidelity_sentence(None) == ""
