"use strict";
(() => {
  const { templates, charts } = JSON.parse(document.getElementById("data").textContent);

  const rows = (columns) => {
    const names = Object.keys(columns);
    return columns[names[0]].map((_, i) =>
      Object.fromEntries(names.filter((name) => columns[name][i] !== null).map((name) => [name, columns[name][i]])));
  };

  const draw = (place) => {
    if (place.dataset.done) return Promise.resolve();
    place.dataset.done = "yes";
    const { t, v, o } = charts[Number(place.dataset.chart)];
    const spec = structuredClone(templates[t]);
    spec.data = { values: rows(v) };
    spec.description = place.dataset.label;
    // Runs keep their order even where a case has none in some of them.
    if (o) for (const layer of spec.layer) if (layer.encoding?.x) layer.encoding.x.sort = o;
    return vegaEmbed(place, spec, { actions: false, renderer: "svg", hover: false })
      .catch((error) => { place.textContent = `The chart could not be drawn: ${error.message}`; console.error(error); });
  };

  const places = [...document.querySelectorAll(".chart")];
  const near = new IntersectionObserver((entries) => {
    for (const entry of entries) if (entry.isIntersecting) { near.unobserve(entry.target); draw(entry.target); }
  }, { rootMargin: "600px" });
  places.forEach((place) => near.observe(place));

  // Paper has no scrolling: draw everything and open what is folded before printing.
  const everything = () => Promise.all(places.map(draw));
  addEventListener("beforeprint", () => { everything(); });
  window.drawEverything = everything;
})();
