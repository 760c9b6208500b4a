"""Small files of clusters, regions, machines and requests in which every column, unit and default shows."""

import json

import numpy as np
import polars as pl
import pytest

from tests.traces.test_readers_plain import assert_rejected, written
from windlass.io.traces.bins import Bins, read_bins
from windlass.io.traces.demands import read_demands
from windlass.io.traces.helios import read_helios
from windlass.io.traces.interference import read_interference
from windlass.io.traces.llm import Requests, read_llm
from windlass.io.traces.openb import read_openb_nodes, read_openb_pods
from windlass.io.traces.philly import read_philly
from windlass.io.traces.spot import read_spot
from windlass.io.traces.swim import read_swim
from windlass.io.traces.telemetry import Telemetry, read_bitbrains, read_recorded, read_smd, read_telemetry
from windlass.io.traces.volatility import read_volatility
from windlass.io.traces.wan import read_wan


def test_helios_counts_are_read(tmp_path):
    rows = [(3, 4, 1), (5, 0, 6), (2, 7, 1)]
    lines = [f"2020-04-01 00:{10 * at:02}:00,{s},{b},{e}" for at, (s, b, e) in enumerate(rows)]
    text = "time,submit_gpu_num,start_gpu_num,end_gpu_num\n" + "\n".join(lines) + "\n"
    found = read_helios(written(tmp_path, text))
    assert found.columns == ("gpus_in_use", "gpus_submitted")
    assert found.rows.tolist() == [[6.0, 3.0], [0.0, 5.0], [6.0, 2.0]]
    assert found.period == 600.0
    busy = text.replace("00,5,0,6", "00,5,0,2")
    assert read_helios(written(tmp_path, busy)).rows[:, 0].tolist() == [3.0, 1.0, 7.0]


def test_openb_pods_and_nodes_are_read(tmp_path):
    head = "cpu_milli,memory_mib,num_gpu,gpu_milli,qos,creation_time,deletion_time,scheduled_time\n"
    found = read_openb_pods(written(tmp_path, head + "1500,2,4,250,LS,9,30,11\n500,1,0,0,,4,4,\n"))
    assert found.resources.tolist() == [[0.0, 0.5, 2.0**20], [1.0, 1.5, 2.0 * 2**20]]
    assert (found.created.tolist(), found.deleted.tolist()) == ([4.0, 9.0], [4.0, 30.0])
    np.testing.assert_equal(found.scheduled, [np.nan, 11.0])
    assert (found.service.tolist(), len(found)) == (["", "LS"], 2)
    nodes = read_openb_nodes(written(tmp_path, "cpu_milli,memory_mib,gpu,model\n3000,4,2,G1\n1000,0,0,\n"))
    assert nodes.resources.tolist() == [[2.0, 3.0, 4.0 * 2**20], [0.0, 1.0, 0.0]]
    assert (nodes.model.tolist(), len(nodes)) == (["G1", ""], 2)
    assert_rejected(
        lambda: read_openb_nodes(written(tmp_path, "cpu_milli,gpu\n")), "column memory_mib is missing"
    )
    assert_rejected(
        lambda: read_openb_nodes(written(tmp_path, "cpu_milli,memory_mib,gpu,model\n")), "no lines below"
    )
    assert_rejected(lambda: read_openb_nodes(written(tmp_path, "cpu_milli,memory_mib,gpu,model\n1,-1,1,\n")),
            "line 2: memory_mib is '-1', expected a number of 0 or more")  # fmt: skip
    assert_rejected(
        lambda: read_openb_pods(written(tmp_path, head + "1,1,0,0,,4,4,x\n")), "scheduled_time is 'x'"
    )
    assert_rejected(lambda: read_openb_pods(written(tmp_path, head + "1,1,0,0,,4,4,\n1,1,0,0,,7,3,\n1,1,0,0,,8,9,\n")),
            "line 3: deletion_time is 3, expected at least 7, its creation_time")  # fmt: skip


def test_philly_jobs_are_read(tmp_path):
    text = "vc,arrival_s,gpus,duration_s\nb,60,8,1200\n,0,1,0.5\n"
    found = read_philly(written(tmp_path, text))
    assert (found.cluster.tolist(), found.arrival.tolist()) == (["", "b"], [0.0, 60.0])
    assert (found.gpus.tolist(), found.duration.tolist(), len(found)) == ([1.0, 8.0], [0.5, 1200.0], 2)
    assert_rejected(
        lambda: read_philly(written(tmp_path, text.replace("1200", "0"))),
        "duration_s is '0'",
    )
    assert_rejected(lambda: read_philly(written(tmp_path, text.replace("60", "-1"))), "arrival_s is '-1'")


