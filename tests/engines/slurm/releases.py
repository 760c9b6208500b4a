"""Rows of Slurm 22.05 respelled as other releases spell them, so that every test of the driver can run on any shape.

Written by hand from the parsers of each release; no recorded output is used.
"""

import json

RELEASES = (
    "21.08.8",
    "22.05.9",
    "23.02.8",
    "23.11.10",
    "24.05.5",
    "24.11.6",
    "25.05.4",
    "25.11.4",
    "26.05.4",
)
#: Fields of a job that are objects with flags from 23.02 on, and those that are so only from 23.11 on.
_FLAGGED = (
    "array_job_id",
    "array_task_id",
    "cpus",
    "node_count",
    "memory_per_node",
    "memory_per_cpu",
    "priority",
)
_FLAGGED += ("time_limit", "het_job_id", "het_job_offset")
_LATER = ("submit_time", "start_time", "end_time", "suspend_time", "pre_sus_time")


def flagged(value, unlimited=False):
    """Return a number with the flags of newer releases; None is unset, or unlimited."""
    if value is None:
        return {"set": False, "infinite": unlimited, "number": 0}
    return {"set": True, "infinite": False, "number": value}


def before(release, other):
    """Return whether a release is older than another, as in ``before("22.05.9", "23.02")``."""
    return release[:5] < other


def meta(release, command="squeue"):
    """Return the description of the release that comes with each output."""
    major, minor, micro = release.split(".")
    if before(release, "23.02"):
        plugin = {"type": "openapi/v0.0.38", "name": "Slurm OpenAPI v0.0.38"}
        version = {"major": int(major), "micro": int(micro), "minor": int(minor)}
        return {"plugin": plugin, "Slurm": {"version": version, "release": release}}
    key = "Slurm" if before(release, "23.11") else "slurm"
    return {
        "plugin": {"type": "", "name": "", "data_parser": "data_parser/v0.0.40"},
        "client": {"source": "", "user": "ann", "group": "staff"},
        "command": [command],
        key: {"version": {"major": major, "micro": micro, "minor": minor}, "release": release},
    }


def job_of(release, row):
    """Return a row of a job as a release spells it."""
    row = dict(row)
    if before(release, "23.02"):
        return {"account": "", "shared": None, **row}
    for name in _FLAGGED + (() if before(release, "23.11") else _LATER):
        if name in row:
            row[name] = flagged(row[name], unlimited=name == "time_limit")
    row["hold"] = row["priority"].get("number") == 0
    if not before(release, "23.11"):
        state = row["job_state"]
        row["job_state"] = ["RUNNING", "COMPLETING"] if state == "COMPLETING" else [state]
    row["shared"] = ["none"] if row.get("shared") == "none" else []
    row["job_resources"] = resources(release, row)
    row["exit_code"] = {"status": ["SUCCESS"], "return_code": flagged(0), "signal": {"id": flagged(None)}}
    row["licenses"], row["gres_detail"] = "", ["a,b", '{"account": 7}', '}],"jobs":[{']
    # Newer releases begin each job with its account and spell times of no interest here as objects.
    return {"account": "", "accrue_time": flagged(5), **row}


def resources(release, row):
    """Return the allocation of a job; without one it is empty, or null since 24.11."""
    if not row["nodes"]:
        return {} if before(release, "24.11") else None
    if before(release, "24.05"):
        return {"nodes": row["nodes"], "allocated_cores": 1, "allocated_cpus": 0, "allocated_nodes": []}
    cores = [{"index": number, "status": ["ALLOCATED"]} for number in range(2)]
    allocation = {"index": 0, "name": row["nodes"], "sockets": [{"index": 0, "cores": cores}]}
    # Slurm counts what was requested here, and not what is held.
    return {
        "select_type": ["CORE"],
        "cpus": 1,
        "nodes": {"count": 1, "whole": False, "allocation": [allocation]},
    }


def queue_of(release, rows, errors=(), indent=None):
    """Return the output of ``squeue --json`` of a release with these rows of 22.05."""
    jobs = [job_of(release, row) for row in rows]
    about = {"meta": meta(release), "errors": list(errors)}
    if before(release, "23.02"):
        tree = {**about, "jobs": jobs}
    elif before(release, "23.11"):
        tree = {"meta": about["meta"], "jobs": jobs, "warnings": [], "errors": list(errors)}
    else:
        times = {"last_backfill": flagged(1000), "last_update": flagged(1000)}
        tree = {"jobs": jobs, **times, **about, "warnings": []}
    return json.dumps(tree, indent=indent)


def node_of(release, row):
    """Return a row of a node as ``scontrol show nodes --json`` of a release spells it."""
    if before(release, "23.02"):
        return dict(row)
    state = [row["state"].upper(), *row["state_flags"]]
    known = {name: value for name, value in row.items() if name != "state_flags"}
    boot = 5 if before(release, "23.11") else flagged(5)
    return {
        "architecture": "x86_64",
        **known,
        "state": state,
        "effective_cpus": row["cpus"],
        "boot_time": boot,
    }


def nodes_of(release, rows):
    """Return nodes as ``sinfo --json`` of a release up to 22.05, or ``scontrol show nodes --json``, lists them."""
    return json.dumps({"nodes": [node_of(release, row) for row in rows], "meta": meta(release), "errors": []})


def groups_of(release, rows):
    """Return the output of ``sinfo --json`` since 23.02: here, a row per node and partition."""
    found = []
    for row in rows:
        state = [row["state"].upper(), *row["state_flags"]]
        for partition in row["partitions"]:
            names = {
                "allocated": 0,
                "idle": 1,
                "other": 0,
                "total": 1,
                "hostnames": [],
                "nodes": [row["name"]],
            }
            cpus = {"idle": row["cpus"], "total": row["cpus"], "minimum": row["cpus"], "maximum": row["cpus"]}
            memory = {"minimum": row.get("real_memory", 0), "maximum": row.get("real_memory", 0)}
            about = {"name": partition, "nodes": {"total": 1}, "partition": {"state": ["UP"]}}
            found.append(
                {"node": {"state": state}, "nodes": names, "cpus": cpus, "memory": memory, "partition": about}
            )
    return json.dumps({"sinfo": found, "meta": meta(release, "sinfo"), "errors": [], "warnings": []})


class AsRelease:
    """A fake Slurm of 22.05 that answers in the spelling of another release."""

    def __init__(self, release, slurm):
        self.release, self.slurm = release, slurm

    def __getattr__(self, name):
        return getattr(self.slurm, name)

    def __call__(self, command, timeout):
        match command:
            case ["squeue", "--json", *_]:
                status, out, errors = self.slurm(command, timeout)
                return status, queue_of(self.release, json.loads(out)["jobs"]), errors
            case ["sinfo", "--json"]:
                status, out, errors = self.slurm(command, timeout)
                spelled = nodes_of if before(self.release, "23.02") else groups_of
                return status, spelled(self.release, json.loads(out)["nodes"]), errors
            case ["scontrol", "show", "nodes", "--json", "--all"] if not before(self.release, "23.02"):
                status, out, errors = self.slurm(["sinfo", "--json"], timeout)
                return status, nodes_of(self.release, json.loads(out)["nodes"]), errors
        return self.slurm(command, timeout)
