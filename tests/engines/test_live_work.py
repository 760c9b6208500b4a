"""The work of live tasks, and the links between emulated sites, by hand."""

import math
import sys
import zlib

import pytest

from windlass.engines.live.executor import TaskLaunch
from windlass.engines.live.functions import function_of
from windlass.engines.live.program import LiveProgram, StageProgram
from windlass.engines.live.run import data_bytes
from windlass.engines.live.wan import LATE_S, Bucket, Links
from windlass.engines.live.work import Call, Command, Generate, Hold, Keep, ReadFile
from windlass.model import InputError
from windlass.model.fleet import FleetJobs, StageSpec


def two_jobs():
    """Maps of 2, 1 and 1 tasks at the sites, read by two reduces that a last stage reads; and a job of one map."""
    first = [
        StageSpec(2.0, here=(2, 1, 1), task_bytes=100.0, ratio=0.5),
        StageSpec(1.0, tasks=2, parents=(0,), ratio=2.0),
        StageSpec(3.0, tasks=1, parents=(1,)),
    ]
    return FleetJobs.of([0.0, 1.0], [first, [StageSpec(5.0, here=(0, 3, 0), task_bytes=10.0)]])


def test_results_of_real_work_are_fetched_and_kept():
    jobs = two_jobs()
    steps = [
        StageProgram(command="cat"),
        StageProgram(function=len),
        StageProgram(function=max),
        StageProgram(),
    ]
    program = LiveProgram(jobs, steps)
    assert [program.keeps_result(row) for row in range(4)] == [False, False, True, False]
    assert program.work(0, 5) == Command("cat", 2)
    assert program.work(4, 5) == Call(len, 1)
    assert program.work(6, 5) == Call(max, 1)
    assert program.work(7, 5) == Hold(5.0, ())
    assert program.load(9) == Generate(10)
    files = LiveProgram(
        jobs,
        [
            StageProgram(files=("a", "b", "c", "d")),
            StageProgram(),
            StageProgram(),
            StageProgram(files=("x", "y", "z")),
        ],
    )
    assert [files.load(task) for task in (1, 9)] == [ReadFile("b"), ReadFile("z")]
    for bad, message in (
        ([StageProgram()] * 3, "steps: 3 given for 4 stages"),
        ([StageProgram(files=("a",)), *[StageProgram()] * 3], "1 files for 4 tasks"),
        (
            [StageProgram(), StageProgram(files=("a", "b")), *[StageProgram()] * 2],
            "2 files for 2 tasks that read input",
        ),
    ):  # fmt: skip
        with pytest.raises(InputError, match=message):
            LiveProgram(jobs, bad)
    assert [StageProgram().real, StageProgram(files=("a",)).real, StageProgram(command="x").real] == [
        False,
        False,
        True,
    ]


def test_written_parts_have_the_sizes_of_their_readers():
    stages = [
        StageSpec(1.0, here=(1, 0, 0), task_bytes=1000.0, ratio=0.5), StageSpec(1.0, tasks=2, parents=(0,)),
        StageSpec(1.0, tasks=3, parents=(0,)),
    ]  # fmt: skip
    jobs = FleetJobs.of([0.0], [stages])
    jobs.size[:] = [1.0, 1.0, 3.0, 2.0, 1.0, 1.0]
    assert LiveProgram(jobs).work(0, 1000).sizes == (125, 375, 250, 125, 125)
    with pytest.raises(InputError, match="stage 1: 2 stages read what it writes"):
        LiveProgram(jobs, [StageProgram(command="cat"), StageProgram(), StageProgram()])
    # 1000 bytes read, and 500 for each reader, which are written and read.
    assert data_bytes(jobs) == 1000 + 500 + 2 * (500 + 500)