def test_demand_tables_are_read(tmp_path):
    names = {
        "submit": ("submit", "submit_s", "arrival", "arrival_s"),
        "run": ("run", "run_s", "duration", "duration_s"),
        "cores": ("cores", "cpus"),
        "walltime": ("walltime", "walltime_s", "request"),
        "job": ("job", "job_id", "id"),
    }
    usual = {"submit": 5, "run": 6, "gpus": 2, "cores": 3, "memory": 4, "walltime": 9, "job": 7}
    for role, aliases in names.items():
        for alias in aliases:
            cells = {alias if name == role else name: value for name, value in usual.items()}
            text = ",".join(cells) + "\n" + ",".join(map(str, cells.values())) + "\n"
            found = read_demands(written(tmp_path, text)).jobs
            assert found.resources.tolist() == [[2.0, 3.0, 4.0]]
            columns = (found.submit, found.run, found.walltime, found.job)
            assert [each.tolist() for each in columns] == [[5.0], [6.0], [9.0], [7]], alias
    path = written(tmp_path, "submit,run,gpus\n5,1,2\n0,2,1\n")
    found = read_demands(path, cores_per_gpu=8.0, memory_per_gpu=3.0).jobs
    assert found.resources.tolist() == [[1.0, 8.0, 3.0], [2.0, 16.0, 6.0]]
    assert (found.job.tolist(), found.walltime.tolist()) == ([2, 1], [np.inf, np.inf])
    assert read_demands(path).jobs.resources.tolist() == [[1.0, 0.0, 0.0], [2.0, 0.0, 0.0]]
    message = read_demands(written(tmp_path, "submit,run,gpus,cores\n5,1,2,3\n"), cores_per_gpu=8.0).jobs
    assert message.resources.tolist() == [[2.0, 3.0, 0.0]]
    head = "cpu_milli,memory_mib,num_gpu,gpu_milli,creation_time,deletion_time,scheduled_time\n"
    late = read_demands(written(tmp_path, head + "1000,1,2,1000,5,9,7\n1,1,1,1,2,3, \n1,1,1,1,2,3,4\n"))
    assert late.jobs.run.tolist() == [0.0, 2.0]
    assert late.jobs.job.tolist() == [3, 1]
    assert late.notes == ("1 pods were never scheduled, and are left out",)
    bad = head + "1,1,1,1,2,3,\n1,1,1,1,2,x,4\n"
    assert_rejected(lambda: read_demands(written(tmp_path, bad)), "line 3: deletion_time is 'x'")


def test_counts_by_time_are_read(tmp_path):
    head = "time,submit_gpu_job,start_gpu_job,submit_gpu_num,end_gpu_num,other\n"
    found = read_bins(
        written(tmp_path, head + "2020-04-01 00:00:00,1,2,3,4,x\n2020-04-01 00:20:00,0,0,0,0,x\n")
    )
    assert found.seconds == 1200.0
    columns = (found.submitted, found.started, found.requested, found.ended)
    assert [each.tolist() for each in columns] == [[1, 0], [2, 0], [3, 0], [4, 0]]
    one, two = np.ones(1, np.int64), np.ones(2, np.int64)
    assert Bins(1.0, one, one, one, one).seconds == 1.0
    assert_rejected(lambda: Bins(1.0, two, one, one, one), "columns of one length")
    assert_rejected(lambda: Bins(0.0, one, one, one, one), "bins of more than 0 s")
    assert_rejected(lambda: Bins(1.0, 0 * one, one, one, one), "bin 0 has 0 jobs that request 1 GPUs")
    assert_rejected(lambda: Bins(1.0, 2 * one, one, one, one), "bin 0 has 2 jobs that request 1 GPUs")
    rows = head + "2020-04-01 00:20:00,1,1,1,1,x\n2020-04-01 00:00:00,1,1,1,1,x\n"
    assert_rejected(lambda: read_bins(written(tmp_path, rows)), "line 3: -1200 s after the bin before")
    assert_rejected(lambda: read_bins(written(tmp_path, "time\n")), "column submit_gpu_job is missing")


