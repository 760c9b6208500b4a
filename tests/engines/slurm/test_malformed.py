"""Output of Slurm that cannot be read is one line with the release, the command, the job, the field and its value."""

import json
import os
import random
import subprocess
import sys

import pytest

from tests.engines.slurm.fake_commands import FakeCommands, job, node
from tests.engines.slurm.releases import RELEASES, before, job_of, meta, node_of, queue_of
from windlass.engines.slurm.client import AwayError, Client
from windlass.engines.slurm.commands import Commands
from windlass.engines.slurm.job_reader import JobReader, read_jobs
from windlass.engines.slurm.node_reader import read_nodes
from windlass.model import BatchError

NUMBER = {"set": True, "infinite": False, "number": "x"}


def queue(release, **changes):
    rows = [job_of(release, job(6)), job_of(release, job(7)) | changes]
    return json.dumps({"meta": meta(release), "errors": [], "jobs": rows})


def failure(read, text):
    with pytest.raises(BatchError) as found:
        read(text)
    message = str(found.value)
    assert "\n" not in message
    assert len(message) < 300
    return message


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"cpus": "many"}, 'job 7: cpus is "many", expected int, object or null'),
        ({"cpus": NUMBER}, 'job 7: cpus.number is "x", expected int'),
        ({"cpus": {"set": True}}, "job 7: there is no field cpus.infinite"),
        ({"cpus": -1}, "job 7: cpus is -1, expected int >= 0"),
        ({"cpus": 1.5}, "job 7: cpus is 1.5, expected int, object or null"),
        ({"cpus": 10**40}, f"job 7: cpus is {10**40}, expected int <= 9007199254740992"),
        ({"cpus": True}, "job 7: cpus is true, expected int, object or null"),
        ({"job_state": 3}, "job 7: job_state is 3, expected str or array"),
        ({"job_state": [3]}, "job 7: job_state.0 is 3, expected str"),
        ({"name": ["a"]}, 'job 7: name is ["a"], expected str or null'),
        ({"requeue": "yes"}, 'job 7: requeue is "yes", expected bool'),
        ({"job_id": None}, "job null: job_id is null, expected int"),
        ({"comment": {"text": "a" * 99}}, f'job 7: comment is {{"text": "{"a" * 50}…, expected str or null'),
    ],
)
def test_an_unknown_shape_of_a_job_is_one_line(release, changes, why):
    assert (
        failure(read_jobs, queue(release, **changes))
        == f"squeue --json of Slurm {release} cannot be read: {why}"
    )


@pytest.mark.parametrize(
    "field", ["job_id", "job_state", "cpus", "priority", "submit_time", "restart_cnt", "het_job_id"]
)
def test_a_field_that_was_renamed_is_an_error(field):
    row = job_of("25.11.4", job(7))
    del row[field]
    name = "row 1" if field == "job_id" else "job 7"
    text = json.dumps({"jobs": [row], "meta": meta("25.11.4")})
    assert failure(read_jobs, text) == (
        f"squeue --json of Slurm 25.11.4 cannot be read: {name}: there is no field {field}"
    )


