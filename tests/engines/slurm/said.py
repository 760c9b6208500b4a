"""What Slurm says, as small as Windlass reads it; and a Slurm that says so and remembers what it is told."""

import json
import subprocess


def job(number, state="PENDING", **fields):
    """A job's row as ``squeue --json`` has it: by default one that waits, held, and is left to Windlass."""
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
        "user_name": "ann",
        "partition": "share",
        "priority": 0,
        "restart_cnt": 0,
        "requeue": True,
        "array_task_string": "",
        "het_job_id": 0,
        "suspend_time": 0,
        "pre_sus_time": 0,
    } | fields


def free(number, **fields):
    """One that waits, and was let go."""
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


#: What ``squeue --json`` says, with status 0, when the controller is away.
NOBODY_THERE = jobs(errors=[{"description": "Failed while looking for jobs", "error": "Unspecified error"}])


class Said:
    """Runs no command: answers by the command's first words, and keeps what it was asked.

    An answer is text, a (status, output, complaint), an exception, or a function of the command; a list is answered
    one after the other, and its last for ever.
    """

    def __init__(self, **answers):
        self.answers = {key.replace("_", " "): answer for key, answer in answers.items()}
        self.asked = []

    def __call__(self, command, timeout):
        self.asked.append(tuple(command))
        key = max((key for key in self.answers if " ".join(command).startswith(key)), key=len)
        answer = self.answers[key]
        if isinstance(answer, list):
            answer = answer.pop(0) if len(answer) > 1 else answer[0]
        if callable(answer):
            answer = answer(command)
        if isinstance(answer, Exception):
            raise answer
        return answer if isinstance(answer, tuple) else (0, answer, "")

    def told(self, word):
        """Commands that have this word, without its program."""
        return [command[1:] for command in self.asked if word in command]


TOO_LONG = subprocess.TimeoutExpired("squeue", 1)
