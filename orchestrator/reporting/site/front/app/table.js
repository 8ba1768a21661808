"use strict";
// Tables that scroll within the page and sort by their heads.
(() => {
  const { h } = bench;
  const order = (a, b) => {
    const unknown = (value) => value === null || value === undefined || value === "" || Number.isNaN(value);
    if (unknown(a) || unknown(b)) return unknown(a) - unknown(b);
    return typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), "en", { numeric: true });
  };

  // Several tables of one caption are told apart by their numbers.
  const unique = (name) => {
    const number = (bench.labels.get(name) ?? 0) + 1;
    bench.labels.set(name, number);
    return number === 1 ? name : `${name}, ${number}`;
  };
  bench.labels = new Map();

  // Each column has a head and a function of a row: `text` for what is shown, `sort` for its value. `most` rows are
  // drawn at first: a browser takes longer for a row than for the figures of a hundred.
  bench.table = (caption, columns, rows, { most = 200, name = null, empty = "Nothing here.", quiet = false } = {}) => {
    if (!rows.length) return h("p", { class: "note" }, empty);
    const label = unique(name ?? caption);
    let shown = most;
    let sorted = null;
    const body = h("tbody");
    const more = h("p", { class: "more" });
    const heads = columns.map((column, place) => h("th", { scope: "col", class: column.number ? "number" : null },
      column.sort ? h("button", { type: "button", onclick: () => sortBy(place) }, column.head) : column.head));
    const value = (row, column) => column.sort(row);
    const draw = () => {
      bench.replace(body, rows.slice(0, shown).map((row) => h("tr", {}, columns.map((column, place) =>
        place === 0 ? h("th", { scope: "row" }, column.text(row)) : h("td", { class: column.number ? "number" : column.when ? "when" : null }, column.text(row))))));
      bench.replace(more, rows.length > shown && [`${bench.number(shown)} of ${bench.number(rows.length)} rows. `,
        h("button", { type: "button", onclick: () => { shown += 1000; draw(); } }, "Show more")]);
    };
    const sortBy = (place) => {
      const column = columns[place];
      const sign = sorted === place ? -1 : 1;
      sorted = sign === 1 ? place : null;
      const first = column.number && sign === 1 ? -1 : 1;
      const keyed = rows.map((row) => [value(row, column), row]);
      keyed.sort(([a], [b]) => {
        const known = order(a, b);
        const missing = [a, b].some((each) => each === null || each === undefined || each === "" || Number.isNaN(each));
        return missing ? known : known * sign * first;
      });
      rows = keyed.map(([, row]) => row);
      heads.forEach((head, other) => other === place
        ? head.setAttribute("aria-sort", sign * first === 1 ? "ascending" : "descending") : head.removeAttribute("aria-sort"));
      draw();
    };
    draw();
    return [h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": label },
      h("table", {}, h("caption", { class: quiet ? "hidden" : null }, caption), h("thead", {}, h("tr", {}, heads)), body)), more];
  };
})();
