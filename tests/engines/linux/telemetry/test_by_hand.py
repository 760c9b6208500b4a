"""Each source on files with distinct numbers, against results computed by hand."""

import math

import pytest

from tests.engines.linux.telemetry.conftest import values
from windlass.engines.linux.telemetry.disks import Disks
from windlass.engines.linux.telemetry.loadavg import LoadAverage
from windlass.engines.linux.telemetry.meminfo import MemoryInfo
from windlass.engines.linux.telemetry.network import NetworkSource
from windlass.engines.linux.telemetry.pressure import PressureSource, stalls
from windlass.engines.linux.telemetry.schedstat import CoreWaits
from windlass.engines.linux.telemetry.sockets import Sockets
from windlass.engines.linux.telemetry.stat import Stat
from windlass.engines.linux.telemetry.vmstat import PageEvents


def near(expected):
    return pytest.approx(expected, nan_ok=True)


def stat_of(all_cores, *cores, counts=(0,) * 5, soft=(0,) * 11):
    switches, forks, interrupts, running, blocked = counts
    rows = [("cpu", all_cores), *((f"cpu{at}", each) for at, each in enumerate(cores))]
    return (
        "".join(f"{name} {' '.join(map(str, each))}\n" for name, each in rows)
        + f"intr {interrupts} 7 7\nctxt {switches}\nbtime 1\nprocesses {forks}\nprocs_running {running}\n"
        + f"procs_blocked {blocked}\nsoftirq {' '.join(map(str, soft))}\n"
    )


def test_stat_by_hand(machine):
    source = Stat(machine.roots)
    # The last two columns are guests, whose time is part of user time.
    before, first, second = [100] * 10, [50] * 10, [50] * 10
    machine.write("proc/stat", stat_of(before, first, second, counts=(10, 20, 30, 1, 1), soft=(100,) * 11))
    values(source, math.nan)
    steps = (1, 2, 3, 30, 10, 4, 5, 45, 90, 90)
    after = [old + step for old, step in zip(before, steps, strict=True)]
    one = [old + step for old, step in zip(first, (10, 0, 0, 70, 20, 0, 0, 0, 5, 5), strict=True)]
    # Idle time of the second core decreases by a tick: it counts as zero.
    two = [old + step for old, step in zip(second, (3, 0, 0, -1, 1, 0, 0, 0, 0, 0), strict=True)]
    machine.write(
        "proc/stat",
        stat_of(after, one, two, counts=(30, 24, 36, 5, 9), soft=[100 + 2 * at for at in range(11)]),
    )
    assert values(source, 2.0) == near(
        {
            "stat.busy": 0.6, "stat.user": 0.01, "stat.nice": 0.02, "stat.system": 0.03, "stat.idle": 0.3,
            "stat.iowait": 0.1, "stat.irq": 0.04, "stat.softirq": 0.05, "stat.steal": 0.45,
            "stat.core_most": 0.75, "stat.core_least": 0.1, "stat.core_spread": 0.65,
            "stat.switches": 10.0, "stat.forks": 2.0, "stat.interrupts": 3.0,
            "stat.running": 5.0, "stat.blocked": 9.0,
            "stat.soft_all": 0.0, "stat.soft_timer": 2.0, "stat.soft_net_tx": 3.0, "stat.soft_net_rx": 4.0,
            "stat.soft_block": 5.0, "stat.soft_sched": 8.0, "stat.soft_rcu": 10.0,
        }
    )  # fmt: skip
    # A new core has no share yet; the others have one.
    machine.write("proc/stat", stat_of(after, [each + 1 for each in one], two, [1] * 10))
    found = values(source, 1.0)
    assert (found["stat.core_most"], found["stat.core_least"]) == (0.75, 0.75)
    assert math.isnan(found["stat.busy"])
    machine.write("proc/stat", "cpu 1 2 3\nsoftirq 1 2 3\n")
    found = values(source, 1.0)
    assert math.isnan(found["stat.soft_block"])
    assert math.isnan(found["stat.running"])


def test_each_memory_number_has_its_own_name(machine):
    names = [
        "MemFree", "MemAvailable", "Buffers", "Cached", "Active", "Inactive", "Active(anon)", "Inactive(anon)",
        "Active(file)", "Inactive(file)", "Unevictable", "Dirty", "Writeback", "AnonPages", "Mapped", "Shmem",
        "KReclaimable", "Slab", "SUnreclaim", "KernelStack", "PageTables", "Committed_AS", "AnonHugePages",
        "Percpu", "SwapFree",
    ]  # fmt: skip
    lines = "".join(f"{name}:  {at + 1} kB\n" for at, name in enumerate(names))
    machine.write("proc/meminfo", f"MemTotal: 999 kB\n{lines}SwapTotal: 77 kB\n")
    found = values(MemoryInfo(machine.roots), 1.0)
    assert found == {f"memory.{name}": 1024.0 * (at + 1) for at, name in enumerate(names)}
    machine.write("proc/meminfo", "MemFree:\nDirty: 0 kB\nSlab: much kB\n")
    found = values(MemoryInfo(machine.roots), 1.0)
    assert found["memory.Dirty"] == 0.0
    assert math.isnan(found["memory.MemFree"])
    assert math.isnan(found["memory.Slab"])


