"""Kills of the control plane and of its pages at drawn moments: nothing is lost and nothing is done twice.

The engine of these tests starts numbered jobs. A file has what happened in its world, in order: starts, jobs that
people hold, and pauses that were acknowledged. Journal and world are compared at the end.
"""

from __future__ import annotations

import random
import re
import sqlite3
import subprocess
import sys
from collections import Counter

import pytest

from tests.control.moments import ROOT
from tests.kills import PRINTED, kills
from windlass.control.journal import JournalReader, RowFilter

#: Forks a control plane, or a process of the pages, for each line, and prints what became of it. A line is: a number of
#: moments after which the control plane kills itself, or 0 to stop it after some jobs; or "pages" and a number of
#: requests after which the pages are killed.
SERVER = r"""
import os, random, signal, socket, sys, threading, time
from pathlib import Path
from tests.control.moments import left, stepped
from windlass.agent.options import Address
from windlass.agent.stop import Stop
from windlass.agent.web import listening
from windlass.control.action_service import ActionService
from windlass.control.actions.channel import dry_run_then, send_request
from windlass.control.actions.messages import ActionRequest, RequestKind
from windlass.control.engine import EngineStoppedError
from windlass.control.journal import *
from windlass.control.serve import ServeOptions, serve
from windlass.control.supervisor import Supervisor
from windlass.control.web.access import PageAccess
from windlass.control.web.process import show
from windlass.model import InputError

folder = Path(sys.argv[1])
file, world = folder / "journal.db", folder / "world"
world.touch()

STEPS = ("append", "intend_all", "conclude_all", "intend_action", "conclude_action")
for owner, name in ((Supervisor, "pause"), (Supervisor, "resume"), *((JournalWriter, name) for name in STEPS)):
    setattr(owner, name, stepped(getattr(owner, name)))

@stepped
def happens(line):
    handle = os.open(world, os.O_WRONLY | os.O_APPEND)
    os.write(handle, f"{line}\n".encode())
    os.close(handle)

class Jobs:
    actions = ("hold",)
    def preview(self, action, job):
        return f"{action} {job}"
    def carry_out(self, action, job):
        happens(f"hold {job}")
        return "held"
    def found(self, action, job):
        done = f"hold {job}" in world.read_text().splitlines()
        return f"{'carried out' if done else 'failed: not carried out'}, as found after a restart"

class Engine:
    name, about, scope, now, jobs = "fake", "an engine of a test", "fake", 0.0, Jobs()
    def prepare(self, compiling=None):
        pass
    def run(self, journal, stop):
        journal.flush()
        done = {int(line.split()[1]) for line in world.read_text().splitlines() if line.startswith("start ")}
        with JournalReader(file) as reader:
            left_open = reader.open_acts()
        for act in left_open:
            number = int(act.job.id)
            if number not in done:
                happens(f"start {number}")
                done.add(number)
            journal.conclude(act.key, 0.0, "started, as found after a restart")
        number = max(done, default=-1)
        while not stop.requested:
            number += 1
            job = JobKey("fake", "", str(number))
            journal.append(DecisionRecord(float(number), job, "order", "fcfs", "start", "next"))
            if journal.intend(ActRecord(f"start {number}", float(number), job, "start")):
                happens(f"start {number}")
                journal.conclude(f"start {number}", float(number), "started")
        raise EngineStoppedError("stopped on request")

def request(action, job=""):
    wanted = ActionRequest(RequestKind.PREVIEW, action, "fake", job, "a test")
    try:
        dry_run_then(file, wanted, carries_out=True)
    except InputError:
        return False
    return True

def paused():
    try:
        return send_request(file, ActionRequest(RequestKind.OFFERS)).offers[0].paused
    except InputError:
        return False

def people(seed, moments, stop):
    # Until the process listens, requests are refused.
    rng, number, done = random.Random(seed), 0, 0
    while not stop.requested:
        time.sleep(0.001)
        job = f"h{seed}.{number}"
        number += 1
        if request("hold", job):
            happens(f"acknowledged {job}")
            done += 1
        drawn = rng.random()
        if drawn < 0.2 and request("pause"):
            happens("paused")
        elif drawn > 0.8 and paused():
            happens("resuming")
            request("resume")
        if moments == 0 and done > 5:
            if paused():
                happens("resuming")
                request("resume")
            stop.notify()

def control(seed, moments):
    stop, left[0] = Stop(), moments
    threading.Thread(target=people, args=(seed, moments, stop), daemon=True).start()
    serve([Engine()], ServeOptions(file, acts=True), stop, lambda line: None)

def answered(address, target):
    with socket.create_connection(address, timeout=20.0) as client:
        client.sendall(b"GET " + target + b" HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        found = b""
        try:
            while part := client.recv(65536):
                found += part
        except ConnectionResetError:
            pass
    return found

def pages(seed, requests):
    rng = random.Random(seed)
    with listening("pages", Address("127.0.0.1", 0)) as bound:
        child = os.fork()
        if child == 0:
            show(bound, file, PageAccess(None), Stop())
            os._exit(0)
        whole = 0
        for _ in range(requests):
            target = rng.choice([b"/", b"/decisions", b"/actions", b"/health", b"/metrics"])
            found = answered(bound.getsockname(), target)
            whole += found.startswith(b"HTTP/1.1 200")
        if rng.random() < 0.5:
            # A request that is not answered yet.
            with socket.create_connection(bound.getsockname()) as client:
                client.sendall(b"GET /decisions?rows=500 HTTP/1.1\r\nHost: localhost\r\n\r\n")
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        return whole == requests

for seed, line in enumerate(sys.stdin):
    kind, _, number = line.strip().rpartition(" ")
    if kind:
        print(int(pages(seed, int(number))), flush=True)
        continue
    child = os.fork()
    if child == 0:
        try:
            control(seed, int(number))
        except BaseException as error:
            print(repr(error), file=sys.stderr)
            os._exit(1)
        os._exit(0)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""
#: Moments until a kill, at most, and one in so many kills is of the pages.
MOMENTS, PAGES = 120, 4


def killed(folder, count, seed):
    """Kill control planes and pages, let the last one stop, and return how many of each were killed."""
    process = subprocess.Popen(
        [sys.executable, "-c", SERVER, str(folder)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None

    def run(line):
        process.stdin.write(f"{line}\n")
        process.stdin.flush()
        return int(process.stdout.readline())

    rng, found = random.Random(seed), Counter()
    # The first one makes the journal.
    assert run(0) == 0
    for number in range(count):
        if number % PAGES == PAGES - 1:
            assert run(f"pages {rng.randrange(1, 6)}") == 1
            found["pages"] += 1
        else:
            status = run(rng.randrange(1, MOMENTS))
            assert status == -9
            found["control planes"] += 1
    assert run(0) == 0
    process.stdin.close()
    process.stdout.close()
    assert process.wait() == 0
    return found


def check(folder):
    """Compare the journal with the world."""
    lines = (folder / "world").read_text().splitlines()
    starts = [int(line.split()[1]) for line in lines if line.startswith("start ")]
    held = [line.split()[1] for line in lines if line.startswith("hold ")]
    acknowledged = {line.split()[1] for line in lines if line.startswith("acknowledged ")}
    # Nothing is done twice, and no number is left out.
    assert starts == list(range(len(starts)))
    assert max(Counter(held).values()) == 1
    with JournalReader(folder / "journal.db") as reader:
        acts = {row[0]: row[1] for row in reader._rows("select job, outcome from acts")}
        actions = reader._rows("select job, action, outcome, by, reason from actions order by id")
        decided = {row[0] for row in reader._rows("select job from decisions where job <> ''")}
        assert (reader.open_acts(), reader.actions.open()) == ((), ())
        assert not reader.actions.paused("fake")
        assert reader.decisions(RowFilter(job=str(starts[-1]))).rows
    # What happened is in the journal with its intent, and with its outcome.
    assert {str(number) for number in starts} == set(acts)
    assert all(outcome.startswith("started") for outcome in acts.values())
    assert set(acts) <= decided
    outcomes = {job: outcome for job, action, outcome, *_ in actions if action == "hold"}
    assert set(held) <= set(outcomes)
    assert acknowledged <= set(held)
    assert all(outcomes[job] == "held" for job in acknowledged)
    # An action without an acknowledgement is looked up.
    assert {outcome.partition(",")[0] for job, outcome in outcomes.items() if job in held} <= {
        "held",
        "carried out",
    }
    assert {outcomes[job] for job in set(outcomes) - set(held)} <= {
        "failed: not carried out, as found after a restart"
    }
    assert {row[3].startswith("user ") and row[4] == "a test" for row in actions} == {True}
    # Between an acknowledged pause and its resume, nothing starts: also after a restart.
    assert not re.findall(r"paused(?:\n(?!resuming).*)*\nstart ", "\n".join(lines))
    with sqlite3.connect(folder / "journal.db") as file:
        assert file.execute("pragma integrity_check").fetchone() == ("ok",)
    file.close()
    return len(starts), len(held), len(actions)


@pytest.mark.slow
def test_nothing_is_lost_or_repeated_by_kills_at_drawn_moments(tmp_path):
    found = killed(tmp_path, kills(200), seed=1)
    seen = check(tmp_path)
    if PRINTED:
        print(dict(found), "starts, holds and actions:", seen)
