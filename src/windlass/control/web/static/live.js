// Fetches the page again when the journal has changed, and replaces its content. Without this script the pages work,
// and are updated by reloading.
"use strict";

const main = document.getElementById("main");
const status = document.getElementById("status");
const pause = document.getElementById("pause");
let paused = false;
let pending = false;
let busy = false;

function report(text) {
  if (status.textContent !== text) status.textContent = text;
}

// A form that was changed and not sent, typing in a field and selecting text are not interrupted.
function changed(field) {
  if (field.matches("select")) {
    // Without a chosen option, the browser shows the first one.
    const at = [...field.options].findIndex((each) => each.defaultSelected);
    return field.selectedIndex !== Math.max(at, 0);
  }
  return field.value !== field.defaultValue;
}

function occupied() {
  const fields = [...main.querySelectorAll("input, select")];
  const used = fields.some((each) => each === document.activeElement || changed(each));
  return used || !document.getSelection().isCollapsed;
}

// What identifies an element with the focus in the page before and after.
function nameOf(element) {
  return element.getAttribute("href") || element.parentElement.id || element.textContent;
}

async function refresh() {
  const wait = occupied();
  if (wait && !paused) report("Updates wait while a form is changed or text is selected.");
  if (busy || paused || wait || document.hidden) {
    pending = true;
    return;
  }
  busy = true;
  pending = false;
  try {
    const response = await fetch(location.href, { cache: "no-store" });
    if (!response.ok) throw new Error(`status ${response.status}`);
    const parsed = new DOMParser().parseFromString(await response.text(), "text/html");
    const open = new Set([...main.querySelectorAll("details[open]")].map((each) => each.id));
    const focused = document.activeElement !== main && main.contains(document.activeElement);
    const name = focused ? nameOf(document.activeElement) : null;
    main.replaceChildren(...parsed.getElementById("main").childNodes);
    for (const each of main.querySelectorAll("details")) each.open = open.has(each.id);
    if (focused) {
      const same = [...main.querySelectorAll("a, button, summary")].find((each) => nameOf(each) === name);
      if (same) same.focus({ preventScroll: true });
    }
    report("Updated automatically.");
  } catch (error) {
    report("The server cannot be reached; the page is not updated.");
    pending = true;
  } finally {
    busy = false;
  }
}

function connect() {
  const source = new EventSource("/events");
  source.addEventListener("change", refresh);
  source.addEventListener("open", () => report("Updated automatically."));
  source.addEventListener("error", () => {
    report("The server cannot be reached; the page is not updated.");
    // A refused stream is not opened again by the browser.
    if (source.readyState === EventSource.CLOSED) setTimeout(connect, 10000);
  });
}

if (document.body.dataset.live === "yes") {
  pause.hidden = false;
  pause.addEventListener("click", () => {
    paused = !paused;
    pause.setAttribute("aria-pressed", String(paused));
    report(paused ? "Updates are paused." : "Updated automatically.");
    if (!paused) refresh();
  });
  // What was postponed is fetched once the reader is done.
  setInterval(() => pending && refresh(), 2000);
  connect();
}