def test_spot_capacity_is_read(tmp_path):
    def spot(gap, data=(1, 0, 7)):
        text = json.dumps({"metadata": {"gap_seconds": gap}, "data": data})
        return read_spot(written(tmp_path, text, "s.json"))

    assert (spot(2.5).gap, spot(2.5).number.tolist(), spot(2.5).seconds()) == (2.5, [1, 0, 7], 7.5)
    assert spot(1, [2**31 - 1]).number.tolist() == [2**31 - 1]
    for bad in (0, -1, 1e9, True, "5", None):
        assert_rejected(lambda bad=bad: spot(bad), f"metadata.gap_seconds is {bad!r}")
    for bad in (2**31, -1, 1.5, False, "1"):
        assert_rejected(lambda bad=bad: spot(5, [1, bad]), f"data[1] is {bad!r}, expected a whole number")
    assert_rejected(lambda: spot(5, {"a": 1}), "data is dict, expected a list of numbers")
    assert_rejected(lambda: read_spot(written(tmp_path, "[" * 100_000, "s.json")), "nested too deeply")
    assert_rejected(lambda: read_spot(written(tmp_path, "1" * 5000, "s.json")), "not JSON")


def test_regions_are_read(tmp_path):
    head = "src_region,src_tier,dst_region,dst_tier,throughput_bits_per_s\n"
    lines = (
        "aws:a,PREMIUM,gcp:us-west1-b,PREMIUM,8e9\n"
        "gcp:us-west1-b,PREMIUM,aws:a,PREMIUM,4e9\n"
        "aws:a,STANDARD,gcp:us-west1-b,PREMIUM,1\n"
        "aws:a,PREMIUM,gcp:us-west1-b,STANDARD,1\n"
        "aws:a,PREMIUM,aws:a,PREMIUM,5\n"
        "aws:x,PREMIUM,aws:a,PREMIUM,5\n"
        "aws:y,PREMIUM,aws:a,PREMIUM,unknown\n"
    )
    path = written(tmp_path, head + lines)
    prices = written(
        tmp_path, "src,dest,cost\naws:a,gcp:us-west1,2\ngcp:us-west1-a,aws:a,3\nx,aws:a,bad\n", "p.csv"
    )
    found = read_wan(path, ["gcp:us-west1", " aws:a"], prices)
    assert found.regions == ("gcp:us-west1", "aws:a")
    assert found.throughput.tolist() == [[0.0, 5e8], [1e9, 0.0]]
    assert found.price.tolist() == [[0.0, 3e-9], [2e-9, 0.0]]
    assert (read_wan(path, ["aws:a", "gcp:us-west1-c"]).price == 0.0).all()
    assert_rejected(lambda: read_wan(path, ["aws:a"]), "expected at least two different regions")
    assert_rejected(lambda: read_wan(path, ["aws:a", "aws:a"]), "expected at least two different regions")
    assert_rejected(lambda: read_wan(path, ["aws:a", "aws:b"]), "no region 'aws:b'; did you mean")
    assert_rejected(lambda: read_wan(path, ["aws:a", "qqqqqqqqqqqq"]), "no region 'qqqqqqqqqqqq'")
    assert_rejected(lambda: read_wan(path, ["aws:a", "aws:x"]), "no measurement from aws:a to aws:x")
    one = written(tmp_path, head + lines.splitlines()[0] + "\n", "one.csv")
    assert_rejected(
        lambda: read_wan(one, ["aws:a", "gcp:us-west1"]), "no measurement from gcp:us-west1 to aws:a"
    )
    plain = "src_region,dst_region,throughput_bits_per_s\na,b,8\nb,a,16\n"
    assert read_wan(written(tmp_path, plain), ["a", "b"]).throughput.tolist() == [[0.0, 1.0], [2.0, 0.0]]
    for text, message in (
        (plain.replace("16", "-1"), "line 3: throughput_bits_per_s is '-1', expected a number of 0 or more"),
        (plain.replace("16", "inf"), "line 3: throughput_bits_per_s is 'inf'"),
        (plain.replace(",16", ""), "line 3: throughput_bits_per_s is missing, expected all columns"),
        (plain.replace("dst", "to"), "no column 'dst_region' in the first line"),
        (plain.encode() + b"\xff", "not UTF-8 text"),
    ):
        bad = written(tmp_path, text, "bad.csv")
        assert_rejected(lambda bad=bad: read_wan(bad, ["a", "b"]), message)
    assert_rejected(lambda: read_wan(tmp_path / "none.csv", ["a", "b"]), "cannot be read")
    # A field in quotes may hold a line end, which counts as a line of the file.
    quoted = written(tmp_path, 'src_region,dst_region,throughput_bits_per_s,n\na,b,8,"x\r\ny"\nb,a,-1,z\n')
    assert_rejected(lambda: read_wan(quoted, ["a", "b"]), "line 4: throughput_bits_per_s is '-1'")