@pytest.mark.parametrize("release", RELEASES)
def test_an_unknown_shape_of_a_node_is_one_line(release):
    for changes, why in (
        ({"cpus": "8"}, 'node w2: cpus is "8", expected int'),
        ({"partitions": "a,b"}, 'node w2: partitions is "a,b", expected array'),
    ):
        rows = [node_of(release, node("w1")), node_of(release, node("w2")) | changes]
        text = json.dumps({"meta": meta(release), "nodes": rows})
        assert failure(read_nodes, text) == f"sinfo --json of Slurm {release} cannot be read: {why}"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "it printed nothing, expected JSON"),
        (" \n", "it printed nothing, expected JSON"),
        ("[]", "cannot be read: the output is [], expected object"),
        ("null", "cannot be read: the output is null, expected object"),
        ("{}", "cannot be read: there is no field"),
        ('{"meta": {"slurm": 5}}', "cannot be read: there is no field"),
        ('{"meta": {"slurm": {"release": 5}}}', "cannot be read: there is no field"),
        ("squeue: error: x", "the output is not valid JSON"),
        ('{"jobs": [{"job_id": NaN}]}', "the output is not valid JSON"),
        ('{"jobs": [{"job_id": 1e999}]}', ""),
        ('{"nodes": [{"cpus": Infinity}]}', "the output is not valid JSON"),
        ('{"jobs": [], "nodes": []', "the output is not valid JSON"),
        ('{"jobs": [],', "the output is not valid JSON"),
        ('{"jobs": {}, "nodes": {}}', "cannot be read: "),
        ('{"jobs": [7], "nodes": [7]}', "cannot be read: "),
        ('{"jobs": [[]], "nodes": [[]]}', "cannot be read: "),
        ("[" * 100_000, ""),
        ('{"x": ' * 100_000, "the output is not valid JSON"),
    ],
)
def test_output_of_another_kind_is_one_line(text, why):
    for read, command in ((read_jobs, "squeue --json"), (read_nodes, "sinfo --json")):
        if why != "the output is not valid JSON" or text.startswith(("squeue", "{")):
            message = failure(read, text)
            assert message.startswith(f"{command}")
            assert why in message


def test_names_may_have_bytes_that_are_not_utf_8():
    text = queue_of("25.11.4", [job(7, name="QQ"), job(8, name="x")]).encode().replace(b"QQ", b"a\xffb")
    assert [row.name for row in read_jobs(text)] == ["a\ufffdb", "x"]
    assert [row.name for row in in_parts(text, 50)] == ["a\ufffdb", "x"]
    row = node_of("25.11.4", node("w1", partitions=("QQ",)))
    assert read_nodes(json.dumps({"nodes": [row]}).encode().replace(b"QQ", b"\xff"))[0].partitions == (
        "\ufffd",
    )


def in_parts(text, size):
    reader = JobReader(piece=size)
    for start in range(0, len(text), size):
        reader.feed(text[start : start + size])
    return reader.finish()


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("size", [100, 4000])
def test_an_error_in_the_middle_of_a_long_queue_names_the_release_too(release, size):
    rows = [job_of(release, job(number)) for number in range(40)]
    rows[20]["cpus"], rows[30]["name"] = "many", 5
    tree = (
        {"jobs": rows, "meta": meta(release)}
        if before(release, "23.02")
        else {"meta": meta(release), "jobs": rows}
    )
    text = json.dumps(tree).encode()
    expected = failure(read_jobs, text)
    assert expected.startswith(f"squeue --json of Slurm {release} cannot be read: job 20: cpus is")
    assert failure(lambda text: in_parts(text, size), text) == expected


@pytest.mark.parametrize("size", [7, 500, 100_000])
def test_any_damage_is_read_the_same_way_in_parts(size):
    rng = random.Random(5)
    text = queue_of("24.11.6", [job(number, name="a },{ b") for number in range(12)]).encode()

    def outcome(read, damaged):
        try:
            return [row.job for row in read(damaged)]
        except BatchError as error:
            message = str(error)
            assert "\n" not in message
            # Where JSON breaks is counted from the beginning of a part.
            return "not valid JSON" if "not valid JSON" in message else message

    for _ in range(300):
        damaged = bytearray(text)
        for _ in range(rng.randint(1, 3)):
            place = rng.randrange(len(damaged))
            match rng.randrange(3):
                case 0:
                    damaged[place] = rng.randrange(256)
                case 1:
                    del damaged[place : place + rng.randint(1, 400)]
                case _:
                    damaged[place:place] = damaged[: rng.randint(1, 30)]
        whole = outcome(read_jobs, bytes(damaged))
        parts = outcome(lambda text: in_parts(text, size), bytes(damaged))
        # Of two mistakes, either may be reported.
        assert whole == parts or (isinstance(whole, str) and isinstance(parts, str))


