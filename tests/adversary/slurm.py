"""A Slurm in virtual time: its jobs start and end on a clock, and it keeps accounting and a log of holds."""

from datetime import datetime

from tests.adversary.records import Actor, HoldChange, Left, Ran
from tests.engines.slurm.fake_commands import free, job, nodes, over, running
from tests.engines.slurm.fake_commands import node as node_row
from tests.engines.slurm.strict import CONFIG, Strict

#: From a release to the start that it allows, s.
_LATENCY_S = 1.0
#: How long Slurm lists an ended job, s.
_LISTED_S = 25.0
#: How long a requeued job waits, s.
_REQUEUED_S = 8.0
#: What a controller that is killed may forget, s.
_FORGETS_S = 5.0


class VirtualSlurm(Strict):
    """The strict Slurm of the other tests, on two nodes, whose jobs advance with a clock and not with each poll."""

    def __init__(self, clock, cpus):
        super().__init__(cpus)
        self.clock, self.by, self.booted = clock, Actor.DRIVER, clock.now
        self.holder, self.log, self.ran = {}, [], []
        self.drained, self.lost, self.ours = set(), set(), set()
        self._seconds, self._completing, self._run = {}, {}, {}
        self._delayed, self._fails, self._freed_at, self._submitted = {}, set(), {}, {}

    def arrive(self, plan):
        """Submit a job of a plan."""
        comment = "windlass" if plan.opted else ""
        self.submit(plan.number, plan.procs, comment=comment, submit_time=int(self.clock.now))
        self._seconds[plan.number], self._completing[plan.number] = plan.seconds, plan.completing
        self._run[plan.number], self._submitted[plan.number] = 0, self.clock.now
        self.holder[plan.number] = Actor.SUBMISSION
        if plan.opted:
            self.ours.add(plan.number)

    def __call__(self, command, timeout):
        if command[:2] == ("sinfo", "--json"):
            rows = [
                node_row(name, cpus=self.cpus // 2, flags=["DRAIN"] if name in self.drained else ())
                for name in ("w1", "w2")
            ]
            return 0, nodes(*rows), ""
        if command[:3] == ("scontrol", "show", "config"):
            return 0, f"BOOT_TIME = {datetime.fromtimestamp(int(self.booted)).isoformat()}\n{CONFIG}", ""
        return super().__call__(command, timeout)

    def step(self):
        """Nothing advances because of a poll."""

    def change(self, verb, number, by=None):
        by = by or self.by
        row = self.rows.get(number)
        if row is None:
            return f"Invalid job id specified for job {number}"
        if verb == "requeuehold":
            return self._requeue(number, by)
        if row["job_state"] != "PENDING":
            return f"Job is no longer pending execution for job {number}"
        if verb == "release":
            if row["priority"] == 0:
                self._free(number, by)
        elif row["priority"] or by is Actor.ADMINISTRATOR:
            reason = "JobHeldAdmin" if by is Actor.ADMINISTRATOR else "JobHeldUser"
            self.rows[number] = job(number, **self.kept(row), state_reason=reason)
            self._note(number, by, True)
        return ""

    def act(self, action):
        """Carry out an action of a plan, if the job is in a state for it."""
        number, row = action.job, self.rows.get(action.job)
        waits = row is not None and row["job_state"] == "PENDING"
        runs = row is not None and row["job_state"] == "RUNNING"
        match action.kind:
            case "user holds" if waits:
                self.change("uhold", number, Actor.USER)
            case "user releases" if waits and self.holder[number] is not Actor.ADMINISTRATOR:
                self.change("release", number, Actor.USER)
            case "user requeues" if runs:
                self._requeue(number, None)
            case "user requeues, held" if runs:
                self._requeue(number, Actor.USER)
            case "cancelled" if waits or runs:
                self._cancel(number)
            case "launch fails":
                self._fails.add(number)
            case "administrator holds" if waits:
                self.change("hold", number, Actor.ADMINISTRATOR)
            case "administrator releases" if waits:
                self.change("release", number, Actor.ADMINISTRATOR)
            case "comment removed" if waits:
                row["comment"] = ""
                self.ours.discard(number)
            case "request changed" if waits:
                row["cpus"] = 1 + int(action.size) % self.cpus
            case "depends" if waits:
                self._delay(number, "Dependency", action.size)

    def forget(self):
        """Lose what the controller had not saved yet."""
        began = self.clock.now - _FORGETS_S
        for number, row in list(self.rows.items()):
            if row["job_state"] != "PENDING":
                continue
            if self._submitted[number] > began and row["priority"] == 0:
                del self.rows[number]
                self.lost.add(number)
            elif row["priority"] and self._freed_at.get(number, 0.0) > began and not row["restart_cnt"]:
                self.rows[number] = job(number, **self.kept(row))
                self._note(number, Actor.ROLLBACK, True)

    def drain(self, name, back):
        """Drain a node, or let jobs start on it again."""
        (self.drained.discard if back else self.drained.add)(name)
        self._soon()

    def listed(self):
        """Return all jobs that are listed."""
        return tuple(
            Left(number, number in self.ours, row["job_state"] == "PENDING" and row["priority"] == 0, waits)
            for number, row in self.rows.items()
            for waits in [row["job_state"] == "PENDING"]
        )

    @property
    def busy(self):
        """True if a job runs, may start without a release, or is held for Windlass."""
        for number, row in self.rows.items():
            waits = row["job_state"] == "PENDING"
            if row["job_state"] in ("RUNNING", "COMPLETING") or (waits and row["priority"]):
                return True
            if waits and number in self.ours and self.holder[number] in (Actor.SUBMISSION, Actor.DRIVER):
                return True
        return False

    def _note(self, number, by, held):
        self.holder[number] = by if held else None
        self.log.append(HoldChange(self.clock.now, number, by, held))

    def _free(self, number, by):
        row = self.rows[number]
        self.rows[number] = free(number, **self.kept(row), state_reason=self._reason(number))
        self._freed_at[number] = self.clock.now
        if number in self.released:
            self.released.remove(number)
        self.released.append(number)
        self._note(number, by, False)
        self._soon()

    def _reason(self, number):
        until, reason = self._delayed.get(number, (0.0, ""))
        return reason if until > self.clock.now else "Resources"

    def _delay(self, number, reason, seconds):
        self._delayed[number] = self.clock.now + seconds, reason
        row = self.rows[number]
        if row["priority"]:
            row["state_reason"] = reason
        self.clock.at(self.clock.now + seconds, lambda: self._eligible(number))

    def _eligible(self, number):
        row = self.rows.get(number)
        if row is not None and row["job_state"] == "PENDING" and row["priority"]:
            row["state_reason"] = self._reason(number)
        self._soon()

    def _soon(self):
        self.clock.at(self.clock.now + _LATENCY_S, self._schedule)

    def _schedule(self):
        for number in list(self.released):
            row = self.rows.get(number)
            if row is None or row["job_state"] != "PENDING" or not row["priority"]:
                self.released.remove(number)
                continue
            used = sum(
                each["cpus"] for each in self.rows.values() if each["job_state"] in ("RUNNING", "COMPLETING")
            )
            capacity = self.cpus - self.cpus // 2 * len(self.drained)
            if self._reason(number) == "Resources" and used + row["cpus"] <= capacity:
                self.released.remove(number)
                self._start(number, row)

    def _start(self, number, row):
        if number in self._fails:
            self._fails.discard(number)
            self.ran.append(Ran(number, self.clock.now, self.clock.now, "REQUEUED"))
            self._back(number, Actor.SLURM, "launch failed requeued held")
            return
        self.rows[number] = running(number, **self.kept(row), start_time=int(self.clock.now))
        self._run[number] += 1
        self._began = {**getattr(self, "_began", {}), number: self.clock.now}
        run = self._run[number]
        self.clock.at(self.clock.now + self._seconds[number], lambda: self._end(number, run))

    def _end(self, number, run):
        row = self.rows.get(number)
        if row is None or row["job_state"] != "RUNNING" or self._run[number] != run:
            return
        if self._completing[number]:
            row["job_state"] = "COMPLETING"
            self.clock.at(self.clock.now + self._completing[number], lambda: self._ended(number, "COMPLETED"))
            return
        self._ended(number, "COMPLETED")

    def _ended(self, number, state):
        row = self.rows[number]
        times = {"start_time": row["start_time"], "end_time": int(self.clock.now)}
        self.rows[number] = over(number, state, **self.kept(row), **times)
        self.ran.append(Ran(number, self._began[number], self.clock.now, state))
        self._gone_later(number)
        self._soon()

    def _gone_later(self, number):
        ended = self.rows[number]

        def gone():
            if self.rows.get(number) is ended:
                del self.rows[number]

        self.clock.at(self.clock.now + _LISTED_S, gone)

    def _cancel(self, number):
        row = self.rows[number]
        self.ours.discard(number)
        if row["job_state"] == "RUNNING":
            self._ended(number, "CANCELLED")
            return
        times = {"start_time": 0, "end_time": int(self.clock.now), "nodes": ""}
        self.rows[number] = over(number, "CANCELLED", **self.kept(row), **times)
        self._gone_later(number)

    def _requeue(self, number, by):
        row = self.rows[number]
        if row["job_state"] != "RUNNING":
            return f"Requested operation is presently disabled for job {number}"
        self.ran.append(Ran(number, self._began[number], self.clock.now, "REQUEUED"))
        self._back(number, by, "JobHeldUser")
        return ""

    def _back(self, number, by, reason):
        """Requeue a job, held by an actor, or without a hold."""
        row = self.kept(self.rows[number])
        row |= {"restart_cnt": row["restart_cnt"] + 1, "submit_time": int(self.clock.now)}
        self._run[number] += 1
        self._soon()
        if by is not None:
            self.rows[number] = job(number, **row, state_reason=reason)
            self._note(number, by, True)
            return
        self.rows[number] = free(number, **row)
        self.released.append(number)
        self._delay(number, "BeginTime", _REQUEUED_S)
