"""Ended jobs as a table that Windlass runs again."""

import io
import time

import pytest

from tests.engines.slurm.fake_commands import FakeCommands, node, nodes
from tests.engines.slurm.releases import RELEASES, AsRelease, before, nodes_of
from windlass.engines.slurm.client import Client
from windlass.engines.slurm.log import (
    SiteSize,
    SlurmJobLog,
    read_completed,
    read_log,
    read_sacct,
    read_site,
    write_log,
)
from windlass.io.traces import read_trace, to_workload
from windlass.model import BatchError, InputError

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


def test_a_file_of_completed_jobs_is_parsed():
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


#: Job 7 lost its node and ran again; job 8 was requeued and waits; job 9 ran once.
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
def test_a_job_that_ran_again_counts_once_or_per_run(duplicates, found, left_out):
    log = read_sacct(SACCT, duplicates)
    assert (runs(log), log.left_out) == (found, left_out)


@pytest.mark.parametrize(("duplicates", "found"), [(False, [(7, 30)]), (True, [(7, 5), (8, 6), (7, 30)])])
def test_a_file_of_completed_jobs_has_a_line_per_run(duplicates, found):
    again = line(7, submit=9, start=30, end=40)
    text = "\n".join((line(7, state="NODE_FAIL"), line(8, submit=1, start=6, state="REQUEUED"), again))
    log = read_completed(text, "jobs.txt", duplicates)
    assert [(job.job, job.start - 1_700_000_000) for job in log.jobs] == found
    assert log.left_out == 3 - len(found)


@pytest.mark.parametrize("duplicates", [False, True])
def test_sacct_is_called_with_the_matching_options(duplicates):
    books = "AccountingStorageType   = accounting_storage/slurmdbd\n"
    fake = FakeCommands(scontrol=books, env=SACCT)
    assert runs(read_log(Client(fake), duplicates)) == (EVERY if duplicates else LAST)
    [recorded] = [command for command in fake.recorded if "sacct" in command]
    states = next(word for word in recorded if word.startswith("--state="))
    assert ("--duplicates" in recorded) == duplicates
    assert ("REQUEUED" in states) == duplicates
    assert "COMPLETED" in states


def test_a_job_counts_once_unless_duplicates_are_requested(tmp_path):
    place = tmp_path / "jobs.txt"
    place.write_text(f"{line(7, state='NODE_FAIL')}\n{line(7, submit=9, start=30, end=40)}\n")
    books = FakeCommands(scontrol="AccountingStorageType = accounting_storage/slurmdbd\n", env=SACCT)
    file = FakeCommands(scontrol=f"JobCompType = jobcomp/filetxt\nJobCompLoc = {place}\n")
    assert runs(read_log(Client(books))) == runs(read_sacct(SACCT)) == LAST
    assert not any("--duplicates" in command for command in books.recorded)
    last = [(7, 1_700_000_030, "COMPLETED")]
    assert runs(read_log(Client(file))) == runs(read_completed(place.read_text(), "jobs.txt")) == last


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("7|100|110|140|2|60|ann|main|CANCELLED by 0|x", (110, 2, 3600, "CANCELLED", "x")),
        ("7|100|110|140|2|Partition_Limit|ann|main|TIMEOUT|a|b", (110, 2, None, "TIMEOUT", "a|b")),
        ("7|100|110|110|2||ann|main|FAILED|", (110, 2, None, "FAILED", "")),
        # These jobs never ran.
        ("7|100|110|109|2|60|ann|main|COMPLETED|x", None),
        ("7|100|Unknown|140|2|60|ann|main|CANCELLED|x", None),
        ("7|100|110|Unknown|2|60|ann|main|RUNNING|x", None),
        # Cancelled while it was held: Slurm may record processors, and its start as its end.
        ("7|100|140|140|2|60|ann|main|CANCELLED by 0|x", None),
        ("7|100|110|140|0|60|ann|main|CANCELLED|x", None),
        ("7|100|110|140||60|ann|main|CANCELLED|x", None),
    ],
)
def test_a_line_of_sacct_is_a_run_or_skipped(line, found):
    log = read_sacct(f"\n{line}\n")
    assert [(job.start, job.procs, job.request, job.state, job.name) for job in log.jobs] == (
        [found] if found else []
    )
    assert log.left_out == (0 if found else 1)


@pytest.mark.parametrize(
    "line", ["7|100|110|140|2|60|ann|main|FAILED", "x|100|110|140|2|60|ann|main|FAILED|x"]
)
def test_a_malformed_line_of_sacct_is_an_error(line):
    with pytest.raises(BatchError, match="sacct, line 2: cannot be read"):
        read_sacct(f"7|100|110|140|2|60|ann|main|FAILED|x\n{line}\n")


