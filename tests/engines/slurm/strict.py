"""A Slurm in memory that refuses what a real one refuses: its jobs go on by a step at each look at them."""

from tests.engines.slurm.said import free, job, jobs, node, nodes, over, running

CONFIG = "ClusterName = strict\nSlurmctldHost[0] = here\nSlurmctldPort = 7\nJobCompType = jobcomp/none\n"


class Strict:
    """Runs commands on jobs: ``submit`` gives a number its processors and for how many looks it runs.

    A job that is released runs from the next look on. What does not fit on the nodes waits, in the order of releases;
    a job with nodes of its own wish shares these. ``at`` calls a function at a look, by the number of the look.
    """

    def __init__(self, cpus=4):
        self.cpus, self.rows, self.left, self.wants = cpus, {}, {}, {}
        self.released, self.asked, self.looks, self.at = [], [], 0, {}

    def submit(self, number, procs=1, looks=1, **fields):
        self.rows[number] = job(number, cpus=procs, node_count=1, **fields)
        self.left[number] = looks

    def __call__(self, command, timeout):
        self.asked.append(tuple(command))
        match command:
            case ["squeue", "--json"]:
                self.step()
                return 0, jobs(*self.rows.values()), ""
            case ["sinfo", "--json"]:
                return 0, nodes(node("w1", cpus=self.cpus)), ""
            case ["scontrol", "show", "config"]:
                return 0, CONFIG, ""
            case ["scontrol", "show", "hostnames", names]:
                return 0, "".join(f"{each}\n" for each in names.split(",")), ""
            case ["scontrol", "release" | "uhold" | "requeuehold" as verb, listed]:
                said = [self.change(verb, int(word)) for word in listed.split(",")]
                bad = " ".join(filter(None, said))
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
        """Commands that change something, without their program."""
        return [each[1:] for each in self.asked if each[:2] != ("scontrol", "show") and each[0] == "scontrol"]
