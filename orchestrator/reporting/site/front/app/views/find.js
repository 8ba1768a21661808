"use strict";
// The search field: every word must be in a cell, a run or a host, wherever they are.
(() => {
  const { h } = bench;
  let texts = null;
  let of = null;

  const prepared = () => {
    const { site } = bench;
    if (of === site) return texts;
    of = site;
    const newest = new Map();
    for (let row = 0; row < site.rows; row += 1) newest.set(`${site.cellOf[row]} ${site.code(row, "host")}`, row);
    texts = [...newest.values()].reverse().map((row) => ({ row, text: ["id", "label", "work", "system", "variant", "python", "host"].map((axis) => site.axis(row, axis)).join(" ").toLowerCase() }));
    return texts;
  };

  bench.views.find = ({ q = "" }) => {
    const { site } = bench;
    const words = q.toLowerCase().split(/\s+/).filter(Boolean);
    const holds = (text) => words.every((word) => text.includes(word));
    const cells = words.length ? prepared().filter(({ text }) => holds(text)) : [];
    const runs = words.length ? site.runs.run.map((_, run) => run).reverse().filter((run) => holds(`${site.runs.run[run]} ${site.runs.created[run]} ${site.host(run)} ${site.ofRun(run, "matrix")}`.toLowerCase())) : [];
    const views = words.length ? bench.links().filter(([, name]) => holds(name.toLowerCase())) : [];
    return [
      bench.heading(1, "Found"),
      h("p", { class: "lead", role: "status" }, words.length ? `${bench.counted(cells.length, "cell")} and ${bench.counted(runs.length, "run")} with “${q}”` : "Write in the field at the top what a cell, a run, a host or a view is called."),
      views.length > 0 && h("p", {}, "Views: ", views.map(([path, name], number) => [number > 0 && ", ", bench.link(name, path)])),
      cells.length > 0 && bench.table("Cells, each with its newest run on a host", [
        { head: "Cell", text: ({ row }) => [site.cellLink(row, site.axis(row, "id")), h("small", {}, `${site.axis(row, "label")}, ${site.axis(row, "work")}`)], sort: ({ row }) => site.axis(row, "id") },
        { head: "Host", text: ({ row }) => site.axis(row, "host") || "–", sort: ({ row }) => site.axis(row, "host") },
        { head: "Newest run", text: ({ row }) => bench.runLink(site.runOf[row]), sort: ({ row }) => site.runOf[row] },
      ], cells, { most: 100 }),
      runs.length > 0 && bench.runTable("Runs", runs, 50),
    ];
  };
})();