def test_runs_are_in_order_of_submission_then_of_number_then_of_start():
    rows = [(9, 100, 130), (8, 100, 140), (8, 100, 120), (3, 101, 110), (5, 99, 150)]
    text = "\n".join(f"{job}|{submit}|{start}|160|1|1|ann|main|FAILED|x" for job, submit, start in rows)
    assert [(job.job, job.start) for job in read_sacct(text, True).jobs] == [
        (5, 150), (8, 120), (8, 140), (9, 130), (3, 110)
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("settings", "message"),
    [("", "found JobCompType=none"), ("JobCompType = jobcomp/none\n", "found JobCompType=jobcomp/none")],
)
def test_a_slurm_without_records_is_an_error_with_the_setting(settings, message):
    with pytest.raises(InputError, match=f"this Slurm keeps no record of ended jobs: .*, {message}$"):
        read_log(Client(FakeCommands(scontrol=settings)))


def test_the_file_of_completed_jobs_is_the_configured_one(tmp_path):
    place = tmp_path / "jobs.txt"
    client = Client(FakeCommands(scontrol=f"JobCompType = jobcomp/filetxt\nJobCompLoc = {place}\n"))
    assert read_log(client) == SlurmJobLog((), 0)
    place.write_text(f"{line(7)}\n{line(8, nodes=0)}\n{line(9).replace(at(5), 'Unknown')}\n")
    assert ([job.job for job in read_log(client).jobs], read_log(client).left_out) == ([7], 2)
    assert [job.job for job in read_log(client, True).jobs] == [7]
    place.write_text(f"{line(7)}\nnonsense\n")
    with pytest.raises(BatchError, match=f"{place}, line 2: cannot be read, expected what"):
        read_log(client)
    place.write_text(line(7).replace(at(5), "2023-13-99T00:00:00"))
    with pytest.raises(BatchError, match=f"{place}, line 1: cannot be read: time data"):
        read_log(client)
    place.unlink()
    place.mkdir()
    with pytest.raises(InputError, match=f"{place}: Is a directory"):
        read_log(client)


def test_a_table_counts_from_the_first_submission():
    out = io.StringIO()
    log = read_sacct("9|90|95|99|4|2|bob|main|FAILED|y\n7|100|110|140|2||ann|side|COMPLETED|a,b\n")
    write_log(log.jobs, out)
    assert out.getvalue() == (
        "job,submit,start,run,procs,request,user,partition,state,name,submit_unix\n"
        "9,0,5,4,4,120,bob,main,FAILED,y,90\n"
        '7,10,20,30,2,,ann,side,COMPLETED,"a,b",100\n'
    )


def test_a_name_may_contain_line_ends_and_the_separator():
    text = "7|100|110|140|2|60|ann|main|FAILED|a\nb|c\n\n d\n8|100|110|140|2|60|ann|main|FAILED|x\u2028y\n"
    assert [(job.job, job.name) for job in read_sacct(text).jobs] == [(7, "a\nb|c\n\n d"), (8, "x\u2028y")]
    with pytest.raises(BatchError, match="sacct, line 1: cannot be read"):
        read_sacct("a\n7|100|110|140|2|60|ann|main|FAILED|x\n")
    with pytest.raises(BatchError, match="sacct, line 3: cannot be read"):
        read_sacct("7|100|110|140|2|60|ann|main|FAILED|x\ny\n7|100|110|\n")


@pytest.mark.parametrize("kind", ["slurmdbd", "accounting_storage/slurmdbd"])
def test_plugins_may_be_named_without_their_kind(kind, tmp_path):
    assert (
        runs(read_log(Client(FakeCommands(scontrol=f"AccountingStorageType = {kind}\n", env=SACCT)))) == LAST
    )
    (tmp_path / "jobs.txt").write_text(f"{line(7)}\n")
    file = FakeCommands(scontrol=f"JobCompType = filetxt\nJobCompLoc = {tmp_path / 'jobs.txt'}\n")
    assert len(read_log(Client(file)).jobs) == 1


@pytest.mark.parametrize("release", RELEASES)
def test_the_size_of_the_site_is_that_of_all_nodes(release):
    rows = (node("w1", cpus=4), node("w2", "down", cpus=8), node("w3", "idle", ["DRAIN"], cpus=1))
    fake = FakeCommands(sinfo=nodes(*rows), scontrol_show_nodes=nodes_of(release, rows))
    assert read_site(Client(AsRelease(release, fake))) == SiteSize(13, 3)
    assert len(fake.recorded) == (1 if before(release, "23.02") else 2)


def test_a_log_states_the_size_of_its_site(tmp_path):
    jobs = read_sacct("9|90|95|99|4|2|bob|main|FAILED|y\n7|100|110|140|2||ann|side|COMPLETED|a,b\n").jobs
    with open(tmp_path / "log.csv", "w") as out:
        write_log(jobs, out, SiteSize(64, 16))
    assert (tmp_path / "log.csv").read_text() == (
        "job,submit,start,run,procs,request,user,partition,state,name,submit_unix,site_procs,site_nodes\n"
        "9,0,5,4,4,120,bob,main,FAILED,y,90,64,16\n"
        '7,10,20,30,2,,ann,side,COMPLETED,"a,b",100,64,16\n'
    )
    trace = read_trace(tmp_path / "log.csv")
    workload = to_workload(trace)
    assert (trace.processors, workload.processors, workload.logged_processors) == (64, 64, 64)
    assert not [note for note in workload.notes if "does not state the number of processors" in note]
    assert to_workload(trace, 8).processors == 8
