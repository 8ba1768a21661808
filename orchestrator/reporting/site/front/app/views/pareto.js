"use strict";
// Two metrics against each other, with the cells that no other one beats in both.
(() => {
  const { h, s } = bench;
  const MOST = 1000;

  bench.views.pareto = (values) => {
    const { site } = bench;
    const names = [...site.metrics.keys()];
    if (names.length < 2) return bench.missing("There are fewer than two metrics to set against each other.");
    const first = (...wanted) => wanted.find((name) => site.metrics.has(name)) ?? names[0];
    // Without a choice, the work that the most releases have done.
    const busiest = () => site.once("busiest", () => {
      const rows = site.computing({});
      const works = bench.grouped(rows, (row) => `${site.code(row, "work")} ${site.code(row, "host")}`);
      const labels = (group) => new Set(group.map((row) => site.code(row, "label"))).size;
      const [most] = [...works.values()].map((group) => [labels(group), group[0]]).sort((a, b) => b[0] - a[0]);
      return most ? { "f.work": site.axis(most[1], "work"), "f.host": site.axis(most[1], "host") } : {};
    });
    const chosen = bench.chosen(values, busiest);
    const wanted = { x: first("peak_device_memory", "peak_memory", "latency_p50"), y: first("throughput"), ...chosen, ...values };
    return bench.when([site.metric(wanted.x), site.metric(wanted.y), bench.library()], ([across, up]) => {
      const rows = site.newest(site.computing(wanted)).filter((row) => across.v[row] > 0 && up.v[row] > 0);
      const [xOne, yOne] = [wanted.x, wanted.y].map((name) => site.metrics.get(name));
      const [xMetric, yMetric] = [xOne, yOne].map((metric) => site.counted(metric, rows));
      const groupOf = (row) => `${site.code(row, "work")} ${site.code(row, "system")} ${site.code(row, "host")}`;
      const best = bench.unbeaten(rows, groupOf, bench.gain(xOne, across), bench.gain(yOne, up));
      const front = new Set(rows.map(groupOf)).size === 1 ? [...best].sort((a, b) => across.v[a] - across.v[b]) : [];
      const frameworks = [...new Set(rows.map((row) => site.axis(row, "framework")))].sort();
      const title = `${bench.capital(yMetric.title)} against ${xMetric.title}`;
      const shown = [...best, ...rows.filter((row) => !best.has(row))].slice(0, MOST);
      return [
        bench.heading(1, "Pareto"),
        h("p", { class: "lead" }, "A filled mark is a cell that no other one of the same work, system and host beats in both metrics. The newest result of each cell is shown."),
        h("div", { class: "controls" }, bench.metricChoice(wanted, "x", "Across"), bench.metricChoice(wanted, "y", "Up"), bench.facets(wanted, ["work", "host", "framework"], { chosen })),
        rows.length ? [
          bench.legend(frameworks.map((name) => ({ text: name, look: site.look(name), kind: "mark" }))),
          bench.frame({
            title, note: `Best is to the ${xMetric.better === "higher" ? "right" : "left"} and ${yMetric.better === "higher" ? "at the top" : "at the bottom"}.${rows.length > shown.length ? ` ${bench.number(shown.length)} of ${bench.number(rows.length)} cells, the unbeaten ones first.` : ""}`,
            draw: (width) => {
              const height = 420, left = 74;
              const x = bench.scale(rows.map((row) => across.v[row]), [left, width - 18]);
              const y = bench.scale(rows.map((row) => up.v[row]), [height - 42, 14]);
              return bench.plot({
                width, height, left, x, y, label: title, xTitle: bench.named(xMetric), yTitle: bench.named(yMetric), xText: bench.plain(xMetric), yText: bench.plain(yMetric),
                parts: [
                  front.length > 1 && s("path", { class: "front", d: d3.line()(front.map((row) => [x(across.v[row]), y(up.v[row])])) }),
                  frameworks.map((name) => s("g", { class: site.look(name).series }, bench.dots(shown.filter((row) => site.axis(row, "framework") === name).map((row) => ({
                    x: x(across.v[row]), y: y(up.v[row]), hollow: !best.has(row), to: bench.address("cell", { run: site.runs.run[site.runOf[row]], id: site.axis(row, "id") }),
                    title: `${site.axis(row, "label")}, ${site.axis(row, "work")}: ${site.figure(xOne, row, across.v[row])}, ${site.figure(yOne, row, up.v[row])}`,
                  })), site.look(name), 60))),
                ],
              });
            },
            csv: () => [["cell", "host", "run", xMetric.name, yMetric.name, "unbeaten"], ...rows.map((row) => [site.axis(row, "id"), site.axis(row, "host"), site.runs.run[site.runOf[row]], across.v[row], up.v[row], best.has(row)])],
            command: () => bench.commands.figures(rows),
          }),
        ] : h("p", { class: "note" }, "No cell has both metrics with these filters."),
        best.size > 0 && h("section", {}, bench.heading(2, "Unbeaten cells"), bench.table("Cells that none beats in both", [
          { head: "Cell", text: (row) => [site.cellLink(row), h("small", {}, `${site.axis(row, "work")} on ${site.axis(row, "system")}, ${site.axis(row, "host") || "–"}`)], sort: (row) => site.axis(row, "id") },
          { head: xMetric.title, number: true, text: (row) => site.figure(xOne, row, across.v[row]), sort: (row) => across.v[row] }, { head: yMetric.title, number: true, text: (row) => site.figure(yOne, row, up.v[row]), sort: (row) => up.v[row] },
        ], [...best], { most: 60 })),
      ];
    });
  };
})();
