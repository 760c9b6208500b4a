"""Minimal outputs of Slurm's commands, and a fake Slurm that returns them and records commands."""

import json
import subprocess

from windlass.engines.batch.system import JobOwner

#: The owner of each job, by default.
ANN = JobOwner("ann", "staff", "normal")


def job(number, state="PENDING", **fields):
    """Return a job's row of ``squeue --json``: by default a waiting, held job that is left to Windlass."""
    return {
        "job_id": number,
        "job_state": state,
        "state_reason": "JobHeldUser",
        "submit_time": 1000,
        "start_time": 0,
        "end_time": 0,
        "time_limit": 2,
        "cpus": 3,
        "node_count": 2,
        "nodes": "",
        "memory_per_node": None,
        "memory_per_cpu": None,
        "name": "wrap",
        "comment": "windlass",
        "user_name": ANN.user,
        "account": ANN.account,
        "qos": ANN.queue,
        "partition": "share",
        "priority": 0,
        "restart_cnt": 0,
        "requeue": True,
        "array_job_id": 0,
        "array_task_string": "",
        "het_job_id": 0,
        "suspend_time": 0,
        "pre_sus_time": 0,
    } | fields


def free(number, **fields):
    """Return the row of a waiting, released job."""
    return job(number, **({"priority": 5, "state_reason": "Resources"} | fields))


def running(number, **fields):
    return job(number, "RUNNING", **({"priority": 5, "start_time": 1010, "nodes": "w1"} | fields))


def over(number, state="COMPLETED", **fields):
    times = {"priority": 5, "start_time": 1010, "end_time": 1020, "nodes": "w1"}
    return job(number, state, **(times | fields))


def jobs(*rows, errors=()):
    return json.dumps({"meta": {}, "errors": list(errors), "jobs": list(rows)})


def node(name, state="idle", flags=(), cpus=2, partitions=("share",)):
    return {
        "name": name,
        "state": state,
        "state_flags": list(flags),
        "cpus": cpus,
        "partitions": list(partitions),
    }


def nodes(*rows, errors=()):
    return json.dumps({"errors": list(errors), "nodes": list(rows)})


#: Output of ``squeue --json``, with status 0, when the controller is unreachable.
NOBODY_THERE = jobs(errors=[{"description": "Failed while looking for jobs", "error": "Unspecified error"}])


class FakeCommands:
    """A runner that answers by the command's first words, and records commands.

    An answer is text, a (status, stdout, stderr), an exception, or a function of the command; a list is answered
    in order, and its last entry repeatedly.
    """

    def __init__(self, **answers):
        self.answers = {key.replace("_", " "): answer for key, answer in answers.items()}
        self.recorded = []

    def __call__(self, command, timeout):
        self.recorded.append(tuple(command))
        key = max((key for key in self.answers if " ".join(command).startswith(key)), key=len)
        answer = self.answers[key]
        if isinstance(answer, list):
            answer = answer.pop(0) if len(answer) > 1 else answer[0]
        if callable(answer):
            answer = answer(command)
        if isinstance(answer, Exception):
            raise answer
        return answer if isinstance(answer, tuple) else (0, answer, "")

    def commands_with(self, word):
        """Return the recorded commands with this word, without their program."""
        return [command[1:] for command in self.recorded if word in command]


TOO_LONG = subprocess.TimeoutExpired("squeue", 1)
