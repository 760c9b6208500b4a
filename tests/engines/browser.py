"""Chromium, driven over a pipe: pages that update themselves are read as a person sees them."""

from __future__ import annotations

import base64
import fcntl
import itertools
import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from windlass.engines.slurm.daemons import wait_until

#: Timeout (s) on a machine with other work.
PATIENCE = 300.0
_FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
)
#: The least number of a file descriptor that is given to the shell.
_ABOVE = 10
#: Returns the text that a person sees.
VISIBLE = "document.getElementById('main').innerText"


class BrowserError(RuntimeError):
    """The browser refuses a call."""


class Browser:
    """A running Chromium. Its protocol goes over file descriptors 3 and 4, so it listens nowhere."""

    def __init__(self, program: str, folder: Path) -> None:
        (calls, self._out), (self._in, answers) = os.pipe(), os.pipe()
        # Above those that the shell sets.
        ends = [fcntl.fcntl(each, fcntl.F_DUPFD_CLOEXEC, _ABOVE) for each in (calls, answers)]
        command = 'exec "$@" 3<&{0} 4>&{1} {0}<&- {1}>&-'.format(*ends)
        self.process = subprocess.Popen(
            ["bash", "-c", command, "chromium", program, *_FLAGS, f"--user-data-dir={folder}", "about:blank"],
            pass_fds=ends,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for each in (calls, answers, *ends):
            os.close(each)
        self._numbers, self._buffer = itertools.count(1), b""
        #: What scripts and the network have reported as wrong.
        self.messages: list[str] = []

    def send(self, method: str, session: str | None = None, **parameters: object) -> Any:
        """Call a method and return its result; messages that arrive meanwhile are kept."""
        number = next(self._numbers)
        call = {"id": number, "method": method, "params": parameters}
        if session is not None:
            call["sessionId"] = session
        text = json.dumps(call).encode() + b"\0"
        while text:
            text = text[os.write(self._out, text) :]
        while True:
            found = self._next()
            if found.get("id") == number:
                if "error" in found:
                    raise BrowserError(f"{method}: {found['error']['message']}")
                return found["result"]
            self._note(found)

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            more = os.read(self._in, 1 << 16)
            assert more, "the browser has ended"
            self._buffer += more
        line, _, self._buffer = self._buffer.partition(b"\0")
        found: dict[str, Any] = json.loads(line)
        return found

    def _note(self, found: dict[str, Any]) -> None:
        if found.get("method") in ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded"):
            self.messages.append(json.dumps(found["params"]))

    def page(self, url: str) -> Page:
        """Open a page in a window of its own."""
        target = self.send("Target.createTarget", url=url, newWindow=True)["targetId"]
        session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.send(f"{domain}.enable", session)
        return Page(self, session)

    def close(self) -> None:
        """End it."""
        if self.process.poll() is None:
            os.write(self._out, b'{"id":0,"method":"Browser.close"}\0')
        try:
            self.process.wait(PATIENCE)
        finally:
            if self.process.poll() is None:
                self.process.kill()
                self.process.wait()
            os.close(self._out)
            os.close(self._in)


class Page:
    """An open page."""

    def __init__(self, browser: Browser, session: str) -> None:
        self._browser, self._session = browser, session

    def value(self, expression: str) -> Any:
        """Return the value of an expression in the page."""
        answer = self._browser.send(
            "Runtime.evaluate", self._session, expression=expression, returnByValue=True, awaitPromise=True
        )
        return answer["result"].get("value")

    def go(self, url: str) -> None:
        """Go to another page."""
        self._browser.send("Page.navigate", self._session, url=url)

    def until(self, pattern: str, script: str = VISIBLE) -> str:
        """Wait until the text that a script returns, the visible one, matches without a reload, and return it."""
        found = [""]

        def matches() -> bool:
            # Between two pages there is none.
            with suppress(BrowserError):
                found[0] = str(self.value(script))
            return re.search(pattern, found[0], re.DOTALL) is not None

        assert wait_until(matches, PATIENCE), f"{pattern!r} is not in {found[0]!r}"
        return found[0]

    def shot(self, file: Path, width: int, dark: bool = False) -> None:
        """Write a picture of the whole page as it is on a screen of a width, in pixels."""
        send = self._browser.send
        scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        send("Emulation.setEmulatedMedia", self._session, features=scheme)
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        send("Emulation.setDeviceMetricsOverride", self._session, **size)
        picture = send("Page.captureScreenshot", self._session, captureBeyondViewport=True)["data"]
        file.write_bytes(base64.b64decode(picture))
        send("Emulation.clearDeviceMetricsOverride", self._session)


@contextmanager
def chromium(folder: Path) -> Iterator[Browser]:
    """Run a browser; skips where it is not installed."""
    program = shutil.which("chromium")
    if program is None:
        pytest.skip("chromium is not installed")
    browser = Browser(program, folder)
    try:
        yield browser
    finally:
        browser.close()