def test_each_page_counter_has_its_own_name(machine):
    source = PageEvents(machine.roots)
    fields = [name.removeprefix("pages.") for name in source.names]
    assert len(fields) == 38
    assert {"pgfault", "pgmajfault", "oom_kill", "pswpin", "unevictable_pgs_culled"} <= set(fields)

    def write(step):
        lines = [f"{name} {100 + step * at}" for at, name in enumerate(fields)]
        machine.write("proc/vmstat", "nr_free_pages 5\n" + "\n".join(lines) + "\n")

    write(1)
    assert all(map(math.isnan, values(source, 1.0).values()))
    write(3)
    assert values(source, 4.0) == {f"pages.{name}": at / 2 for at, name in enumerate(fields)}


@pytest.mark.parametrize(
    ("name", "counts"),
    [
        *((name, True) for name in ("sda", "sdaa", "vdb", "hda", "xvdc", "nvme0n1", "nvme11n2", "mmcblk0", "nbd0")),
        *((name, False) for name in ("loop0", "ram1", "zram0", "dm-3", "md127", "sr0", "fd0")),
        *((name, False) for name in ("sda1", "sdaa12", "vdb3", "hda1", "xvdc2")),
        *((name, False) for name in ("nvme0n1p2", "mmcblk0p1", "nbd0p15")),
    ],
)  # fmt: skip
def test_only_whole_disks_count(machine, name, counts):
    source = Disks(machine.roots)
    for reads in (10, 13):
        machine.write("proc/diskstats", f"8 0 {name} {reads} 0 0 0 0 0 0 0 1 0 0\n")
        found = values(source, 1.0)
    assert (found["disk.reads"], found["disk.in_flight"]) == ((3.0, 1.0) if counts else (0.0, 0.0))


def test_disks_by_hand(machine):
    source = Disks(machine.roots)

    def write(**disks):
        lines = [f"8 0 {name} {' '.join(map(str, each))}\n" for name, each in disks.items()]
        # A line with a missing word is ignored.
        machine.write("proc/diskstats", "".join(lines) + "8 0 vda 1 1 1 1 1 1 1 1 1 1\n")

    write(sda=[100] * 17, sdb=[200] * 17)
    assert math.isnan(values(source, math.nan)["disk.busiest"])
    steps = (2, 4, 6, 8, 10, 12, 14, 16, 0, 400, 18, 20, 0, 0, 0, 22, 0)
    first = [100 + step for step in steps]
    second = [200 + 2 * step for step in steps]
    first[8], second[8] = 3, 4
    write(sda=first, sdb=second, sdc=[10**9] * 17)
    assert values(source, 2.0) == near(
        {
            "disk.reads": 3.0, "disk.reads_merged": 6.0, "disk.read_bytes": 9.0 * 512, "disk.read_wait": 0.012,
            "disk.writes": 15.0, "disk.writes_merged": 18.0, "disk.write_bytes": 21.0 * 512,
            "disk.write_wait": 0.024, "disk.queued": 0.027, "disk.discards": 30.0, "disk.flushes": 33.0,
            "disk.in_flight": 10**9 + 7.0, "disk.busiest": 0.4,
        }
    )  # fmt: skip
    # The kernel counts in its own milliseconds: busy time is capped at 100 %.
    second[9] += 1500
    write(sda=first, sdb=second)
    assert values(source, 1.0)["disk.busiest"] == 1.0
    write(sda=first, sdb=second)
    assert math.isnan(values(source, 0.0)["disk.busiest"])
    # After a step without the file, the next step is unknown too.
    (machine.root / "proc" / "diskstats").unlink()
    source._file.close()
    assert all(map(math.isnan, values(source, 1.0).values()))
    write(sda=first)
    assert math.isnan(values(source, 1.0)["disk.reads"])


def test_network_devices_by_hand(machine):
    source = NetworkSource(machine.roots)

    def write(**devices):
        lines = "".join(f"  {name}: {' '.join(map(str, each))}\n" for name, each in devices.items())
        machine.write(
            "proc/net/dev", "Inter-|   Receive\n face |bytes    packets\n" + lines + "  bad: 1 2 3\n"
        )

    write(lo=[10] * 16, eth0=[100] * 16, eth1=[200] * 16)
    values(source, 1.0)
    write(
        lo=[30, 70, *[10] * 14],
        eth0=[100 + 2 * at for at in range(16)],
        eth1=[200 + 4 * at for at in range(16)],
        veth7=[10**6] * 16,
    )
    assert values(source, 2.0) == near(
        {
            "net.rx_bytes": 0.0, "net.rx_packets": 3.0, "net.rx_errors": 6.0, "net.rx_dropped": 9.0,
            "net.tx_bytes": 24.0, "net.tx_packets": 27.0, "net.tx_errors": 30.0, "net.tx_dropped": 33.0,
            "net.lo_bytes": 10.0, "net.lo_packets": 30.0,
        }
    )  # fmt: skip
    write(eth0=[100 + 3 * at for at in range(16)])
    found = values(source, 1.0)
    assert found["net.rx_packets"] == 1.0
    assert math.isnan(found["net.lo_bytes"])
    assert math.isnan(found["net.lo_packets"])
    # A device that comes back has no previous step.
    write(lo=[30] * 16, eth0=[200] * 16)
    assert math.isnan(values(source, 1.0)["net.lo_bytes"]) or values(source, 1.0)["net.lo_bytes"] == 0.0
    (machine.root / "proc" / "net" / "dev").unlink()
    source._file.close()
    assert all(map(math.isnan, values(source, 1.0).values()))
    write(lo=[40] * 16, eth0=[300] * 16)
    assert all(map(math.isnan, values(source, 1.0).values()))