def test_the_error_of_a_command_without_a_message_is_in_its_output():
    text = json.dumps({"jobs": [], "errors": [{"description": "denied"}]})
    for status, out, errors, why in (
        (1, text, "", "denied"),
        (1, text, "no\nway\n", "no way"),
        (2, "", "", "squeue ended with status 2"),
    ):
        with pytest.raises(BatchError, match=why):
            Client(FakeCommands(squeue=(status, out, errors)), 1.0, 1.0).jobs()


@pytest.fixture
def squeue(tmp_path, monkeypatch):
    """Return a function that installs a squeue of its own, which runs Python code."""
    (tmp_path / "bin").mkdir()

    def install(code):
        program = tmp_path / "bin" / "squeue"
        program.write_text(f"#!{sys.executable}\nimport os, sys, time\n{code}\n")
        program.chmod(0o755)
        monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")

    return install


def test_jobs_are_read_while_squeue_prints_them(squeue, tmp_path):
    (tmp_path / "out").write_text(queue_of("25.11.4", [job(number) for number in range(3000)]))
    squeue(f"sys.stdout.write(open({str(tmp_path / 'out')!r}).read()); print('x', file=sys.stderr)")
    assert [row.job for row in Client().jobs()] == list(range(3000))


def test_a_squeue_that_fails_or_hangs_is_an_error(squeue):
    client = Client(patience=0.0, timeout=30.0)
    squeue("sys.exit('denied')")
    with pytest.raises(BatchError, match=r"^denied$"):
        client.jobs()
    squeue("""print('{"jobs": [], "errors": [{"description": "no"}]}'); sys.exit(3)""")
    with pytest.raises(BatchError, match=r"^squeue --json: no$"):
        client.jobs()
    squeue("print('usage: x'); sys.exit(3)")
    with pytest.raises(BatchError, match=r"^usage: x$"):
        client.jobs()
    squeue("""os.write(1, b'{"jobs": ['); os.kill(os.getpid(), 9)""")
    with pytest.raises(
        AwayError, match=r" after 0 s: squeue --json: the output is not valid JSON: Input data was truncated$"
    ):
        client.jobs()
    squeue("sys.exit(3)")
    with pytest.raises(BatchError, match=r"^squeue ended with status 3$"):
        client.jobs()
    squeue("print('no plugin', file=sys.stderr)")
    with pytest.raises(BatchError, match=r"^no plugin$"):
        client.jobs()
    squeue("")
    with pytest.raises(AwayError, match=r" after 0 s: squeue --json: it printed nothing, expected JSON$"):
        client.jobs()
    squeue("sys.exit('squeue: unrecognized option \\'--json\\'')")
    with pytest.raises(Exception, match=r"expected Slurm 21\.08 or newer"):
        client.jobs()
    squeue("""os.write(1, b'{"jobs": ['); time.sleep(600)""")
    with pytest.raises(BatchError, match=r"did not answer within 0\.3 s"):
        Client(patience=0.0, timeout=0.3).jobs()


def test_a_command_that_closes_its_output_and_hangs_is_killed(squeue):
    squeue("os.close(1); time.sleep(600)")
    with pytest.raises(subprocess.TimeoutExpired):
        Commands().stream(["squeue"], 0.3, lambda data: None)


def test_the_user_s_own_settings_hide_no_jobs(squeue, monkeypatch, tmp_path):
    for name in ("SQUEUE_USERS", "SINFO_PARTITION", "SLURM_JSON"):
        monkeypatch.setenv(name, "mine")
    squeue(
        "print(sorted(k + v for k, v in os.environ.items() if k[:5] in ('SQUEU', 'SINFO', 'SLURM')), sys.argv[1:])"
    )
    out = []
    status, _ = Commands(tmp_path / "conf").stream(["squeue", "--json"], 60.0, out.append)
    settings = [f"SLURM_CONF{tmp_path / 'conf'}", "SLURM_JSONcompact"]
    assert (status, b"".join(out).decode()) == (0, f"{settings} ['--json']\n")
    assert Commands(tmp_path / "conf")(["squeue", "--json"], 60.0)[1] == f"{settings} ['--json']\n"
