"""Invalid addresses: each is rejected with an error that names its option, and no other host is contacted."""

from __future__ import annotations

import random
from pathlib import Path

from tests.fuzz import bases
from tests.fuzz.case import Case

LIVE = bases.EXAMPLES / "fleet-live.yaml"
#: A port of this machine on which no process listens.
CLOSED = "1"
#: Hosts of this machine.
LOCAL_HOSTS = ("127.0.0.1", "localhost", "[::1]")
#: Texts that are not hosts.
HOSTS = (
    "", "::1", "[", "]", "[]", "[::1", "::1]", "[[::1]]", "[127.0.0.1]", "127.0.0.1.", "127.1", "0x7f.1", "2130706433",
    "127.0.0.256", "1.2.3.4.5", "user@127.0.0.1", "user:pw@127.0.0.1", ":pw@127.0.0.1", "127.0.0.1@127.0.0.1",
    "127.0.0.1\n", " 127.0.0.1", "127.0.0.1 ", "127.0.0.1\t", "127.0.0.1\r\nHost: b", "127.0.0.1,127.0.0.1",
    "\u0661\u0662\u0667.0.0.1", "\u24db\u24de\u24d2alhost", "\u043b\u043e\u043a\u0430\u043b", "loc\u00adalhost",
    "\uff11\uff12\uff17.0.0.1", "a" * 100_000, "1" * 100_000, "[" * 100_000, ".".join("a" * 50_000), "-a", "a-", "a..b",
    "..", ".", "/", "\\", "'", '"', "$(id)", "`id`", "%00", "127.0.0.1%25", "[fe80::1%]", "[fe80::1%a b]", "[::1%\x1b]",
    "[::1%\u00e9]", "[::ffff:127.0.0.1.1]", "[1::2::3]", "[:::]", "\x1b[31m", "\u202e127.0.0.1", "a_b!", "*",
    "127.0.0.1/8", "#", "?a=b",
)  # fmt: skip
#: Texts that are not ports.
PORTS = (
    "", "0", "-1", "65536", "99999", "1e3", " 80", "80 ", "+80", "0x50", "8_0", "\u0661\u0662", "\u00b2", "9" * 5000,
    "http", "80:80", "80/", "80\n", "80?", "0" * 100_000, "1.0", "\x1b[2J", "1-2", "None", "true",
)  # fmt: skip

_AUTOSCALE = ("ray", "autoscale", "--types", "t.yaml", "--history", "h.db", "--dry-run")
_AGGREGATE = ("agent", "aggregate", "--token-file", "none")


def _option_of(rng: random.Random) -> tuple[str, tuple[str, ...], str]:
    """An option for an address, the command with a placeholder for it, and the prefix of the host."""
    return rng.choice(
        (
            ("--address", ("run", str(LIVE), "--engine", "ray", "--address", "HERE"), rng.choice(("", "", "ray://"))),
            ("--on", ("run", "log.swf", "--on", "HERE"), rng.choice(("ray:", "ray:", "ray:ray://"))),
            ("--on", ("reproduce", "swag", "--quick", "--on", "HERE"), "ray:"),
            ("--address", ("plan", "run", "q.yaml", "--cluster", "h.yaml", "--address", "HERE"), ""),
            ("--address", (*_AUTOSCALE, "--address", "HERE"), ""),
            ("--listen", ("agent", "run", "--proc", "none", "--listen", "HERE"), ""),
            ("--check", ("agent", "run", "--proc", "none", "--check", "HERE"), ""),
            ("--listen", (*_AGGREGATE, "--listen", "HERE"), ""),
            ("--join", ("agent", "run", "--proc", "none", "--join", "HERE"), rng.choice(("http://", "https://"))),
            ("--join", (*_AGGREGATE, "--join", "HERE"), rng.choice(("http://", "ftp://", "//", ""))),
        )
    )  # fmt: skip


def address(rng: random.Random, folder: Path) -> Case:
    """An invalid host, an invalid port, or a valid address on which no process listens."""
    texts = {"log.swf": bases.SWF, "q.yaml": bases.QUERIES, "h.yaml": bases.HIERARCHY}
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "t.yaml").write_text("types: [{name: small, cores: 4, most: 9}]\n", encoding="utf-8")
    option, command, before = _option_of(rng)
    how = rng.randrange(8)
    host = rng.choice(LOCAL_HOSTS if how in (0, 1) else HOSTS)
    port = rng.choice(PORTS) if how in (1, 2) else CLOSED
    good = how == 0
    # For listening, port 0 (any port) is valid, and host names are invalid.
    if option in ("--listen", "--check"):
        good = host in ("127.0.0.1", "[::1]") and port in ("0", CLOSED)
    if option == "--join":
        # A URL may continue after its port, and needs a scheme.
        good = before in ("http://", "https://") and host in LOCAL_HOSTS and port in (CLOSED, "80/")
    value = f"{before}{host}" if how == 3 and option != "--join" else f"{before}{host}:{port}"
    words = tuple(value if each == "HERE" else each for each in command)
    # A valid address still leads to an error: no process listens, or a file is missing or incomplete.
    names = (option, "127.0.0.1:1", "localhost:1", "[::1]:1", "none", "q.yaml") if good else (option,)
    return Case(command=words, refuse=True, names=names)
