"""Addresses, and worker pools of processes."""

import math
from concurrent.futures import BrokenExecutor

import pytest

from windlass.engines.address import host_and_port, is_host, is_ip, is_port, is_url, ray_head, shorten
from windlass.engines.worker_pool import _Processes, crews_on, processes
from windlass.model import InputError


@pytest.mark.parametrize(
    ("text", "host", "ip"),
    [
        ("head", True, False), ("head.cluster", True, False), ("head.cluster.", True, False), ("a-b_c.d1", True, False),
        ("127.0.0.1", True, True), ("[::1]", True, True), ("[fe80::1%eth0]", True, True),
        ("127.0.0.256", False, False), ("127.1", False, False), ("0x7f.1", False, False), ("a.0x7f", False, False),
        ("a.12", False, False), ("1.a", True, False), ("::1", False, False), ("[127.0.0.1]", False, False),
        ("[::1", False, False), ("-a", False, False), ("a-", False, False), ("a..b", False, False), ("", False, False),
        (".", False, False), ("a" * 63, True, False), ("a" * 64, False, False), (".".join(["a" * 62] * 4), True, False),
        (".".join(["a" * 63] * 4), False, False), ("[fe80::1%]", False, False), ("[fe80::1%a/b]", False, False),
        ("bücher", False, False), ("a b", False, False), ("me@host", False, False),
    ],
)  # fmt: skip
def test_hosts_and_ip_addresses_are_recognised(text, host, ip):
    assert (is_host(text), is_ip(text)) == (host, ip)


def test_ports_and_urls_are_recognised():
    ports = ("1", "65535", "00080", "0", "65536", "-1", "+80", "", "٣", "000080", "8 ", "8.0")
    assert [is_port(each) for each in ports] == [True, True, True, *[False] * 9]
    for text, fine in (
        ("http://a", True), ("https://a:80/b/c-d_e.f~1", True), ("http://[::1]:5/", True), ("http://a:0", False),
        ("http://a:65536", False), ("http://[::1", False), ("ftp://a", False), ("http://", False),
        ("http://a?b", False),
        ("http://a:80:90", False), ("http://a/b#c", False), ("http://[1.2.3.4]", False), ("http://a.0", False),
    ):  # fmt: skip
        assert is_url(text) == fine, text
    assert host_and_port("--x", "[::1]:80") == ("::1", 80)
    assert host_and_port("--x", "a.b:65535") == ("a.b", 65535)
    for text in ("a", "a:", ":80", "a:0", "a b:80"):
        with pytest.raises(InputError, match="--x"):
            host_and_port("--x", text)
    assert [ray_head("--on", each) for each in ("auto", "local", "ray://h:5", "h:5")] == [
        None, None, ("h", 5), ("h", 5),
    ]  # fmt: skip
    for text in ("ray://h", "Auto", "ray://", "http://h:5"):
        with pytest.raises(InputError, match=f"--on: '{text}', expected"):
            ray_head("--on", text)
    assert (shorten("a" * 80), shorten("a" * 81)) == ("a" * 80, "a" * 80 + "…")


def test_worker_pools_are_on_ray_at_a_valid_address_only():
    for where in ("slurm", "ray:", "Ray", "ray2", "x:h:5", ""):
        with pytest.raises(InputError, match="expected ray, or ray:HOST:PORT"):
            crews_on(where)
    for where in ("ray:h", "ray:h:0"):
        with pytest.raises(InputError, match="expected a host and a port"):
            crews_on(where)


def test_lost_processes_are_reported_by_the_call():
    class Lost:
        def submit(self, function, *arguments):
            raise BrokenExecutor("all are gone")

    crew = _Processes(Lost(), 3)
    assert crew.size() == 3
    assert crew.share("value") == "value"
    assert isinstance(crew.submit(max, 1, 2).exception(), BrokenExecutor)


def test_processes_run_calls_and_end_after_an_error():
    with processes(1) as crew:
        assert crew.size() == 1
        assert crew.submit(math.hypot, 3.0, 4.0).result() == 5.0