def test_hadoop_jobs_are_read(tmp_path):
    text = "j1\t5\t5\t10\t20\t30\r\n\nj2\t7.5\t2.5\t0\t1\t2\n"
    found = read_swim(written(tmp_path, text, "log.tsv"))
    assert found.records.rows() == [("j1", 5.0, 5.0, 10.0, 20.0, 30.0), ("j2", 7.5, 2.5, 0.0, 1.0, 2.0)]
    assert found.records.columns == ["job", "submit", "gap", "map_input", "shuffle", "output"]
    assert (found.name, found.notes) == ("log", ())
    bad = written(
        tmp_path, text + "j3\t1\nj4\t1\t1\t-1\t0\t0\nj5\tx\t1\t1\t0\t0\nj6\tinf\t1\t1\t0\t0\n", "b.tsv"
    )
    assert_rejected(lambda: read_swim(bad), "b.tsv, line 4: 2 fields, expected 6 separated by tabs")
    some = read_swim(bad, skip_bad_lines=True)
    assert [(each.line, each.reason) for each in some.bad_lines] == [
        (4, "2 fields, expected 6 separated by tabs"),
        (5, "map_input '-1' is not a number of 0 or more"),
        (6, "submit 'x' is not a number of 0 or more"),
        (7, "submit 'inf' is not a number of 0 or more"),
    ]
    assert (len(some.records), some.notes) == (2, ("4 bad lines are left out: lines 4, 5, 6, 7",))
    assert_rejected(
        lambda: read_swim(written(tmp_path, "a\n", "c.tsv"), skip_bad_lines=True), "c.tsv: no jobs"
    )


def test_model_requests_are_read(tmp_path):
    head = "TIMESTAMP,ContextTokens,GeneratedTokens\n"
    found = read_llm(written(tmp_path, head + "2023-11-16 18:00:01.5,3,1\n2023-11-16 18:00:00.25,0,4\n"))
    assert found.arrival.tolist() == [0.0, 1.25]
    assert (found.context.tolist(), found.generated.tolist()) == ([0.0, 3.0], [4.0, 1.0])
    # The published times have seven digits behind the point: requests come in the order of all of them.
    times = [f"2023-11-16 18:00:00.000000{9 - row},{9 - row},1\n" for row in range(9)]
    assert read_llm(written(tmp_path, head + "".join(times))).context.tolist() == list(range(1, 10))
    two = Requests(np.zeros(2), np.array([0.0, 3.0]), np.array([4.0, 1.0]))
    assert two.work().tolist() == pytest.approx([80 / 51.5, 23 / 51.5])
    assert two.work(2.0).tolist() == pytest.approx([8 / 6.5, 5 / 6.5])
    assert_rejected(
        lambda: read_llm(written(tmp_path, head + "2023-11-16 18:00:01,1,inf\n")), "GeneratedTokens is 'inf'"
    )


def test_machine_scores_are_read(tmp_path):
    rows = [(3.0, 0, 0), (5.0, 4, 0), (7.0, 8, 0), (1.0, 2, 1), (2.0, 6, 1), (9.0, 7, 1)]
    lines = [f"{value},2023-09-01 {hour:02}:00:00,{machine}" for value, hour, machine in rows]
    path = written(tmp_path, "value,starttime,VM_id\n" + "\n".join(lines) + "\n")
    # Both were measured from 2 to 7 o'clock: at 2, 4.5 and 7.
    assert read_volatility(path, 3).tolist() == [[3.0, 5.0, 5.0], [1.0, 1.0, 9.0]]
    assert read_volatility(path, 2).tolist() == [[3.0, 5.0], [1.0, 9.0]]
    assert_rejected(lambda: read_volatility(path, 1), "points is 1, expected at least 2")
    for bad in ("0", "inf", "nan", ""):
        text = f"value,starttime,VM_id\n{bad},2023-09-01 00:00:00,1\n"
        assert_rejected(lambda text=text: read_volatility(written(tmp_path, text), 2), "line 2: value is")


