"""The pages: escaping, access, paging, streams, and markup that works for keyboards and screen readers."""

from __future__ import annotations

import asyncio
import base64
import re
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

import windlass.control.web.stream as stream
from tests.control.journals import decision, fill
from windlass.agent.options import Address
from windlass.agent.token import Token
from windlass.control.journal import (
    ActionRecord,
    DecisionRecord,
    EngineStatus,
    EventRecord,
    JobKey,
    JournalReader,
    JournalWriter,
    PredictionRecord,
    ViewRecord,
)
from windlass.control.site_status import HeldCores, JobState, MachineState, SiteStatus, status_text
from windlass.control.web.access import PageAccess, check_access
from windlass.control.web.app import PagesApp
from windlass.control.web.html import Markup, joined, tag
from windlass.control.web.pages import PAGES
from windlass.control.web.pages.layout import table
from windlass.model import InputError

EVIL = "<script>alert('1')</script><img src=x onerror=\"alert(2)\">&amp;"
STATIC = Path(stream.__file__).parent / "static"


@dataclass
class Answer:
    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""

    @property
    def text(self) -> str:
        return self.body.decode("utf-8")


async def call(
    app: PagesApp,
    target: str,
    method: str = "GET",
    headers: dict[str, str] | None = None,
    body: bytes = b"",
) -> Answer:
    """Send one request to the application, and return the complete answer."""
    found, parts = Answer(), urlsplit(target)
    given = {"host": "localhost:8090"} | (headers or {})
    scope = {
        "type": "http",
        "method": method,
        "path": parts.path,
        "query_string": parts.query.encode(),
        "headers": [(name.encode(), value.encode()) for name, value in given.items()],
    }

    async def receive():
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message):
        if message["type"] == "http.response.start":
            found.status = message["status"]
            found.headers = {name.decode(): value.decode() for name, value in message["headers"]}
        else:
            found.body += message["body"]

    await app(scope, receive, send)
    return found


def ask(app: PagesApp, target: str, method: str = "GET", **headers: str) -> Answer:
    return asyncio.run(call(app, target, method, headers))


def app_of(reader: JournalReader, access: PageAccess | None = None, clients: int | None = None) -> PagesApp:
    return PagesApp(reader, access or PageAccess(None), lambda: 1000.0, lambda: 0.0, clients)


@pytest.fixture
def evil(tmp_path):
    """Pages of a journal in which every text is an attack."""
    job = JobState(EVIL, EVIL, 1.0, 4, EVIL)
    machine = MachineState(EVIL, "up", 4, 2, 0.5)
    state = SiteStatus((job,), (job,), 1, 1, 4, 2, (HeldCores(EVIL, 2),), (machine,), EVIL)
    key = JobKey(EVIL, EVIL, EVIL)
    with JournalWriter(tmp_path / "journal.db") as journal:
        journal.append(
            DecisionRecord(1.0, key, EVIL, EVIL, EVIL, EVIL),
            EventRecord(1.0, key, EVIL, EVIL),
            EventRecord(1.0, key, "error", EVIL),
            PredictionRecord(1.0, key, 2.0, 3.0, 4.0, 5.0, 0.9, 0, first=True),
            ViewRecord(1.0, EVIL, EVIL, status_text(state)),
            EngineStatus(EVIL, EVIL, 1.0, EVIL, EVIL),
        )
        journal.intend_action(ActionRecord(EVIL, 1.0, key, EVIL, EVIL, EVIL))
    with JournalReader(tmp_path / "journal.db") as reader:
        yield app_of(reader)


