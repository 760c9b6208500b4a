"""Ended jobs as a table that Windlass runs again."""

import time

from windlass.engines.slurm.log import read_completed

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
