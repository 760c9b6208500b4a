"""Bugs of the drivers, one line each, that the adversary must find."""

from tests.mutants.mutant import Mutant

_HERE = ("tests/adversary/test_adversary.py",)
_SLURM = "engines/slurm"


def _bug(file, old, new):
    return Mutant(file, old, new, _HERE)


#: Bugs of the Slurm driver, each with what it breaks.
SLURM = {
    "a release is not journaled": _bug(
        f"{_SLURM}/system.py",
        "self._journal.append(*(Releasing(now, job, known[job].submit, known[job].restarts) for job in wanted))",
        "pass",
    ),
    "a give-back is not journaled": _bug(
        f"{_SLURM}/give_back.py", "journal.append(GivenBack(clock(), held))", "pass"
    ),
    "a give-back lifts an administrator's hold": _bug(
        f"{_SLURM}/give_back.py", "return row.held and not row.barred", "return row.held"
    ),
    "a give-back lifts a user's hold": _bug(f"{_SLURM}/give_back.py", "if not past.is_users(row)}", "}"),
    "the queue is not given back": _bug(
        f"{_SLURM}/driver.py", "if not driving.keep_held:", "if driving.keep_held:"
    ),
    "jobs of others are released": _bug(
        f"{_SLURM}/models.py",
        "return self.comment.split()[:1] == [OPT_IN] and not self.many",
        "return not self.many",
    ),
    "a hold right after a release is lifted": _bug(
        f"{_SLURM}/watch.py", "if self._restarted_since():", "if before.held:"
    ),
    "a user's hold counts as an administrator's": _bug(
        f"{_SLURM}/watch.py",
        "known.aside = -math.inf if known.row.barred else math.inf\n        if not",
        "known.aside = -math.inf\n        if not",
    ),
    "an administrator's hold is tried again": _bug(
        f"{_SLURM}/known_job.py", "return row.held and not row.barred and (", "return row.held and ("
    ),
    "a confirmed release is forgotten": _bug(
        f"{_SLURM}/entries.py", "self.released[entry.job] = entry", "pass"
    ),
    "a rotated journal lacks confirmed releases": _bug(
        f"{_SLURM}/entries.py", "            *self.released.values(),\n", ""
    ),
    "a job that its user requeued, held, is started": _bug(
        f"{_SLURM}/watch.py",
        "if row.held and (row.barred or not self._returning(row)):",
        "if row.held and row.barred:",
    ),
    "a job that was just held counts as released": _bug(
        f"{_SLURM}/system.py", "self._watch.held(job)", "pass"
    ),
    "an unreachable Slurm is an empty queue": _bug(
        f"{_SLURM}/output.py", "if not usable and any(", "if False and any("
    ),
    "a shortened journal forgets what is open": _bug(
        "engines/batch/journal.py",
        "map(self._form.line, self._state.entries()), self._limit",
        "(), self._limit",
    ),
    "a list that was cut short stops the driver": _bug(
        f"{_SLURM}/client.py", '    "input data was truncated",\n', ""
    ),
    "the end of a job is no reason for a decision": _bug(
        "engines/batch/engine.py", "self._wanted |= self._book.take(event)", "self._book.take(event)"
    ),
}
_OBJECTS, _ENGINE = "engines/kubernetes/headroom.py", "engines/elastic/engine.py"
#: Bugs of the autoscaler.
ELASTIC = {
    "a resized object is left so": _bug(
        _OBJECTS, 'if (found.get("spec") or {}).get("replicas") != count:', "if False:"
    ),
    "objects are recreated at each decision": _bug(
        _OBJECTS, "if _shape_of(found) == _shape_of(wanted):", "if False:"
    ),
    "Deployments stay when buffers are supported": _bug(
        _OBJECTS, "self._delete_stale(objects.DEPLOYMENT, deployments, set())", "pass"
    ),
    "templates stay when buffers are not supported": _bug(
        _OBJECTS, "            self._delete_stale(objects.POD_TEMPLATE, templates, set())\n", ""
    ),
    "objects of others are deleted": _bug(
        _OBJECTS, "if is_managed(found) and name not in wanted:", "if name not in wanted:"
    ),
    "a failed write ends the driver": _bug(
        _ENGINE,
        "except ClusterError as error:\n            self._retry_later(error)\n            return",
        "except ZeroDivisionError as error:\n            self._retry_later(error)\n            return",
    ),
}
_JOBS = "engines/kubernetes/jobs"
#: Bugs of the driver of Kubernetes Jobs.
JOBS = {
    "a resumption is not journaled": _bug(
        f"{_JOBS}/system.py",
        "*(Resuming(now, each.job.title, each.job.uid) for each in waiting.values()),\n",
        "\n",
    ),
    "the outcome of a cut resumption is not recorded": _bug(
        f"{_JOBS}/system.py", "        self._settle()\n", ""
    ),
    "a resumption names no version": _bug(
        f"{_JOBS}/models.py", '{"resourceVersion": version, "annotations"', '{"annotations"'
    ),
    "a resumption leaves no annotation": _bug(
        f"{_JOBS}/models.py", ', "annotations": {RELEASED: time}}', "}"
    ),
    "a Job with the annotation is resumed again": _bug(
        f"{_JOBS}/models.py", "suspended and not self.released and", "suspended and"
    ),
    "Jobs of Kueue are resumed": _bug(f"{_JOBS}/models.py", " and not self.kueue", ""),
    "a Job that its user resumed is resumed again": _bug(
        f"{_JOBS}/watch.py",
        "(each.reported is Reported.WAITS or not math.isnan(job.start))",
        "each.reported is Reported.HOLDS",
    ),
    "a Job wider than the cluster blocks the others": _bug(
        f"{_JOBS}/watch.py", "if job.procs > most:", "if False:"
    ),
    "a request without an answer ends the driver": _bug(
        f"{_JOBS}/client.py",
        "except ClusterError as error:\n                self.contact.health.progressed()",
        "except ZeroDivisionError as error:\n                self.contact.health.progressed()",
    ),
    "a driver without the Lease writes": _bug(
        "engines/kubernetes/lease.py", "        self._lease.check()\n", ""
    ),
    "a Job that left the queue is resumed": _bug(
        f"{_JOBS}/client.py", "if not has_opted_in(tree) or not now.waits_for_us:", "if not now.waits_for_us:"
    ),
}
_PBS, _HOLDS = "engines/pbs", "engines/batch/holds"
#: Bugs of the driver of PBS.
PBS = {
    "a release by qrls is not journaled": _bug(
        f"{_HOLDS}/system.py",
        "self._journal.append(*(Lifting(now, row.job, row.created, row.runs) for row in rows))",
        "pass",
    ),
    "a hold by qhold is not journaled": _bug(
        f"{_HOLDS}/system.py",
        "*(HoldingAgain(now, row.job, row.created, row.runs, jobs[row.job]) for row in wanted)\n",
        "\n",
    ),
    "a give-back lifts an operator's hold": _bug(
        f"{_HOLDS}/give_back.py", " if not past.is_others(row)}", "}"
    ),
    "a queue of PBS is not given back": _bug(
        f"{_HOLDS}/driver.py", "if not driving.keep_held:", "if driving.keep_held:"
    ),
    "jobs of other queues are released": _bug(
        f"{_HOLDS}/watch.py", "each.job.queue == self._queue and not each.job.part", "not each.job.part"
    ),
    "an operator's hold after a release is lifted": _bug(
        f"{_HOLDS}/history.py", "job.job in standing.released or job.runs", "job.runs"
    ),
    "a job that waits for PBS is held": _bug(
        f"{_HOLDS}/history.py",
        'job.runs > last.runs\n        return "it was requeued"',
        'True\n        return "it was requeued"',
    ),
    "qrls lifts all holds": _bug(
        f"{_PBS}/client.py", '(verb, "-h", OURS, *jobs)', '(verb, "-h", "uos", *jobs)'
    ),
    "a list of jobs that was cut short stops the driver": _bug(
        f"{_PBS}/client.py", '    "is not valid json",\n', ""
    ),
    "a job wider than the queue's vnodes is released": _bug(
        f"{_HOLDS}/watch.py", "if row.procs > self._most:", "if False:"
    ),
}
_CONDOR = "engines/htcondor"
#: Bugs of the driver of HTCondor.
HTCONDOR = {
    "condor_release lifts all holds": _bug(
        f"{_CONDOR}/client.py", " && (HoldReasonCode == {SUBMITTED} || {ours})'", "'"
    ),
    "condor_hold holds jobs of any state": _bug(f"{_CONDOR}/client.py", "JobStatus == {IDLE} && ", ""),
    "a user's hold of a job counts as Windlass's": _bug(
        f"{_CONDOR}/models.py", "(self.code == SUBMITTED or by_driver)", "True"
    ),
    "a queue daemon that is away stops the driver": _bug(
        f"{_CONDOR}/client.py", '    "failed to fetch ads",\n', ""
    ),
    "a list of ads that was cut short stops the driver": _bug(
        f"{_CONDOR}/client.py", '    "is not valid json",\n', ""
    ),
    "a lost list is empty": _bug(
        f"{_CONDOR}/client.py",
        "return self._listed(command) or self._listed(command)",
        "return self._listed(command)",
    ),
    "a refused release counts as made": _bug(
        f"{_CONDOR}/client.py",
        "release_condition(queue), lambda job: job.held)",
        "release_condition(queue), lambda job: False)",
    ),
    "a job that a user holds is held again": _bug(
        f"{_CONDOR}/models.py", "return self.status == IDLE\n", "return True\n"
    ),
}
PLANTED = {**SLURM, **ELASTIC, **JOBS, **PBS, **HTCONDOR}