def test_machine_telemetry_is_read(tmp_path):
    both = Telemetry("here", np.array([0.0, 5.0, 7.0]), ("a", "b"), np.arange(6.0).reshape(3, 2))
    assert (len(both), both.step, both.of("b").tolist()) == (3, 3.5, [1.0, 3.0, 5.0])
    part = both.rows(slice(1, 3))
    assert (part.time.tolist(), part.values.tolist()) == ([5.0, 7.0], [[2.0, 3.0], [4.0, 5.0]])
    assert np.isnan(both.rows(slice(0, 1)).step)
    assert_rejected(lambda: both.of("c"), "here: there is no column 'c', found a, b")
    many = Telemetry("here", np.zeros(1), tuple("abcdefghi"), np.zeros((1, 9)))
    assert_rejected(lambda: many.of("z"), "found a, b, c, d, e, f, g, h, …")
    assert_rejected(
        lambda: Telemetry("here", np.zeros(2), ("a",), np.zeros((1, 1))), "values have shape (1, 1)"
    )
    assert_rejected(
        lambda: Telemetry("here", np.zeros(0), ("a",), np.zeros((0, 1))), "with at least one value"
    )
    path = tmp_path / "run.parquet"
    pl.DataFrame({"at": [3.0, 3.0], "seconds": [1.0, 1.0], "a": [True, None]}).write_parquet(path)
    found = read_recorded(path)
    assert (found.names, found.time.tolist()) == (("a",), [3.0, 3.0])
    np.testing.assert_equal(found.values, [[1.0], [np.nan]])
    pl.DataFrame({"time": [3.0, 4.0], "at": [1.0, 2.0], "cpu_ready": [0.0, 0.0]}).write_parquet(path)
    assert (read_recorded(path).names, read_recorded(path).time.tolist()) == (("cpu_ready",), [1.0, 2.0])
    machine = tmp_path / "m.npz"
    np.savez(machine, train=np.ones((3, 2)), test=np.zeros((2, 2)), label=np.array([0, 2]))
    smd = read_smd(machine)
    assert (smd.train.time.tolist(), smd.test.time.tolist()) == ([0.0, 60.0, 120.0], [0.0, 60.0])
    assert smd.label.tolist() == [False, True]
    assert (smd.train.source, smd.test.source) == (f"{machine} (train)", f"{machine} (test)")
    whole = read_telemetry(machine)
    assert whole.time.tolist() == [0.0, 60.0, 120.0, 180.0, 240.0]
    assert whole.values[:, 0].tolist() == [1.0, 1.0, 1.0, 0.0, 0.0]
    vm = written(tmp_path, "\nTimestamp [ms];\tCPU;\tRAM\n5;\t1;\t2\n5;\t0;\t4\n", "VM.CSV")
    assert read_telemetry(vm).values.tolist() == [[1.0, 2.0], [0.0, 4.0]]
    assert read_bitbrains(vm).time.tolist() == [5.0, 5.0]


def test_measured_pairs_are_read(tmp_path):
    written(
        tmp_path,
        "model,dataset,batchsize,amp,gpu_util,gmem\nA,x,1,0,80,3\nB,y,2,1,100,2\n",
        "single_data.csv",
    )
    head = "model1,dataset1,batchsize1,amp1,speed1,model2,dataset2,batchsize2,amp2,speed2\n"
    written(tmp_path, head + "B,y,2,1,0.5,A,x,1,0,10\nA,x,1,0,1.5,A,x,1,0,0.1\n", "colocate_info.csv")
    found = read_interference(tmp_path)
    assert found.jobs.tolist() == [["B y 2 1", "A x 1 0"], ["A x 1 0", "A x 1 0"]]
    assert found.models.tolist() == [["B", "A"], ["A", "A"]]
    assert found.use.tolist() == [[100.0, 80.0], [80.0, 80.0]]
    assert found.memory.tolist() == [[2e6, 3e6], [3e6, 3e6]]
    assert (found.speed.tolist(), len(found)) == ([[0.5, 10.0], [1.5, 0.1]], 2)
    for speed in ("0", "10.1", "inf"):
        written(tmp_path, f"{head}B,y,2,1,{speed},A,x,1,0,1\n", "colocate_info.csv")
        assert_rejected(
            lambda: read_interference(tmp_path), f"line 2: speed1 is '{speed}', expected a number above 0 and"
        )
