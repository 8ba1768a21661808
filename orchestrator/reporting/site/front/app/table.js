"use strict";
// Tables that scroll within the page and sort by their heads.
(() => {
  const { h } = bench;
  const isUnknown = (value) => value === null || value === undefined || value === "" || Number.isNaN(value);
  const order = (a, b) => typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), "en", { numeric: true });

  // Several tables of one caption are told apart by their numbers.
  const unique = (name) => {
    const number = (bench.labels.get(name) ?? 0) + 1;
    bench.labels.set(name, number);
    return number === 1 ? name : `${name}, ${number}`;
  };
  bench.labels = new Map();

  // The order of a table and the number of its rows are in the address: `sort=Ratio`, or `sort=-Ratio` from the largest
  // on, and `shown=1200`. The second table of a view has `sort2` and `shown2`.
  const TABLES = Symbol("tables");
  const inAddress = () => {
    const number = (bench.labels.get(TABLES) ?? 0) + 1;
    bench.labels.set(TABLES, number);
    const [sort, shown] = ["sort", "shown"].map((name) => number === 1 ? name : `${name}${number}`);
    const { values } = bench.place();
    const put = (name, value) => {
      const now = bench.place();
      history.replaceState(null, "", bench.address(now.path, { ...now.values, [name]: value }));
    };
    const [, sign, head] = /^(-?)(.*)$/s.exec(values[sort] ?? "");
    return {
      head, isDown: sign === "-", shown: Number.parseInt(values[shown], 10) || 0,
      putOrder: (by, isDown) => put(sort, `${isDown ? "-" : ""}${by}`), putShown: (rows) => put(shown, rows),
    };
  };
  // Another view has other tables.
  bench.withoutTables = (values) => Object.fromEntries(Object.entries(values).filter(([name]) => !/^(sort|shown)\d*$/.test(name)));

  // Each column has a head and a function of a row: `text` for what is shown, `sort` for its value. `most` rows are
  // drawn at first: a browser takes longer for a row than for the figures of a hundred.
  bench.table = (caption, columns, rows, { most = 200, name = null, empty = "Nothing here.", quiet = false } = {}) => {
    if (!rows.length) return h("p", { class: "note" }, empty);
    const label = unique(name ?? caption);
    const asked = inAddress();
    let shown = Math.max(most, asked.shown);
    let sorted = null;
    const body = h("tbody");
    const more = h("p", { class: "more" });
    const heads = columns.map((column, place) => h("th", { scope: "col", class: column.number ? "number" : null },
      column.sort ? h("button", { type: "button", onclick: () => turn(place) }, column.head) : column.head));
    const draw = () => {
      bench.replace(body, rows.slice(0, shown).map((row) => h("tr", {}, columns.map((column, place) =>
        place === 0 ? h("th", { scope: "row" }, column.text(row)) : h("td", { class: column.number ? "number" : column.when ? "when" : null }, column.text(row))))));
      bench.replace(more, rows.length > shown && [`${bench.number(shown)} of ${bench.number(rows.length)} rows. `,
        h("button", { type: "button", onclick: () => { shown += 1000; asked.putShown(shown); draw(); } }, "Show more")]);
    };
    // What is not known is last, whichever way the others are.
    const sortBy = (place, isDown) => {
      const keyed = rows.map((row) => [columns[place].sort(row), row]);
      keyed.sort(([a], [b]) => isUnknown(a) || isUnknown(b) ? isUnknown(a) - isUnknown(b) : isDown ? order(b, a) : order(a, b));
      rows = keyed.map(([, row]) => row);
      sorted = { place, isDown };
      heads.forEach((head, other) => other === place ? head.setAttribute("aria-sort", isDown ? "descending" : "ascending") : head.removeAttribute("aria-sort"));
    };
    // Of figures the largest are first.
    const turn = (place) => {
      sortBy(place, sorted?.place === place ? !sorted.isDown : Boolean(columns[place].number));
      asked.putOrder(columns[place].head, sorted.isDown);
      draw();
    };
    const first = columns.findIndex((column) => column.sort && column.head === asked.head);
    if (first >= 0) sortBy(first, asked.isDown);
    draw();
    return [h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": label },
      h("table", {}, h("caption", { class: quiet ? "hidden" : null }, caption), h("thead", {}, h("tr", {}, heads)), body)), more];
  };
})();
