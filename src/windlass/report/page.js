"use strict";
(() => {
  const inks = JSON.parse(document.getElementById("inks").textContent);
  // Figures by key, once they are unpacked.
  let plots = null;
  const prefersDark = window.matchMedia("(prefers-color-scheme: dark)");
  const touch = window.matchMedia("(pointer: coarse)").matches;
  const hidden = new Set();
  // The variant of plots that show one at a time.
  let chosen = 0;

  // Figures have the colours of the light theme; the dark theme replaces each colour and keeps its opacity.
  const themed = (part, dark) => {
    if (typeof part === "string") {
      const ink = dark && part.length < 10 && inks[part.slice(0, 7)];
      return ink ? ink + part.slice(7) : part;
    }
    if (Array.isArray(part)) return part.map((each) => themed(each, dark));
    if (part === null || typeof part !== "object") return part;
    return Object.fromEntries(Object.entries(part).map(([key, each]) => [key, themed(each, dark)]));
  };

  const config = {
    displayModeBar: false, displaylogo: false, responsive: true, scrollZoom: false,
    doubleClick: "reset", showTips: false,
  };

  const draw = (dark) => {
    for (const [key, plot] of Object.entries(plots)) {
      const { data, layout } = themed(plot, dark);
      const one = layout.meta && layout.meta.one_variant;
      for (const trace of data) trace.visible = one ? trace.meta === chosen : !hidden.has(trace.meta);
      // Dragging on a touch screen scrolls the page.
      if (touch) layout.dragmode = false;
      Plotly.react(key, data, { ...layout, autosize: true }, config);
    }
  };
  const redraw = () => plots && draw(prefersDark.matches);

  // The library and the figures are compressed, which makes the page a fraction as large.
  const inflate = (id) => {
    const bytes = Uint8Array.from(atob(document.getElementById(id).textContent), (each) => each.charCodeAt(0));
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
  };
  const unpack = async () => {
    const [library, figures] = await Promise.all(["library", "plots"].map(inflate));
    const script = document.createElement("script");
    script.textContent = library;
    document.head.append(script);
    plots = JSON.parse(figures);
    redraw();
  };

  for (const button of document.querySelectorAll(".legend button")) {
    button.addEventListener("click", () => {
      const variant = Number(button.dataset.variant);
      if (!hidden.delete(variant)) hidden.add(variant);
      button.setAttribute("aria-pressed", String(!hidden.has(variant)));
      redraw();
    });
  }

  // A click on a column's head sorts the rows, names upwards and numbers downwards; another click reverses them.
  const keyOf = (row, column) => {
    const shown = row.cells[column].title || row.cells[column].textContent;
    const value = Number.parseFloat(shown.replaceAll(",", "").replace("−", "-"));
    return Number.isNaN(value) ? shown : value;
  };
  const compare = (one, other) =>
    typeof one === "number" && typeof other === "number" ? one - other : String(one).localeCompare(String(other));
  for (const head of document.querySelectorAll("table.sortable thead th")) {
    const button = document.createElement("button");
    button.type = "button";
    button.title = "sort";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const rows = [...head.closest("table").tBodies[0].rows];
      const before = head.getAttribute("aria-sort");
      const numbers = rows.every((row) => typeof keyOf(row, head.cellIndex) === "number");
      const up = before ? before === "descending" : !numbers;
      rows.sort((one, other) => (up ? 1 : -1) * compare(keyOf(one, head.cellIndex), keyOf(other, head.cellIndex)));
      rows[0].parentNode.append(...rows);
      for (const each of head.parentNode.cells) each.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
    });
  }

  const menus = document.querySelectorAll(".choose select");
  for (const menu of menus) {
    menu.addEventListener("change", () => {
      chosen = Number(menu.value);
      for (const each of menus) each.value = menu.value;
      redraw();
    });
  }

  unpack().catch((error) => {
    const note = document.createElement("p");
    note.setAttribute("role", "alert");
    note.textContent = `The figures need a browser of 2023 or later: ${error}`;
    document.body.prepend(note);
  });
  prefersDark.addEventListener("change", redraw);
  // Printing needs the light theme and the width of the paper.
  const resize = () => Object.keys(plots).forEach((key) => Plotly.Plots.resize(key));
  window.matchMedia("print").addEventListener("change", (print) => {
    if (!plots) return;
    draw(prefersDark.matches && !print.matches);
    resize();
  });
  window.addEventListener("beforeprint", () => {
    for (const folded of document.querySelectorAll("details")) folded.open = true;
  });
})();
