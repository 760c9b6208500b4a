"""Small valid inputs, which cases corrupt."""

from __future__ import annotations

import json
from pathlib import Path

from tests.traces.test_log_formats import TEXTS

EXAMPLES = Path(__file__).parents[2] / "examples"

SWF = """\
; Version: 2.2
; UnixStartTime: 0
; MaxProcs: 4
1 0 0 10 1 -1 -1 1 20 -1 1 1 1 -1 -1 -1 -1 -1
2 5 -1 30 2 -1 -1 2 40 -1 1 2 1 -1 -1 -1 -1 -1
3 9 -1 7 4 -1 -1 4 -1 -1 1 3 1 -1 -1 -1 -1 -1
"""
CSV = "submit,run,procs,request,job\n0,10,1,20,1\n5,30,2,40,2\n9,7,4,,3\n"
#: Logs of rigid jobs, by format.
LOGS = {"swf": SWF, "csv": CSV, **TEXTS}
#: Other input files of trace readers, by the name of the reader.
TABLES = {
    "spot": json.dumps({"metadata": {"gap_seconds": 300}, "data": [1, 0, 3, 2]}),
    "llm": "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:15:46.6,374,44\n2023-11-16 18:15:50.9,396,109\n",
    "volatility": "value,starttime,VM_id\n1.5,2020-01-01 00:00:00,a\n1.7,2020-01-03 00:00:00,a\n"
    "1.1,2020-01-01 00:00:00,b\n1.9,2020-01-04 00:00:00.5,b\n",
    "wan": "src_region,src_tier,dst_region,dst_tier,throughput_bits_per_s\naws:a,PREMIUM,aws:b,PREMIUM,8e9\n"
    "aws:b,PREMIUM,aws:a,PREMIUM,4e9\n",
    "bins": "time,submit_gpu_job,start_gpu_job,submit_gpu_num,end_gpu_num\n"
    "2020-04-01 00:00:00,3,3,4,0\n2020-04-01 00:10:00,0,0,0,3\n",
    "series": "time,a,b\n2020-04-01 00:00:00,3,3\n2020-04-01 00:10:00,0,0.5\n2020-04-01 00:20:00,,1\n",
    "demands": "vc,arrival_s,gpus,duration_s,cores,memory\na,5,2,60,8,1e9\nb,0,1,30,4,2e9\n",
    "swim": "job0\t0\t0\t100\t200\t300\njob1\t5\t5\t0\t20\t30\n",
    "philly": "vc,arrival_s,gpus,duration_s\na,5,2,60\nb,0,1,30\n",
}
#: A small scenario of each world.
SCENARIOS = {
    "batch": {
        "workload": {"lublin": {"jobs": 20, "load": 0.8, "overestimate": 2.0}},
        "cluster": {"processors": 64},
        "policies": {"order": ["fcfs", "easy"]},
        "seeds": [1, 2],
    },
    "dispatch": {
        "world": "dispatch",
        "cluster": {
            "groups": [{"workers": 2, "speed": 0.5}, {"workers": 2, "speed": 2.0}],
            "shocks_every": 200,
            "failures": [{"worker": 1, "down": 5.0, "up": 9.0}],
        },
        "workload": {"tasks": 400, "load": 0.8},
        "policies": {"dispatch": "pot"},
        "schedulers": 2,
        "probe_delay": 0.1,
    },
    "cluster": {
        "world": "cluster",
        "seconds": 600,
        "sites": {
            "a": {"nodes": [{"count": 2, "cores": 4}], "keeps": {"tasks": 0.1}},
            "b": {"like": "a", "up": 1e8},
        },
        "loads": {
            "batch": {"rigid": {"lublin": {"jobs": 200, "load": 8.0}}},
            "web": {"tasks": {"tasks": 200, "load": 0.04}, "at": ["a"]},
        },
        "policies": {"order": "easy", "dispatch": "pot", "at": {"b": {"order": "fcfs"}}},
        "without": [[], ["order"]],
    },
    "admission": {
        "world": "admission",
        "cluster": {"nodes": 4, "cores": 2, "speed": 4.0, "bursts": {"every": 120, "last": 20, "ramp": 3}},
        "workload": {"tasks": 200, "load": 0.5},
        "telemetry": {"every": 1.0},
        "policies": {"dispatch": "pot", "admit": {"random": {"downtime": 0.05}}},
        "warm": 4,
    },
    "colocated": {
        "world": "colocated",
        "cluster": {"nodes": 4, "cores": 4, "outages": [{"node": 3, "down": 360, "up": 720, "left": 1}]},
        "workload": {"batch": {"lublin": {"jobs": 20}}, "tasks": {"tasks": 200, "load": 0.04}},
        "policies": {"order": "easy", "dispatch": "pot"},
    },
    "elastic": {
        "world": "elastic",
        "cluster": {
            "types": [{"name": "s", "cores": 16, "memory": 64e9, "price": 0.8, "launch": 300, "most": 20}]
        },
        "workload": {
            "drawn": {"days": 2, "per_hour": 3, "shapes": [{"cores": 1, "memory": 4e9, "weight": 8}]}
        },
        "policies": {"scale": {"static": {}}},
        "period": 300,
    },
    "video": {
        "world": "video",
        "cluster": {"cameras": 3, "camera_cores": 2, "private_cores": 8, "cloud_cores": 48},
        "workload": {"seconds": 360, "begin": 4, "per_hour": 6, "last": 180, "drawn": {"kinds": ["tracker"]}},
        "changes": [{"at": 90, "cluster": "private", "cores": 4}],
        "drops": {"every": 7200, "last": 120, "left": 0.3},
        "policies": {"plan": "fair"},
    },
    "fleet": {
        "world": "fleet",
        "cluster": {
            "sites": [
                {"name": "a", "slots": 4, "up": 5e9, "down": 5e9},
                {"name": "b", "slots": 1, "up": 1e9, "down": 1e9},
            ]
        },
        "workload": {
            "jobs": [
                {
                    "name": "logs",
                    "stages": [
                        {"task_s": 2, "task_bytes": 1e8, "ratio": 0.5, "input": {"a": 2, "b": 3}},
                        {"task_s": 1, "tasks": 5, "parents": [0]},
                    ],
                }
            ]
        },
        "policies": {"place": "in-place"},
        "look_every": 0,
    },
    "sharing": {
        "world": "sharing",
        "cluster": {"processors": 100, "memory_per_core": 4e9},
        "workload": {"lublin": {"jobs": 20}, "use": {"cpu": [1.0, 2.0], "classes": 3}},
        "policies": {"order": "easy", "share": "static"},
        "checkpoint": 300,
    },
}
TYPES = {
    "types": [
        {"name": "large", "cores": 8, "most": 4, "price": 1.0},
        {"name": "small", "cores": 4, "most": 9},
    ]
}
QUERIES = (EXAMPLES / "plan" / "queries.yaml").read_text(encoding="utf-8")
HIERARCHY = (EXAMPLES / "plan" / "hierarchy.yaml").read_text(encoding="utf-8")
PIPELINE = (EXAMPLES / "plan" / "pipeline.yaml").read_text(encoding="utf-8")
PLACED = (EXAMPLES / "fleet-job.yaml").read_text(encoding="utf-8")
#: Invalid bodies of decide(); each must be rejected.
DEEDS = (
    "raise ValueError('no')", "raise Exception", "sys.exit(0)", "os._exit(0)", "return None", "return 7", "return ()",
    "return Start('abc', why='x')", "return Start((10**30,), why='x')", "return Start((-1,), why='x')",
    "return Start((None,), why='x')", "return Start((1.5,), why='x')", "return Start((True, True), why='x')",
    "return Start(view.waiting.job, why='x')", "return Start([[1]], why='x')", "self.decide(view)",
    "raise MemoryError", "raise OSError(28, 'No space')", "raise BrokenPipeError", "raise StopIteration",
    "raise GeneratorExit", "view.waiting.job[:] = 0", "del view.waiting", "return Start()", "1 / 0", "raise SystemExit",
    "raise type('Odd', (BaseException,), {})('\\x1b[31m')", "import no_such_module", "assert False", "view.free = 9",
    "return type(view)", "return Start((), why=7, notes='x')", "return lambda: 1", "return Start((1,)) if 0 else ...",
)  # fmt: skip
POLICY = """
import os, sys
from windlass.order.site.view import Start


class Mine:
    name = "mine"

    def decide(self, view):
        print("talk")
        DEED
        return Start()
"""
GOOD = """
from windlass.order.site.view import SiteView, Start


class Mine:
    name = "mine"

    def decide(self, view: SiteView) -> Start:
        chosen, free = [], view.free
        for position in view.waiting.procs.argsort(kind="stable"):
            if view.waiting.procs[position] <= free:
                free -= view.waiting.procs[position]
                chosen.append(int(view.waiting.job[position]))
        return Start(tuple(chosen), why="narrowest that fits")
"""
JOURNAL = (
    '{"what": "releasing", "at": 5.0, "job": 7, "submit": 1.0, "restarts": 0}\n'
    '{"what": "began", "at": 6.0, "job": 7}\n{"what": "over", "at": 9.0, "job": 7, "how": "ended"}\n'
)
STATE = json.dumps(
    {"version": 1, "policy": "pairs", "pairs": [[7, 8, 30]], "learned": "", "uses": [["a", 5.0, 3.0]]}
)
_WINDLASS = Path(__file__).parents[2] / "src" / "windlass"
TREES = next((_WINDLASS / "share").rglob("*.yaml")).read_text(encoding="utf-8")
MODEL = next((_WINDLASS / "sim" / "telemetry").rglob("*.json")).read_text(encoding="utf-8")
COMPLETED = (
    "JobId=7 UserId=ann(1000) GroupId=ann(1000) Name=a JobState=COMPLETED Partition=batch TimeLimit=10 "
    "StartTime=2024-05-01T12:00:05 EndTime=2024-05-01T12:01:05 NodeList=n1 NodeCnt=1 ProcCnt=4 WorkDir=/ "
    "ReservationName= Tres=cpu=4 Account= QOS= WcKey= Cluster=c SubmitTime=2024-05-01T12:00:00 "
    "EligibleTime=2024-05-01T12:00:00 DerivedExitCode=0:0 ExitCode=0:0\n"
)
ACCOUNTED = "7|1714564800|1714564805|1714564865|4|10|ann|batch|COMPLETED|a|b\n"
#: Six hours of a series.
SERIES = "time,a\n" + "".join(
    f"2020-04-01 {h:02d}:{m:02d}:00,{h + m}\n" for h in range(6) for m in range(0, 60, 10)
)
CLUSTER = json.dumps(
    {
        "folder": "/x",
        "nodes": 2,
        "cpus": 4,
        "daemons": [{"name": "slurmd", "pid": 1, "began": 1, "boot": "b"}],
    }
)
