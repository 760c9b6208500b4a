"""Ended jobs as a table that Windlass runs again."""

import time

import pytest

from tests.engines.slurm.said import Said
from windlass.engines.slurm.client import Client
from windlass.engines.slurm.log import read_completed, read_log, read_sacct

LINE = (
    "JobId={job} UserId=ann lee(7) GroupId=g(0) Name={name} JobState={state} Partition=share TimeLimit={limit}"
    " StartTime={start} EndTime={end} NodeList=w1 NodeCnt={nodes} ProcCnt={procs} WorkDir=/tmp/a b ReservationName="
    " Tres=cpu=1,mem=4000M,node=1,billing=1 Account= QOS= WcKey= Cluster=unknown SubmitTime={submit}"
    " EligibleTime={submit} DerivedExitCode=0:0 ExitCode=0:0 "
)


def at(second):
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.localtime(1_700_000_000 + second))


def line(job, submit=0, start=5, end=9, **fields):
    known = {"name": "wrap", "state": "COMPLETED", "limit": 3, "nodes": 1, "procs": 2}
    return LINE.format(job=job, submit=at(submit), start=at(start), end=at(end), **(known | fields))


def test_a_file_of_completed_jobs_is_read():
    log = read_completed(
        f"{line(8, submit=2)}\n\n{line(7, name='a b JobId=3 JobState=FAILED', limit='UNLIMITED')}\n",
        "jobs.txt",
    )
    first, second = log.jobs
    assert (first.job, second.job, log.left_out) == (7, 8, 0)
    assert (first.submit, first.start, first.end) == (1_700_000_000, 1_700_000_005, 1_700_000_009)
    assert (first.procs, first.request, second.request) == (2, None, 180)
    assert (first.user, first.state) == ("ann lee", "COMPLETED")
    assert first.name == "a b JobId=3 JobState=FAILED"


def runs(log):
    return [(job.job, job.start, job.state) for job in log.jobs]


#: Job 7 lost its node and ran again; job 8 was put back and waits; job 9 ran once.
SACCT = """\
7|100|110|140|2|60|ann|main|REQUEUED|x
7|140|150|190|2|60|ann|main|COMPLETED|x
8|120|130|135|1|60|ann|main|REQUEUED|a|b
8|135|Unknown|Unknown|0|60|ann|main|PENDING|a|b
9|90|91|99|4||bob|main|FAILED|y
"""
LAST = [(9, 91, "FAILED"), (7, 150, "COMPLETED")]
EVERY = [(9, 91, "FAILED"), (7, 110, "REQUEUED"), (8, 130, "REQUEUED"), (7, 150, "COMPLETED")]


@pytest.mark.parametrize(("duplicates", "found", "left_out"), [(False, LAST, 3), (True, EVERY, 1)])
def test_a_job_that_ran_again_counts_once_or_as_often_as_it_ran(duplicates, found, left_out):
    log = read_sacct(SACCT, duplicates)
    assert (runs(log), log.left_out) == (found, left_out)


@pytest.mark.parametrize(("duplicates", "found"), [(False, [(7, 30)]), (True, [(7, 5), (8, 6), (7, 30)])])
def test_a_file_of_completed_jobs_has_a_line_a_run(duplicates, found):
    again = line(7, submit=9, start=30, end=40)
    text = "\n".join((line(7, state="NODE_FAIL"), line(8, submit=1, start=6, state="REQUEUED"), again))
    log = read_completed(text, "jobs.txt", duplicates)
    assert [(job.job, job.start - 1_700_000_000) for job in log.jobs] == found
    assert log.left_out == 3 - len(found)


@pytest.mark.parametrize("duplicates", [False, True])
def test_sacct_is_asked_for_what_is_wanted(duplicates):
    books = "AccountingStorageType   = accounting_storage/slurmdbd\n"
    said = Said(scontrol=books, env=SACCT)
    assert runs(read_log(Client(said), duplicates)) == (EVERY if duplicates else LAST)
    [asked] = [command for command in said.asked if "sacct" in command]
    states = next(word for word in asked if word.startswith("--state="))
    assert ("--duplicates" in asked) == duplicates
    assert ("REQUEUED" in states) == duplicates
    assert "COMPLETED" in states
