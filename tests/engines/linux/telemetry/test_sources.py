"""Each source: metrics of its file, and of a truncated, malformed or missing file."""

import math

import pytest

from tests.engines.linux.telemetry.conftest import DEVICE, DISK, values
from windlass.engines.linux.telemetry.disks import Disks
from windlass.engines.linux.telemetry.groups import ControlGroups
from windlass.engines.linux.telemetry.loadavg import LoadAverage
from windlass.engines.linux.telemetry.meminfo import MemoryInfo
from windlass.engines.linux.telemetry.network import NetworkSource
from windlass.engines.linux.telemetry.pressure import PressureSource
from windlass.engines.linux.telemetry.schedstat import CoreWaits
from windlass.engines.linux.telemetry.sockets import Sockets
from windlass.engines.linux.telemetry.stat import Stat
from windlass.engines.linux.telemetry.tasks import TasksSource
from windlass.engines.linux.telemetry.vmstat import PageEvents

FILES = {
    Stat: "stat",
    LoadAverage: "loadavg",
    MemoryInfo: "meminfo",
    PageEvents: "vmstat",
    Disks: "diskstats",
    NetworkSource: "net/dev",
    Sockets: "net/snmp",
    PressureSource: "pressure/cpu",
    CoreWaits: "schedstat",
}


def test_stat_has_shares_of_ticks_and_the_busiest_core(machine):
    machine.stat(user=10, idle=100, switches=50)
    source = Stat(machine.roots)
    assert math.isnan(values(source, math.nan)["stat.busy"])
    machine.stat(user=40, idle=110, switches=80)
    found = values(source, 2.0)
    assert found["stat.busy"] == pytest.approx(0.75)
    assert found["stat.user"] == pytest.approx(0.75)
    assert found["stat.idle"] == pytest.approx(0.25)
    assert (found["stat.core_most"], found["stat.core_least"]) == (pytest.approx(0.75), 0.0)
    assert found["stat.switches"] == 15.0
    assert (found["stat.running"], found["stat.blocked"]) == (3.0, 1.0)


def test_stat_without_new_ticks_has_no_shares(machine):
    machine.stat()
    source = Stat(machine.roots)
    source.read(1.0)
    assert math.isnan(values(source, 1.0)["stat.busy"])


def test_memory_is_in_bytes(machine):
    machine.write("proc/meminfo", "MemFree:  3 kB\nActive(anon): 4 kB\nHugePages_Total: 0\n")
    found = values(MemoryInfo(machine.roots), 1.0)
    assert (found["memory.MemFree"], found["memory.Active(anon)"]) == (3072.0, 4096.0)
    assert math.isnan(found["memory.Dirty"])


def test_pages_are_events_per_second_and_missing_ones_are_nan(machine):
    source = PageEvents(machine.roots)
    machine.write("proc/vmstat", "pgfault 10\npgfree 5\n")
    source.read(1.0)
    machine.write("proc/vmstat", "pgfault 30\npgfree 5\n")
    found = values(source, 4.0)
    assert (found["pages.pgfault"], found["pages.pgfree"]) == (5.0, 0.0)
    assert math.isnan(found["pages.pswpin"])


def test_disks_are_summed_without_partitions_and_virtual_devices(machine):
    def write(reads, busy):
        machine.write(
            "proc/diskstats",
            "".join(
                DISK.format(name=name, reads=reads, writes=1, flight=2, busy=busy if name == "sda" else 0)
                for name in ("sda", "sda1", "nvme0n1", "nvme0n1p2", "loop0", "dm-0", "md127")
            ),
        )

    source = Disks(machine.roots)
    write(10, 0)
    source.read(1.0)
    write(16, 500)
    found = values(source, 1.0)
    assert found["disk.reads"] == 12.0
    assert found["disk.busiest"] == 0.5
    assert found["disk.in_flight"] == 4.0


def test_old_disks_with_eleven_counters_are_read(machine):
    source = Disks(machine.roots)
    machine.write("proc/diskstats", "8 0 sda 1 0 0 0 0 0 0 0 0 0 0\n")
    source.read(1.0)
    machine.write("proc/diskstats", "8 0 sda 3 0 4 0 0 0 0 0 0 0 0\n")
    found = values(source, 1.0)
    assert (found["disk.reads"], found["disk.read_bytes"], found["disk.flushes"]) == (2.0, 2048.0, 0.0)


