"use strict";
(() => {
  const { templates, charts, tables } = JSON.parse(document.getElementById("data").textContent);

  // A column is a list, or words by their place in a list of words.
  const unpacked = (column) => Array.isArray(column) ? column : column.at.map((i) => i === null ? null : column.of[i]);

  const rows = (columns) => {
    const names = Object.keys(columns);
    return columns[names[0]].map((_, i) =>
      Object.fromEntries(names.filter((name) => columns[name][i] !== null).map((name) => [name, columns[name][i]])));
  };

  const MARKS = {
    "circle": "M12 4a4 4 0 1 0 .01 0z", "square": "M8 4h8v8h-8z", "triangle-up": "M12 3l5 9h-10z",
    "diamond": "M12 2l5 6-5 6-5-6z", "cross": "M10 3h4v3h3v4h-3v3h-4v-3h-3v-4h3z", "triangle-down": "M7 4h10l-5 9z",
    "triangle-right": "M8 3l9 5-9 5z", "triangle-left": "M16 3l-9 5 9 5z",
  };

  const legend = (names, scales) => {
    const list = document.createElement("ul");
    list.className = "legend";
    names.forEach((name, i) => {
      const pick = (range) => range[i % range.length];
      const entry = document.createElement("li");
      entry.innerHTML = `<svg width="24" height="16" aria-hidden="true"><path d="M0 8h24" fill="none" stroke-width="2"
        stroke="${pick(scales.color)}" stroke-dasharray="${pick(scales.strokeDash)}"/><path d="${MARKS[pick(scales.shape)]}"
        fill="${pick(scales.color)}"/></svg>`;
      entry.append(name);
      list.append(entry);
    });
    return list;
  };

  // One order of series for colour, dash and shape; it is the legend's too.
  const order = (spec, names) => {
    const scales = {};
    for (const { encoding = {} } of spec.layer) {
      for (const channel of ["color", "strokeDash", "shape"]) {
        if (!encoding[channel]?.scale) continue;
        encoding[channel].scale.domain = names;
        scales[channel] = encoding[channel].scale.range;
      }
    }
    return scales;
  };

  const draw = (place) => {
    if (place.dataset.done) return Promise.resolve();
    place.dataset.done = "yes";
    const { t, v: packed, o } = charts[Number(place.dataset.chart)];
    const v = Object.fromEntries(Object.entries(packed).map(([name, column]) => [name, unpacked(column)]));
    const spec = structuredClone(templates[t]);
    spec.data = { values: rows(v) };
    // Liger comes first, so that it looks the same in every chart.
    const names = [...new Set(v.s.filter((name) => name !== null))]
      .sort((a, b) => b.startsWith("liger") - a.startsWith("liger") || (a < b ? -1 : 1));
    place.after(legend(names, order(spec, names)));
    // Ticks stand at the sizes that were measured.
    const sizes = [...new Set(v.x.filter((x) => typeof x === "number"))];
    if (sizes.length) for (const layer of spec.layer) if (layer.encoding?.x?.axis) layer.encoding.x.axis.values = sizes;
    // Runs keep their order even where a case has none in some of them.
    if (o) for (const layer of spec.layer) if (layer.encoding?.x) layer.encoding.x.sort = o;
    return vegaEmbed(place, spec, { actions: false, renderer: "svg", hover: false })
      .then(() => {
        // The place itself is the image and has the words; the table has the numbers.
        for (const part of place.querySelectorAll("[role], [aria-label], [aria-roledescription]")) {
          for (const name of ["role", "aria-label", "aria-roledescription"]) part.removeAttribute(name);
        }
      })
      .catch((error) => { place.textContent = `The chart could not be drawn: ${error.message}`; console.error(error); });
  };

  const cell = (row, name, text, attributes) => {
    const made = row.appendChild(document.createElement(name));
    made.textContent = text;
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  };

  // A table is made when somebody opens it: a year of nights has a hundred thousand cells.
  const fill = (details) => {
    if (details.dataset.done) return;
    details.dataset.done = "yes";
    const { h, r, c } = tables[Number(details.dataset.table)];
    const around = details.appendChild(document.createElement("div"));
    around.className = "scroll";
    around.setAttribute("role", "region");
    around.setAttribute("aria-label", c);
    around.tabIndex = 0;
    const table = around.appendChild(document.createElement("table"));
    const head = table.createTHead().insertRow();
    h.forEach((text, i) => cell(head, "th", text, i ? { scope: "col", class: "n" } : { scope: "col" }));
    const body = table.createTBody();
    for (const texts of r) {
      const row = body.insertRow();
      texts.forEach((text, i) => cell(row, i ? "td" : "th", text, i ? { class: "n" } : { scope: "row" }));
    }
  };
  for (const details of document.querySelectorAll("details[data-table]")) {
    details.addEventListener("toggle", () => { if (details.open) fill(details); });
  }

  const places = [...document.querySelectorAll(".chart")];
  const near = new IntersectionObserver((entries) => {
    for (const entry of entries) if (entry.isIntersecting) { near.unobserve(entry.target); draw(entry.target); }
  }, { rootMargin: "600px" });
  places.forEach((place) => near.observe(place));

  // Paper has no scrolling: what nobody has scrolled to yet is drawn while the page is idle, and before printing.
  const everything = () => Promise.all(places.map(draw));
  const idle = window.requestIdleCallback ?? ((then) => setTimeout(then, 50));
  const next = () => {
    const place = places.find((one) => !one.dataset.done);
    if (place) draw(place).then(() => idle(next));
  };
  idle(next);
  addEventListener("beforeprint", () => { everything(); });
  window.drawEverything = everything;
})();
