"""The pages in a real browser, narrow and wide: nothing overflows, and no name of a column covers a value."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from html import unescape

import pytest

from tests.control.test_web import STATIC, app_of, ask
from windlass.control.journal import (
    ActRecord,
    DecisionRecord,
    EngineStatus,
    EventRecord,
    JobKey,
    JournalReader,
    JournalWriter,
    PredictionRecord,
    ViewRecord,
)
from windlass.control.site_status import (
    HeldCores,
    JobState,
    MachineState,
    PastJob,
    QueueStatus,
    SiteStatus,
    status_text,
)
from windlass.control.web.pages import PAGES

CHROMIUM = shutil.which("chromium")
_FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking")
LONG = "a-name-of-sixty-three-characters-as-kubernetes-allows-for-a-job"
KEY = JobKey("slurm", LONG, LONG)
NOW = 1.8e9

#: The title becomes what is wrong: elements beyond the right edge, and cells whose name of a column covers the value.
_PROBE = """
<script>
addEventListener("load", () => {
  for (const each of document.querySelectorAll("details")) each.open = true;
  const wide = document.documentElement.clientWidth;
  const beyond = [...document.querySelectorAll("body *")].filter((each) =>
    !each.closest("thead, datalist, .skip") && each.getBoundingClientRect().right > wide + 1);
  const covered = [...document.querySelectorAll("td")].filter((each) => {
    const name = getComputedStyle(each, "::before"), room = parseFloat(getComputedStyle(each).paddingLeft);
    return name.content !== "none" && (name.position === "absolute" || parseFloat(name.width) > room);
  });
  const aside = [...document.querySelectorAll("td")].filter((each) =>
    wide <= 800 && getComputedStyle(each).textAlign === "right");
  const named = (each) => `${each.tagName} ${each.dataset.name ?? ""} ${each.textContent.slice(0, 30)}`;
  document.title = JSON.stringify({ beyond: beyond.map(named), covered: covered.map(named),
    aside: aside.map(named), narrow: wide <= 800 });
});
</script>
"""


@pytest.fixture
def app(tmp_path):
    """Pages of a journal in which all names are long."""
    job = JobState(LONG, "batch job", NOW - 90.0, 4, f"first in the queue; {LONG} is drained", 3600.0)
    queue = QueueStatus("easy", {}, 4, (PastJob(NOW - 90.0, NOW - 80.0, NOW - 20.0, 4, 3600.0),))
    machine = MachineState(LONG, "reserved for maintenance", 4096, 2048, 0.5)
    state = SiteStatus((job,), (job,), 1, 1, 4096, 2048, (HeldCores(LONG, 2048),), (machine,), LONG, queue)
    policy = f"/home/ann/{LONG}/policies/longest_first.py"
    with JournalWriter(tmp_path / "journal.db") as journal:
        journal.append(
            DecisionRecord(NOW, KEY, "order", policy, f"share the cores of {LONG}, quota 20 %", LONG),
            EventRecord(NOW, KEY, "submitted", LONG),
            EventRecord(NOW, KEY, "error", f"cannot reach https://{LONG}.example:6443/apis/batch/v1/jobs"),
            PredictionRecord(NOW, KEY, NOW + 2.0, NOW + 3.0, NOW + 4.0, NOW + 5.0, 0.9, 0, first=True),
            ViewRecord(NOW, "slurm", LONG, status_text(state)),
            EngineStatus("slurm", "unreachable", NOW, f"Slurm, order by {policy}; drives the queue", LONG),
        )
        assert journal.intend(ActRecord(f"{KEY} release", NOW, KEY, "release"))
    with JournalReader(tmp_path / "journal.db") as reader:
        yield app_of(reader)


#: The journal changes while the focus is in the page, and while a form is changed and not sent.
_UPDATES = """
<script>
let journalChanged;
window.EventSource = class { addEventListener(kind, call) { if (kind === "change") journalChanged = call; } };
window.fetch = async () => ({ ok: true, text: async () => "<main id='main'>" + document.fresh + "</main>" });
const found = {};
addEventListener("load", async () => {
  const status = document.getElementById("status");
  document.fresh = main.innerHTML + "<p>fresh</p>";
  const update = async () => { await journalChanged(); return main.innerHTML.endsWith("<p>fresh</p>"); };
  main.querySelector("button").focus();
  found.button = [await update(), document.activeElement.textContent];
  document.fresh = `<details id="a" open><summary>one</summary></details>
    <details id="b"><summary>one</summary></details>` + main.innerHTML;
  await journalChanged();
  document.querySelector("#b summary").focus();
  found.summary = [await update(), document.activeElement.parentElement.id];
  document.activeElement.blur();
  main.querySelector("select").selectedIndex = 1;
  document.fresh += "<i></i>";
  found.select = [await update(), main.querySelector("select").selectedIndex, status.textContent];
  main.querySelector("select").selectedIndex = 0;
  main.querySelector("input").value = "batch/1";
  await journalChanged();
  found.input = [main.querySelector("i") === null, main.querySelector("input").value];
  main.querySelector("input").value = "";
  await journalChanged();
  found.after = [main.querySelector("i") === null, status.textContent];
  document.title = JSON.stringify(found);
});
</script>
"""


def opened(file, folder, width=1280):
    """Open a page, and return its title as JSON, which its scripts have set; the console stays empty."""
    flags = (*_FLAGS, "--virtual-time-budget=8000", "--enable-logging=stderr", "--v=0", "--dump-dom")
    command = [
        str(CHROMIUM),
        *flags,
        f"--user-data-dir={folder}",
        f"--window-size={width},900",
        file.as_uri(),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    assert "CONSOLE" not in done.stderr, done.stderr
    title = re.search("<title>(.*?)</title>", done.stdout)
    assert title is not None
    return json.loads(unescape(title[1]))


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")
@pytest.mark.parametrize("width", [500, 1280])
def test_nothing_overflows_and_no_name_covers_a_value(app, tmp_path, width):
    targets = (
        *PAGES,
        f"/when?job={LONG}",
        f"/decisions?job={LONG}",
        "/what-if?policy=sjf&procs=8",
        "/?rows=0",
    )
    style = (STATIC / "style.css").read_text(encoding="utf-8")
    found = {}
    for number, target in enumerate(targets):
        text = ask(app, target).text
        text = re.sub("<link rel=.stylesheet.[^>]*>", lambda _: f"<style>{style}</style>", text)
        text = re.sub("<script src=.*?</script>", lambda _: _PROBE, text)
        file = tmp_path / f"{number}.html"
        file.write_text(text, encoding="utf-8")
        found[target] = opened(file, tmp_path / "profile", width)
    assert found == {
        target: {"beyond": [], "covered": [], "aside": [], "narrow": width <= 800} for target in targets
    }


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")
def test_an_update_keeps_the_focus_and_waits_for_a_changed_form(app, tmp_path):
    script = f"<script>{(STATIC / 'live.js').read_text(encoding='utf-8')}</script>"
    text = re.sub("<script src=.*?</script>", lambda _: _UPDATES, ask(app, "/decisions").text)
    file = tmp_path / "page.html"
    file.write_text(text.replace("</body>", f"{script}</body>"), encoding="utf-8")
    found = opened(file, tmp_path / "profile")
    waits = "Updates wait while a form is changed or text is selected."
    assert found == {
        "button": [True, "Filter"],
        "summary": [True, "b"],
        "select": [True, 1, waits],
        "input": [True, "batch/1"],
        "after": [False, "Updated automatically."],
    }