def test_calls_and_commands_run_their_work(tmp_path):
    assert Call(lambda inputs, parts: [b"".join(inputs)] * parts, 2).run([b"a", b"b"]) == [b"ab", b"ab"]
    for made_, message in (
        ([b"a"], r"returned 1 parts \(bytes …\), expected 2 of bytes"),
        (["a", b"b"], "str, bytes"),
    ):
        with pytest.raises(ValueError, match=message):
            Call(lambda inputs, parts, found=made_: found, 2).run([])
    lines = b"a\t1\nbb\t2\na\t3\nccc\nbb\n"
    parts = Command("cat", 3).run([lines[:7], lines[7:]])
    expected = [b"", b"", b""]
    for line in lines.splitlines(keepends=True):
        expected[zlib.crc32(line.split(b"\t")[0].rstrip(b"\n")) % 3] += line
    assert parts == expected
    failing = f"{sys.executable} -c 'import sys; sys.stderr.write(\"one\\ntwo\\n\"); sys.exit(3)'"
    with pytest.raises(RuntimeError, match=r"failed with status 3: two$"):
        Command(failing, 1).run([])
    with pytest.raises(RuntimeError, match=r"failed with status 1$"):
        Command("false", 1).run([])
    (tmp_path / "file").write_bytes(b"x\0y")
    assert ReadFile(str(tmp_path / "file")).run([]) == [b"x\0y"]
    assert Keep().run([b"a", b"b"]) == [b"ab"]
    assert Generate(3).run([]) == [bytes(3)]
    assert [each.parts for each in (Keep(), Generate(3), ReadFile("x"), Hold(0.0, (1, 2)))] == [1, 1, 1, 2]
    order = TaskLaunch(1, 2, Keep())
    assert (order.reads, order.slot, order.bring) == ((), True, False)


def test_functions_are_found_in_modules_and_files(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text("def double(inputs, parts):\n    return list(inputs) * 2\nvalue = 3\n")
    assert function_of(f"{path}:double")([1], 1) == [1, 1]
    assert function_of(f"{path}:double").__module__ == "__main__"
    (tmp_path / "bad.py").write_text("1 / 0\n")
    for spec, message in (
        ("double", "expected package.module:function"), (f"{path}:value", "has no function 'value'"),
        (f"{path}:other", "has no function 'other'"), (f"{tmp_path}/none.py:x", "no such file"),
        (f"{tmp_path}/bad.py:x", "ZeroDivisionError: division by zero"), ("no.such.module:x", "No module named"),
    ):  # fmt: skip
        with pytest.raises(InputError, match=message):
            function_of(spec)


def test_late_requests_are_served_as_if_in_time_up_to_a_bound():
    assert Bucket(100.0).take(LATE_S, 50.0) == 0.5
    assert Bucket(100.0).take(1.01 * LATE_S, 50.0) == pytest.approx(0.5 + 1.01 * LATE_S)
    bucket = Bucket(100.0)
    assert [bucket.take(1.0, 50.0), bucket.take(0.0, 25.0)] == [1.5, 1.75]
    assert LATE_S == 0.04


def test_a_transfer_takes_its_slowest_link_and_counts_as_in_use_for_0_5_s():
    links = Links([100.0, 50.0], [400.0, 20.0], [[math.inf, 10.0], [0.0, math.inf]])
    # Up at 100, down at 20, and 10 between the two.
    assert links.take(1.0, 0, 1, 5.0) == 1.5
    assert links.take(1.0, 1, 0, 5.0) == pytest.approx(1.1)
    assert links.in_use(1.2) == ([10.0, 10.0], [10.0, 10.0])
    assert links.take(1.4, 0, 0, 20.0) == pytest.approx(1.6)
    assert links.in_use(1.4) == ([50.0, 10.0], [50.0, 10.0])
    assert links.in_use(1.5) == ([40.0, 0.0], [40.0, 0.0])
    assert links.in_use(1.6, over=1.0) == ([20.0, 0.0], [20.0, 0.0])
    assert links.in_use(1.9) == ([0.0, 0.0], [0.0, 0.0])


def test_a_portion_is_20_ms_of_the_slowest_link_with_a_lower_bound():
    links = Links([1e6, 1e3, 30.0], [2e6, 5e5, 1e6], [[math.inf] * 3] * 3)
    assert links.portion(0, 0) == 2e4
    assert links.portion(2, 0) == 1.0
    assert links.portion(0, 1) == 1e4
    links.open(1, 0)
    links.open(1, 0)
    # A thousandth of its own rate would be too little: a fiftieth of the full rate.
    assert links.portion(0, 0) == pytest.approx(2e4 / 50)
    links.close(1, 0)
    assert links.portion(0, 0) == pytest.approx(2e4 / 50)
    links.close(1, 0)
    assert links.portion(0, 0) == 2e4
    assert links.portion(2, 0) == 1.0