def test_sockets_by_hand(machine):
    source = Sockets(machine.roots)
    machine.write(
        "proc/net/sockstat",
        "sockets: used 21\nTCP: inuse 3 orphan 9 tw 6 alloc 8 mem 1\nUDP: inuse 5 mem 2\nFRAG: inuse 7 memory 0\n",
    )

    def write(step):
        names = ("ActiveOpens", "PassiveOpens", "InSegs", "OutSegs", "RetransSegs", "OutRsts")
        tcp = " ".join(str(10 + step * (at + 1)) for at in range(6))
        machine.write(
            "proc/net/snmp",
            f"Ip: Forwarding InReceives\nIp: 1 {step}\nTcp: {' '.join(names)}\nTcp: {tcp}\n"
            f"Udp: InDatagrams NoPorts OutDatagrams\nUdp: {7 * step} 5 {8 * step}\n",
        )

    write(0)
    values(source, 1.0)
    write(4)
    assert values(source, 2.0) == {
        "sockets.used": 21.0, "sockets.tcp": 3.0, "sockets.tcp_waiting": 6.0, "sockets.tcp_pages": 1.0,
        "sockets.udp": 5.0, "sockets.tcp_opened": 2.0, "sockets.tcp_accepted": 4.0, "sockets.tcp_received": 6.0,
        "sockets.tcp_sent": 8.0, "sockets.tcp_resent": 10.0, "sockets.tcp_resets": 12.0,
        "sockets.udp_received": 14.0, "sockets.udp_sent": 16.0,
    }  # fmt: skip
    machine.write("proc/net/sockstat", "sockets: used\nTCP: inuse x\n")
    found = values(source, 1.0)
    assert math.isnan(found["sockets.used"])
    assert math.isnan(found["sockets.tcp"])


def test_pressure_by_hand(machine):
    source = PressureSource(machine.roots)

    def write(step):
        for at, name in enumerate(("cpu", "io", "memory"), 1):
            machine.write(
                f"proc/pressure/{name}",
                f"some avg10={at}.50 avg60=90.00 avg300=80.00 total={step * at * 100_000}\n"
                f"full avg10=70.00 avg60=0.00 avg300=0.00 total={step * at * 10_000}\n",
            )

    write(1)
    values(source, 1.0)
    write(5)
    assert values(source, 2.0) == near(
        {
            "psi.cpu.some": 0.2, "psi.cpu.full": 0.02, "psi.cpu.some_10": 0.015,
            "psi.io.some": 0.4, "psi.io.full": 0.04, "psi.io.some_10": 0.025,
            "psi.memory.some": 0.6, "psi.memory.full": 0.06, "psi.memory.some_10": 0.035,
        }
    )  # fmt: skip
    assert stalls(b"some avg10=x total=4\n\nfull total\n")[:2] == (4, None)
    assert math.isnan(stalls(b"some avg10=x total=4\n")[2])
    assert math.isnan(stalls(b"full avg10=50.0 total=4\n")[2])


def test_waits_of_cores_by_hand(machine):
    source = CoreWaits(machine.roots)

    def write(step):
        second = 10**9
        machine.write(
            "proc/schedstat",
            f"version 15\ntimestamp 4\ncpu0 1 2 3 4 5 6 {step * second} {2 * step * second} {3 * step}\n"
            f"domain0 ff 1 2 3 4 5 6 7 8 9 10 {step}\n"
            f"cpu1 1 2 3 4 5 6 {step * second} {step * second} {step}\ncpu2 1 2 3 4 5 {step} {step} {step}\n",
        )

    write(1)
    assert all(map(math.isnan, values(source, 1.0).values()))
    write(3)
    assert values(source, 4.0) == {"schedstat.waited": 1.5, "schedstat.ran": 1.0, "schedstat.slices": 2.0}
    machine.write("proc/schedstat", "version 15\n")
    assert all(map(math.isnan, values(source, 1.0).values()))


@pytest.mark.parametrize("text", ["0.1 0.2 0.3 4/5\n", "0.1 0.2 0.3 4 6\n", "0.1 0.2 x 4/5 6\n"])
def test_a_truncated_load_average_is_unknown(machine, text):
    machine.write("proc/loadavg", text)
    assert all(map(math.isnan, values(LoadAverage(machine.roots), 1.0).values()))