class Elements(HTMLParser):
    """The elements of a page, with their attributes; fails for an element that is not closed in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self._open: list[str] = []
        self.feed(text)
        assert self._open == []

    def handle_starttag(self, tag, attrs):
        assert len({name for name, _ in attrs}) == len(attrs)
        self.found.append((tag, dict(attrs)))
        if tag not in ("meta", "link", "input", "br"):
            self._open.append(tag)

    def handle_endtag(self, tag):
        assert self._open.pop() == tag

    def of(self, name: str) -> list[dict[str, str | None]]:
        return [attributes for each, attributes in self.found if each == name]


@pytest.mark.parametrize(
    "target",
    [
        *PAGES,
        "/when?job=%3Cscript%3E",
        "/decisions?job=%3Cscript%3E",
        "/decisions?engine=%22%3E%3Cscript%3E&site=a",
    ],
)
def test_no_text_of_a_journal_becomes_an_element(evil, target):
    answer = ask(evil, target)
    assert answer.status == 200
    page = Elements(answer.text)
    assert page.of("script") == [{"src": "/static/live.js", "defer": None}]
    assert page.of("img") == []
    for _, attributes in page.found:
        assert not [name for name in attributes if name.startswith("on") or name == "style"]
        for url in (attributes.get("href"), attributes.get("src")):
            assert url is None or re.match(r"(/|#main$)", url)
    if target not in ("/machines", "/what-if", "/last-day") and "?" not in target:
        assert "&lt;script&gt;" in answer.text


@pytest.mark.parametrize("target", PAGES)
def test_pages_have_landmarks_labels_and_a_heading(evil, target):
    page = Elements(ask(evil, target).text)
    assert page.of("html") == [{"lang": "en"}]
    assert [each["id"] for each in page.of("main")] == ["main"]
    assert len(page.of("h1")) == len(page.of("header")) == len(page.of("footer")) == 1
    assert page.of("a")[0]["href"] == "#main"
    assert all(each.get("aria-label") for each in page.of("nav"))
    assert [each["href"] for each in page.of("a") if each.get("aria-current") == "page"] == [target]
    labelled = {each["for"] for each in page.of("label")}
    assert {each["id"] for each in page.of("select") + page.of("input")} <= labelled
    ids = [attributes["id"] for _, attributes in page.found if "id" in attributes]
    assert len(set(ids)) == len(ids)
    for head in page.of("th"):
        assert head["scope"] == "col"


@pytest.mark.parametrize(
    "target", [*PAGES, "/static/style.css", "/static/live.js", "/static/icon.svg", "/none"]
)
def test_every_answer_has_the_security_headers(evil, target):
    answer = ask(evil, target)
    assert answer.headers["content-security-policy"].startswith("default-src 'self'; ")
    assert "unsafe" not in answer.headers["content-security-policy"]
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["cache-control"] == "no-store"
    assert answer.status == (404 if target == "/none" else 200)
    assert ask(evil, target, "HEAD").body == b""
    assert ask(evil, target, "HEAD").headers == answer.headers


def test_the_script_is_short_and_loads_nothing_from_elsewhere():
    script = (STATIC / "live.js").read_text(encoding="utf-8")
    assert len(script.splitlines()) <= 100
    assert not re.search(r"https?:|innerHTML|eval\(", script)
    style = (STATIC / "style.css").read_text(encoding="utf-8")
    assert "prefers-color-scheme: dark" in style
    assert ":focus-visible" in style
    assert not re.search(r"url\(|@import", style)


@pytest.mark.matrix(0)
@given(text=st.text())
def test_escaped_text_is_parsed_back_as_the_same_text(text):
    data = []

    class Reader(HTMLParser):
        def handle_data(self, found):
            data.append(found)

        def handle_starttag(self, name, attributes):
            data.append((name, attributes))

    written = text.replace("\r", "").replace("\0", "")
    reader = Reader()
    reader.feed(tag("p", written, title=written))
    reader.close()
    assert data[0] == ("p", [("title", written)])
    assert "".join(data[1:]) == written


def test_only_markup_is_written_without_escaping():
    assert joined("<", Markup("<b>"), tag("i", "<")) == "&lt;<b><i>&lt;</i>"


@pytest.mark.parametrize(("length", "short"), [(45, True), (46, False)])
def test_a_long_cell_may_have_line_breaks_and_the_last_cell_always(length, short):
    row = (tag("a", "x" * length, href="/?job=a-long-address"), "y")
    text = table("Jobs", ("Job#", "Why"), [row], "None.")
    assert f'data-name="Job" class="{"number short" if short else "number"}"' in text
    assert '<td data-name="Why">y</td>' in text


@pytest.mark.parametrize(("columns", "few"), [(3, True), (4, False)])
def test_a_table_of_few_columns_is_as_wide_as_its_content(columns, few):
    text = table("Jobs", [f"c{number}" for number in range(columns)], [["x"] * columns], "None.")
    assert ('<table class="few">' in text) is few


def test_sites_of_one_name_in_two_engines_have_ids_of_their_own(tmp_path):
    state = status_text(SiteStatus((), (), 0, 0, machines=(MachineState("w1", "up", 4, 2),)))
    with JournalWriter(tmp_path / "journal.db") as journal:
        journal.append(*(ViewRecord(1.0, engine, "iowa", state) for engine in ("slurm", "demo")))
    with JournalReader(tmp_path / "journal.db") as reader:
        page = Elements(ask(app_of(reader), "/machines").text)
    assert sorted(each["id"] for each in page.of("details")) == [
        "machines-demo: iowa",
        "machines-slurm: iowa",
    ]


# PageAccess.


@pytest.mark.parametrize(
    "host",
    [
        "rebound.example",
        "localhost.example:8090",
        "",
        "localhost:x",
        "[::1",
        "localhost:8090:1",
        "10.0.0.1",
        "[::1]x",
    ],
)
def test_a_foreign_host_is_refused(evil, host):
    assert ask(evil, "/", host=host).status == 421


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:1", "127.0.0.1:8090", "[::1]:8090", "[::1]"])
def test_the_hosts_of_the_loopback_device_are_allowed(evil, host):
    assert ask(evil, "/", host=host).status == 200


@pytest.mark.parametrize(
    "origin",
    ["http://evil.example", "null", "http://localhost", "http://localhost:8090.evil.example", "file://"],
)
def test_a_foreign_origin_is_refused(evil, origin):
    for target in ("/", "/events"):
        assert ask(evil, target, origin=origin).status == 403


def test_the_own_origin_is_allowed(evil):
    assert ask(evil, "/", origin="http://localhost:8090").status == 200


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "get", "X" * 100])
def test_other_methods_are_refused(evil, method):
    assert ask(evil, "/", method).status == 405


def test_a_token_is_accepted_as_bearer_and_as_password(evil, tmp_path):
    secret = "0123456789abcdef"
    with JournalReader(tmp_path / "journal.db") as reader:
        app = app_of(reader, PageAccess(Token(secret)))

        def basic(text: str) -> str:
            return f"Basic {base64.b64encode(text.encode()).decode()}"

        for header in (f"Bearer {secret}", basic(f"ann:{secret}"), basic(f":{secret}")):
            assert ask(app, "/", authorization=header).status == 200
            # Behind a token, an address is as good as a name; a foreign name is not.
            assert ask(app, "/", authorization=header, host="10.0.0.1:8090").status == 200
            assert ask(app, "/", authorization=header, host="evil.example").status == 421
        for header in (
            "",
            f"Bearer {secret}x",
            basic(f"{secret}:"),
            "Basic !!!",
            "Basic",
            secret,
            basic(secret),
        ):
            answer = ask(app, "/", authorization=header)
            assert answer.status == 401
            assert answer.headers["www-authenticate"].startswith("Basic ")
        for target in ("/events", "/static/live.js", "/none"):
            assert ask(app, target).status == 401


@pytest.mark.parametrize("host", ["0.0.0.0", "10.0.0.1", "::"])
def test_an_address_of_other_machines_needs_a_token(host, tmp_path, monkeypatch):
    monkeypatch.delenv("WINDLASS_TOKEN", raising=False)
    with pytest.raises(InputError, match="reachable from other machines"):
        check_access(Address(host, 8090), None)
    file = tmp_path / "token"
    file.write_text("0123456789abcdef\n")
    file.chmod(0o600)
    assert check_access(Address(host, 8090), file) is not None
    file.chmod(0o644)
    with pytest.raises(InputError, match="readable by every user"):
        check_access(Address(host, 8090), file)


@pytest.mark.parametrize(
    "query",
    [
        "unknown=1",
        "job=a&job=b",
        "before=-1",
        "before=x",
        "before=99999999999999999999",
        "before=%D9%A3",
        "rows=0",
        "rows=501",
        "job=" + "a" * 201,
        "job=%00",
        "job=%ff",
        "a=" + "b" * 3000,
        "&".join(f"x{number}=1" for number in range(50)),
    ],
)
def test_a_malformed_query_is_refused(evil, query):
    assert 400 <= ask(evil, f"/decisions?{query}").status < 500


def test_a_journal_that_cannot_be_read_is_an_answer_of_one_line(evil, tmp_path):
    evil._reader.close()
    answer = ask(evil, "/")
    assert answer.status == 503
    assert answer.text.count("\n") == 1


# Paging.


def test_the_links_to_older_rows_lead_through_all_decisions(tmp_path):
    fill(tmp_path / "journal.db", 1_234)
    with JournalReader(tmp_path / "journal.db") as reader:
        app, target, found = app_of(reader), "/decisions?rows=100", []
        while target:
            answer = ask(app, target)
            found += re.findall(r">reason (\d+)<", answer.text)
            older = [each["href"] for each in Elements(answer.text).of("a") if "before=" in each["href"]]
            target = f"{older[0]}&rows=100" if older else ""
            assert len(older) <= 1
    assert list(map(int, found)) == list(reversed(range(1_234)))


def test_the_page_of_a_filter_has_its_rows_only(tmp_path):
    fill(tmp_path / "journal.db", 500)
    with JournalReader(tmp_path / "journal.db") as reader:
        answer = ask(app_of(reader), "/decisions?site=iowa&decision=share&rows=500")
    numbers = list(map(int, re.findall(r">reason (\d+)<", answer.text)))
    expected = [
        number
        for number in reversed(range(500))
        if decision(number).job.site == "iowa" and decision(number).decision == "share"
    ]
    assert numbers == expected
    assert '<option value="iowa" selected>' in answer.text


def test_the_latest_page_is_live_and_a_page_of_the_past_is_not(tmp_path):
    fill(tmp_path / "journal.db", 200)
    with JournalReader(tmp_path / "journal.db") as reader:
        app = app_of(reader)
        assert 'data-live="yes"' in ask(app, "/decisions").text
        assert 'data-live="no"' in ask(app, "/decisions?before=100").text


def test_pages_of_an_empty_journal_have_a_sentence(tmp_path):
    JournalWriter(tmp_path / "journal.db").close()
    with JournalReader(tmp_path / "journal.db") as reader:
        for target in PAGES:
            answer = ask(app_of(reader), target)
            assert (answer.status, 'class="empty"' in answer.text) == (200, True)


# Streams.


class Client:
    """A browser that is connected to the stream of events."""

    def __init__(self, app: PagesApp) -> None:
        self.messages: asyncio.Queue[bytes] = asyncio.Queue()
        self.status: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._gone = asyncio.Event()
        scope = {
            "type": "http",
            "method": "GET",
            "path": "/events",
            "query_string": b"",
            "headers": [(b"host", b"localhost")],
        }
        self._task = asyncio.create_task(app(scope, self._receive, self._send))

    async def _receive(self):
        await self._gone.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message):
        if message["type"] == "http.response.start":
            self.status.set_result(message["status"])
        else:
            self.messages.put_nowait(message["body"])

    async def leave(self) -> None:
        self._gone.set()
        await self._task


def test_a_client_is_notified_of_each_change(tmp_path, monkeypatch):
    monkeypatch.setattr(stream, "POLL", 0.005)

    async def run(journal: JournalWriter, app: PagesApp) -> None:
        client = Client(app)
        assert await client.status == 200
        assert await client.messages.get() == b"retry: 5000\n\n"
        for number in range(3):
            journal.append(decision(number))
            journal.flush()
            assert await asyncio.wait_for(client.messages.get(), 30.0) == b"event: change\ndata:\n\n"
        await client.leave()
        assert app.changes.clients == 0

    with JournalWriter(tmp_path / "journal.db") as journal:
        journal.append(decision(0))
        journal.flush()
        with JournalReader(tmp_path / "journal.db") as reader:
            asyncio.run(run(journal, app_of(reader)))


def test_streams_are_limited_and_a_client_that_leaves_makes_room(tmp_path):
    async def run(app: PagesApp) -> None:
        first, second = Client(app), Client(app)
        assert (await first.status, await second.status) == (200, 200)
        assert await Client(app).status == 429
        # Pages are answered while all streams are taken.
        assert (await call(app, "/")).status == 200
        await first.leave()
        third = Client(app)
        assert await third.status == 200
        await second.leave()
        await third.leave()
        assert app.changes.clients == 0

    JournalWriter(tmp_path / "journal.db").close()
    with JournalReader(tmp_path / "journal.db") as reader:
        asyncio.run(run(app_of(reader, clients=2)))


def test_a_stream_ends_after_its_time(tmp_path, monkeypatch):
    times = iter([0.0, 601.0])

    async def run(app: PagesApp) -> None:
        client = Client(app)
        assert await client.status == 200
        await client._task
        assert app.changes.clients == 0

    JournalWriter(tmp_path / "journal.db").close()
    with JournalReader(tmp_path / "journal.db") as reader:
        asyncio.run(run(PagesApp(reader, PageAccess(None), lambda: 0.0, lambda: next(times))))
