"use strict";
// The frame of every figure: a title, a picture that follows the width, and ways to take it away.
(() => {
  const { h } = bench;

  // `draw` returns an SVG for a width. `picture` draws one for the exports of a figure that is a table on the page.
  bench.frame = ({ title, note = "", draw = null, table = null, picture = null, wide = false, csv, command }) => {
    const said = h("output", { class: "said" });
    const place = h("div", { class: "drawing" }, table);
    let drawn = null;
    let timer = null;
    const name = title.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "").slice(0, 60) || "figure";
    const taken = (kind, text) => async () => {
      try { said.textContent = await bench.copied(kind, await text(), name); } catch (error) { said.textContent = error.message; }
      clearTimeout(timer);
      timer = setTimeout(() => { said.textContent = ""; }, 4000);
    };
    const vector = async () => {
      if (drawn) return bench.standalone(drawn);
      await bench.library();
      const made = picture(900);
      const hidden = h("div", { class: "aside" }, made);
      document.body.append(hidden);
      try { return bench.standalone(made); } finally { hidden.remove(); }
    };
    const ways = [["PNG", vector], ["SVG", vector], ["CSV", () => bench.csv(csv())], ["command", () => `${command()}\n`]];
    const tools = h("div", { class: "take", role: "group", "aria-label": `Copy: ${title}` }, "Copy ",
      ways.map(([kind, text]) => h("button", { type: "button", onclick: taken(kind, text) }, kind)), said);
    const figure = h("figure", { class: wide ? "wide" : null }, h("figcaption", {}, title), tools, note && h("p", { class: "about" }, note), place);
    if (draw) {
      let width = 0;
      const again = () => {
        const now = Math.floor(place.clientWidth);
        if (!now || now === width) return;
        width = now;
        drawn = draw(now);
        place.replaceChildren(drawn);
      };
      new ResizeObserver(again).observe(place);
    }
    return figure;
  };

  // As wide as two periods of the longest dash, so that each can be told from the others.
  bench.legend = (entries) => h("ul", { class: "legend" }, entries.map(({ text, look, kind = "line" }) => {
    const width = kind === "line" ? 44 : 16;
    return h("li", {}, bench.s("svg", { viewBox: `0 0 ${width} 12`, width, height: 12, "aria-hidden": "true", class: look.series },
      kind === "line" && bench.s("line", { x1: 0, x2: width, y1: 6, y2: 6, stroke: "currentColor", "stroke-width": 2, "stroke-dasharray": look.dash }),
      bench.s("path", { transform: `translate(${width / 2} 6)`, d: d3.symbol(bench.shape(look), 44)(), fill: "currentColor" })), text);
  }));
})();
