"""A Slurm in memory that rejects what a real one rejects: jobs advance by a step at each poll."""

from tests.engines.slurm.fake_commands import free, job, jobs, node, nodes, over, running

CONFIG = "ClusterName = strict\nSlurmctldHost[0] = here\nSlurmctldPort = 7\nJobCompType = jobcomp/none\n"


class Strict:
    """A runner of commands on jobs: ``submit`` sets a job's processors and the number of polls that it runs.

    A released job runs from the next poll on. Jobs that do not fit wait in the order of releases;
    a job with requested nodes shares these. ``at`` maps the number of a poll to a function to call.
    """

    def __init__(self, cpus=4):
        self.cpus, self.rows, self.left, self.wants = cpus, {}, {}, {}
        self.released, self.recorded, self.looks, self.at = [], [], 0, {}

    def submit(self, number, procs=1, looks=1, **fields):
        self.rows[number] = job(number, cpus=procs, node_count=1, **fields)
        self.left[number] = looks

    def __call__(self, command, timeout):
        self.recorded.append(tuple(command))
        match command:
            case ["squeue", "--json", *_]:
                self.step()
                return 0, jobs(*self.rows.values()), ""
            case ["sinfo", "--json"]:
                return 0, nodes(node("w1", cpus=self.cpus)), ""
            case ["scontrol", "show", "config"]:
                return 0, CONFIG, ""
            case ["scontrol", "show", "hostnames", names]:
                return 0, "".join(f"{each}\n" for each in names.split(",")), ""
            case ["scontrol", "release" | "uhold" | "requeuehold" as verb, listed]:
                fake = [self.change(verb, int(word)) for word in listed.split(",")]
                bad = " ".join(filter(None, fake))
                return (1, "", bad) if bad else (0, "", "")
            case ["scontrol", "update", named, *settings]:
                return self.update(int(named.removeprefix("JobId=")), settings)
        raise AssertionError(f"no command of Slurm's: {command}")

    def change(self, verb, number):
        row = self.rows.get(number)
        if row is None:
            return f"Invalid job id specified for job {number}"
        waits = row["job_state"] == "PENDING"
        if verb == "requeuehold":
            if row["job_state"] != "RUNNING" or not row["requeue"]:
                return f"Requested operation is presently disabled for job {number}"
            back = {"restart_cnt": row["restart_cnt"] + 1, "submit_time": row["submit_time"] + 5}
            self.rows[number] = job(number, **(self.kept(row) | back))
            return ""
        if not waits:
            return f"Job is no longer pending execution for job {number}"
        if verb == "release":
            if row["state_reason"] == "JobHeldAdmin":
                return f"Access/permission denied for job {number}"
            self.rows[number] = free(number, **self.kept(row))
            self.released.append(number)
        else:
            self.rows[number] = job(number, **self.kept(row))
        return ""

    def update(self, number, settings):
        row = self.rows.get(number)
        if row is None or row["job_state"] not in ("PENDING", "RUNNING"):
            return 1, "", "Job has already finished"
        for setting in settings:
            name, _, value = setting.partition("=")
            if name == "TimeLimit":
                row["time_limit"] = None if value == "UNLIMITED" else int(value)
            elif row["job_state"] != "PENDING":
                return 1, "", "Requested operation not permitted on running job"
            else:
                self.wants[number] = value
        return 0, "", ""

    @staticmethod
    def kept(row):
        names = (
            "cpus",
            "node_count",
            "comment",
            "time_limit",
            "submit_time",
            "restart_cnt",
            "requeue",
            "name",
            "user_name",
            "account",
            "qos",
        )
        return {name: row[name] for name in names}

    def step(self):
        self.looks += 1
        self.at.pop(self.looks, lambda: None)()
        for number, row in self.rows.items():
            if row["job_state"] == "RUNNING":
                self.left[number] -= 1
                if self.left[number] < 0:
                    self.rows[number] = over(number, **self.kept(row))
        for number in list(self.released):
            row = self.rows[number]
            used = sum(
                each["cpus"]
                for other, each in self.rows.items()
                if each["job_state"] == "RUNNING" and not self.wants.get(other)
            )
            waits = row["job_state"] == "PENDING" and row["priority"] > 0
            if not waits or self.wants.get(number) or used + row["cpus"] <= self.cpus:
                self.released.remove(number)
                if waits:
                    self.rows[number] = running(number, **self.kept(row))

    def states(self):
        return {
            number: "held" if row["job_state"] == "PENDING" and row["priority"] == 0 else row["job_state"]
            for number, row in self.rows.items()
        }

    def changes(self):
        """Return the writing commands, without their program."""
        return [
            each[1:] for each in self.recorded if each[:2] != ("scontrol", "show") and each[0] == "scontrol"
        ]