def test_loopback_is_counted_separately(machine):
    def write(rx):
        lines = "".join(DEVICE.format(name=name, rx=rx, tx=0) for name in ("lo", "eth0", "veth1"))
        machine.write("proc/net/dev", "Inter-| Receive\n face |bytes\n" + lines)

    source = NetworkSource(machine.roots)
    write(100)
    source.read(1.0)
    write(300)
    found = values(source, 2.0)
    assert (found["net.rx_bytes"], found["net.lo_bytes"]) == (200.0, 100.0)


def test_sockets_and_tcp_counters_are_read(machine):
    source = Sockets(machine.roots)
    machine.write("proc/net/sockstat", "sockets: used 21\nTCP: inuse 3 orphan 0 tw 6 alloc 3 mem 1\n")
    machine.write("proc/net/snmp", "Tcp: ActiveOpens RetransSegs\nTcp: 5 1\nUdp: InDatagrams\nUdp: 7\n")
    source.read(1.0)
    machine.write("proc/net/snmp", "Tcp: ActiveOpens RetransSegs\nTcp: 9 1\nUdp: InDatagrams\nUdp: 7\n")
    found = values(source, 2.0)
    assert (found["sockets.used"], found["sockets.tcp_waiting"]) == (21.0, 6.0)
    assert (found["sockets.tcp_opened"], found["sockets.udp_received"]) == (2.0, 0.0)


def test_pressure_is_a_share_of_time(machine):
    line = "some avg10=10.00 avg60=0.00 avg300=0.00 total={}\n"
    source = PressureSource(machine.roots)
    machine.write("proc/pressure/cpu", line.format(1_000_000))
    source.read(1.0)
    machine.write("proc/pressure/cpu", line.format(1_500_000))
    found = values(source, 2.0)
    assert (found["psi.cpu.some"], found["psi.cpu.some_10"]) == (0.25, 0.1)
    assert math.isnan(found["psi.cpu.full"])
    assert math.isnan(found["psi.io.some"])


def test_waits_of_cores_are_summed(machine):
    text = "version 17\ntimestamp 1\ncpu0 0 0 0 0 0 0 {} {} 5\ndomain0 3 0\ncpu1 0 0 0 0 0 0 0 {} 5\n"
    source = CoreWaits(machine.roots)
    machine.write("proc/schedstat", text.format(0, 0, 0))
    source.read(1.0)
    machine.write("proc/schedstat", text.format(10**9, 2 * 10**9, 10**9))
    found = values(source, 2.0)
    assert (found["schedstat.waited"], found["schedstat.ran"]) == (1.5, 0.5)


@pytest.mark.parametrize("kind", [*FILES, TasksSource, ControlGroups], ids=lambda kind: kind.__name__)
def test_a_machine_without_the_file_has_nan(machine, kind):
    (machine.root / "proc").rmdir()
    source = kind(machine.roots)
    for _ in range(2):
        assert all(map(math.isnan, values(source, 1.0).values()))


@pytest.mark.parametrize("kind", FILES, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize(
    "text", ["", "\n\n", "cpu\n", "cpu x y\nctxt\n: \n", "\0\0", "some total=x\n", "8 0 sda 1 2\n", "a " * 99]
)
def test_malformed_files_are_no_error(machine, kind, text):
    for name in FILES.values():
        machine.write(f"proc/{name}", text)
    source = kind(machine.roots)
    for _ in range(2):
        values(source, 1.0)


def test_a_file_that_appears_later_is_read(machine):
    source = LoadAverage(machine.roots)
    assert math.isnan(values(source, 1.0)["load.1"])
    assert source.files[0].why == "No such file or directory"
    machine.write("proc/loadavg", "0.50 0.25 0.10 2/117 5693\n")
    assert values(source, 1.0) == {
        "load.1": 0.5,
        "load.5": 0.25,
        "load.15": 0.1,
        "load.runnable": 2.0,
        "load.tasks": 117.0,
    }
    assert source.files[0].why == ""
