"use strict";
// The heat map as a table with links, and as a picture for those who take it away.
(() => {
  const { h, s } = bench;

  const shown = (entry, isBase) => {
    if (entry.status) return { text: entry.status, shade: "failed", title: `${entry.status}: no repeat ended well` };
    if (entry.apart) return { text: "other work", shade: "apart", title: entry.apart };
    if (!entry.mean) return { text: entry.missing ?? "", shade: "none", title: entry.missing === "no base" ? "The baseline was not measured where this was" : "Not measured" };
    const { ratio, width, count } = entry.mean;
    const { name, beyond } = isBase ? { name: "base", beyond: false } : bench.shade(ratio, entry.higher);
    const open = !isBase && width > 0 && Math.abs(Math.log(ratio)) <= width;
    const low = ratio * Math.exp(-width), high = ratio * Math.exp(width);
    const interval = Number.isNaN(width) ? "no interval: a side has one repeat" : `95 % interval about ${bench.ratio(low)} to ${bench.ratio(high)}`;
    return {
      text: isBase ? "1" : bench.ratio(ratio), shade: open ? "open" : name, mark: !beyond ? "" : ratio > 1 ? "▲ " : "▼ ", open,
      title: isBase ? "The baseline" : `${interval}${open ? ", which includes 1" : ""}; ${bench.counted(count, "comparison")}${beyond ? "; beyond the scale of colours" : ""}`,
    };
  };

  // `grid` has rows and columns with texts, and a function of both codes that gives an entry; `to` gives an address.
  bench.heatMap = (grid) => {
    const cell = (entry, isBase, to, label) => {
      const { text, shade, title, mark, open } = shown(entry, isBase);
      const inside = [mark && h("span", { class: "mark", "aria-hidden": "true" }, mark), text, open && h("span", { class: "mark", "aria-hidden": "true" }, " ≈")];
      const link = to && text ? h("a", { href: to, "aria-label": `${label}: ${text}. ${title}` }, inside) : inside;
      return h("td", { class: `heat ${shade}`, title }, link);
    };
    return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": grid.caption },
      h("table", { class: "heat-map" }, h("caption", { class: "hidden" }, grid.caption),
        h("thead", {}, h("tr", {}, h("td", {}, grid.corner), grid.cols.map((col) => h("th", { scope: "col", class: col.code === grid.base ? "base" : null },
          h("button", { type: "button", title: "Compare all with this one", "aria-pressed": String(col.code === grid.base), onclick: () => bench.change({ base: col.value }) }, col.text),
          col.below && h("small", {}, col.below))), h("th", { scope: "col", class: "margin" }, "Geometric mean"))),
        h("tbody", {}, grid.rows.map((row) => h("tr", {}, h("th", { scope: "row" }, row.text, row.below && h("small", {}, row.below)),
          grid.cols.map((col) => cell(grid.entry(row.code, col.code), col.code === grid.base, grid.to(row, col), `${row.text}, ${col.text}`)),
          cell(grid.rowMean(row.code), false, null, "")))),
        h("tfoot", {}, h("tr", {}, h("th", { scope: "row" }, "Geometric mean"), grid.cols.map((col) => {
          const { entry, note } = grid.columnMean(col.code);
          const made = cell(entry, col.code === grid.base, null, "");
          if (note) made.append(h("small", {}, note));
          return made;
        }), h("td", {})))));
  };

  bench.heatPicture = (grid) => {
    const [left, top, wide, high] = [170, 64, 92, 30];
    const width = left + wide * (grid.cols.length + 1), height = top + high * (grid.rows.length + 1) + 8;
    const box = (x, y, entry, isBase) => {
      const { text, shade, mark = "", open } = shown(entry, isBase);
      return s("g", { class: `heat ${shade}` }, s("rect", { x: x + 1, y: y + 1, width: wide - 2, height: high - 2, rx: 3 }),
        s("text", { x: x + wide / 2, y: y + high / 2, "text-anchor": "middle", "dominant-baseline": "central" }, `${mark}${text}${open ? " ≈" : ""}`));
    };
    return s("svg", { viewBox: `0 0 ${width} ${height}`, width, height, class: "plot" },
      s("text", { x: 8, y: 20, class: "head" }, bench.shortened(grid.caption, 120)),
      grid.cols.map((col, place) => s("text", { x: left + wide * (place + 0.5), y: top - 10, "text-anchor": "middle" }, bench.shortened(col.text, 15))),
      s("text", { x: left + wide * (grid.cols.length + 0.5), y: top - 10, "text-anchor": "middle" }, "mean"),
      grid.rows.map((row, line) => [
        s("text", { x: left - 8, y: top + high * (line + 0.5), "text-anchor": "end", "dominant-baseline": "central" }, bench.shortened(row.text, 24)),
        grid.cols.map((col, place) => box(left + wide * place, top + high * line, grid.entry(row.code, col.code), col.code === grid.base)),
        box(left + wide * grid.cols.length, top + high * line, grid.rowMean(row.code), false),
      ]),
      s("text", { x: left - 8, y: top + high * (grid.rows.length + 0.5), "text-anchor": "end", "dominant-baseline": "central" }, "mean"),
      grid.cols.map((col, place) => box(left + wide * place, top + high * grid.rows.length, grid.columnMean(col.code).entry, col.code === grid.base)));
  };

  bench.heatLegend = (higher) => {
    const [one, other] = [bench.steps.map((step) => `≥ ${step}×`), bench.steps.map((step) => `≤ 1/${step}×`)];
    const worse = (higher ? other : one).map((text, place) => [`worse-${place + 1}`, text]).reverse();
    const better = (higher ? one : other).map((text, place) => [`better-${place + 1}`, text]);
    return h("ul", { class: "legend heat-legend" }, h("li", {}, "worse"),
      [...worse, ["even", "even"], ...better].map(([shade, text]) => h("li", {}, h("span", { class: `heat ${shade}` }, text))), h("li", {}, "better"),
      h("li", {}, h("span", { class: "heat open" }, "≈"), " interval includes 1"), h("li", {}, "▲▼ beyond 4×"));
  };
})();
