"""A private Slurm for tests, removed completely afterwards, and its use in the conformance tests."""

import os
import shlex
import shutil
import subprocess
import tempfile
from contextlib import contextmanager
from pathlib import Path

import pytest

from windlass.engines.batch.system import Cancelled, Capacity, Ended, NoMore, Started, Submitted
from windlass.engines.slurm.client import Client
from windlass.engines.slurm.cluster import SlurmCluster, down, up
from windlass.engines.slurm.commands import Commands
from windlass.engines.slurm.daemons import wait_until
from windlass.engines.slurm.host import missing
from windlass.engines.slurm.journal import Journal
from windlass.engines.slurm.system import SlurmOptions, SlurmSystem

#: Timeout (s) on a machine with other work.
PATIENCE = 300.0


@contextmanager
def private_slurm(nodes, cpus, accounting=False):
    """Run a cluster; at the end none of its processes may be left."""
    if reason := missing():
        pytest.skip(reason)
    folder = Path(tempfile.mkdtemp(prefix="wl", dir="/tmp"))
    try:
        cluster, _ = up(folder / "s", nodes, cpus, accounting)
        try:
            yield Shell(cluster)
        finally:
            now = SlurmCluster.load(cluster.folder)
            down(cluster.folder)
        assert [daemon.name for daemon in now.daemons if daemon.alive] == []
    finally:
        shutil.rmtree(folder)


class Shell:
    """A user of a private Slurm, with its commands."""

    def __init__(self, cluster):
        self.cluster, self.folder = cluster, cluster.folder.parent
        self.environment = {**os.environ, "SLURM_CONF": str(cluster.conf)}
        self.client = Client(Commands(cluster.conf), patience=PATIENCE)

    def __call__(self, *command):
        done = subprocess.run(command, env=self.environment, capture_output=True, text=True, cwd=self.folder)
        assert done.returncode == 0, f"{command}: {done.stderr}"
        return done.stdout.strip()

    def submit(self, command, *options, procs=1, minutes=1, ours=True):
        """Submit a job and return its number; with `ours` it is held and left to Windlass."""
        left = ("--hold", "--comment=windlass") if ours else ()
        script = f"--wrap={command}"
        words = ("sbatch", "--parsable", "--output=/dev/null", f"--ntasks={procs}", f"--time={minutes}")
        return int(self(*words, *left, *options, script))

    def rows(self):
        return {row.job: row for row in self.client.jobs()}

    def until(self, done):
        """Wait until a condition on the rows holds."""
        assert wait_until(lambda: done(self.rows()), PATIENCE), self("squeue", "--states=all")

    def clear(self):
        """Remove all jobs, and wait until all nodes are up."""
        jobs = self("squeue", "--noheader", "--format=%A").split()
        if jobs:
            self("scancel", "--full", *jobs)
        assert wait_until(lambda: not self("squeue", "--noheader"), PATIENCE)
        for node in self("sinfo", "--noheader", "--Node", "--states=drain", "--format=%N").split():
            self("scontrol", "update", f"NodeName={node}", "State=RESUME")


class OnSlurm:
    """Maker of systems for the conformance tests; `late` allows for a busy machine."""

    late = 10.0

    def __init__(self, shell):
        self.shell = shell

    def make(self, jobs, processors, cancels=(), capacity=()):
        assert processors == self.shell.cluster.nodes
        return Numbered(self.shell, jobs, cancels, capacity)


class Numbered:
    """Slurm with the job numbers of a table; jobs are submitted, and mishaps happen, at given times.

    A mishap waits for its target: a running job is cancelled when it runs, and processors come back when
    their loss was reported.
    """

    def __init__(self, shell, jobs, cancels, capacity):
        self.shell = shell
        shell.clear()
        journal = Journal(Path(tempfile.mkdtemp(dir=shell.folder)) / "journal")
        columns = (jobs.job, jobs.submit, jobs.run, jobs.procs, jobs.request)
        due = [
            (submit, number, lambda row=(number, run, procs, request): self.submit(*row))
            for number, submit, run, procs, request in zip(
                *(column.tolist() for column in columns), strict=True
            )
        ]
        due += [(at, 10**6, lambda number=number: self.cancel(number)) for at, number in cancels]
        due += [(at, 10**6, lambda number=number: self.resize(number)) for at, number in capacity]
        self.due = sorted(due, key=lambda entry: entry[:2])
        self.ours, self.theirs = {}, {}
        self.started, self.ran, self.told_capacity, self.wanted_capacity = set(), set(), 4, 4
        self.system = SlurmSystem(shell.client, journal, SlurmOptions(until_idle=True))
        self.processors, self.zero, self.open = self.system.processors, self.system.now(), True
        self.act()

    def submit(self, number, run, procs, request):
        theirs = self.shell.submit(f"sleep {run}", procs=procs, minutes=int(request // 60))
        self.ours[theirs], self.theirs[number] = number, theirs
        return True

    def cancel(self, number):
        if number in self.started and number not in self.ran:
            return False
        self.shell("scancel", str(self.theirs[number]))
        return True

    def resize(self, processors):
        if self.told_capacity != self.wanted_capacity:
            return False
        for number in range(1, 5):
            state = ("State=RESUME",) if number <= processors else ("State=DRAIN", "Reason=test")
            if (number <= processors) != (number <= self.wanted_capacity):
                names = (
                    f"w[{min(processors, self.wanted_capacity) + 1}-{max(processors, self.wanted_capacity)}]"
                )
                self.shell("scontrol", "update", f"NodeName={names}", *state)
                break
        self.wanted_capacity = processors
        return True

    def act(self):
        while self.due and self.due[0][0] <= self.now() - self.zero and self.due[0][2]():
            self.due.pop(0)

    def now(self):
        return self.system.now()

    def poll(self, timeout):
        until = self.now() + timeout
        while True:
            self.act()
            soonest = self.due[0][0] + self.zero if self.due else until
            lines = [
                self.translated(event)
                for event in self.system.poll(max(0.0, min(until, soonest) - self.now()))
            ]
            lines = [event for event in lines if event is not None]
            if lines or self.now() >= until:
                return lines

    def translated(self, event):
        match event:
            case Submitted(job, at, procs, request):
                return Submitted(self.ours[job], at, procs, request)
            case Started(job, at):
                self.ran.add(self.ours[job])
                return Started(self.ours[job], at)
            case Ended(job, at) | Cancelled(job, at):
                return type(event)(self.ours[job], at)
            case Capacity(processors):
                self.told_capacity = processors
                return event
            case NoMore():
                assert not self.due
                return event

    def start(self, jobs):
        self.started |= set(jobs)
        refused = self.system.start([self.theirs.get(job, 10**6 + job) for job in jobs])
        return {self.ours.get(job, job - 10**6): why for job, why in refused.items()}

    def describe(self, jobs):
        return f"{self.system.describe([self.theirs[job] for job in jobs])} ({shlex.join(map(str, jobs))})"

    def close(self):
        if self.open:
            self.open = False
            self.system.close()
            self.shell.clear()
