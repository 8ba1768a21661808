"use strict";
// Two metrics against each other, with the cells that no other one beats in both.
(() => {
  const { h, s } = bench;

  bench.views.pareto = (values) => {
    const { site } = bench;
    const names = [...site.metrics.keys()];
    if (names.length < 2) return bench.missing("There are fewer than two metrics to set against each other.");
    const first = (...wanted) => wanted.find((name) => site.metrics.has(name)) ?? names[0];
    const works = new Map();
    for (let row = 0; row < site.rows; row += 1) {
      const key = [site.axis(row, "work"), site.axis(row, "host")].join("\u0001");
      if (!works.has(key)) works.set(key, new Set());
      works.get(key).add(site.axis(row, "label"));
    }
    const [work, host] = [...works].sort((a, b) => b[1].size - a[1].size)[0][0].split("\u0001");
    const chosen = Object.keys(values).some((name) => name.startsWith("f."));
    const wanted = { x: first("peak_device_memory", "peak_memory", "latency_p50"), y: first("throughput"), ...(chosen ? {} : { "f.work": work, "f.host": host }), ...values };
    return bench.when([site.metric(wanted.x), site.metric(wanted.y), bench.library()], ([across, up]) => {
      const [xMetric, yMetric] = [site.metrics.get(wanted.x), site.metrics.get(wanted.y)];
      const rows = site.newest(site.filtered(wanted).filter((row) => !site.idle.has(site.cellOf[row]))).filter((row) => across.v[row] > 0 && up.v[row] > 0);
      const gain = (metric, value) => metric.better === "higher" ? value : -value;
      const beats = (one, other) => gain(xMetric, across.v[one]) >= gain(xMetric, across.v[other]) && gain(yMetric, up.v[one]) >= gain(yMetric, up.v[other]) && (across.v[one] !== across.v[other] || up.v[one] !== up.v[other]);
      const groupOf = (row) => `${site.axis(row, "work")} ${site.axis(row, "system")} ${site.axis(row, "host")}`;
      const groups = new Set(rows.map(groupOf));
      const best = rows.length > 3000 ? new Set() : new Set(rows.filter((row) => !rows.some((other) => groupOf(other) === groupOf(row) && beats(other, row))));
      const front = groups.size === 1 ? [...best].sort((a, b) => across.v[a] - across.v[b]) : [];
      const frameworks = [...new Set(rows.map((row) => site.axis(row, "framework")))].sort();
      const title = `${bench.capital(yMetric.title)} against ${xMetric.title}`;
      const shown = rows.slice(0, 2000);
      return [
        bench.heading(1, "Pareto"),
        h("p", { class: "lead" }, "A filled mark is a cell that no other one of the same work, system and host beats in both metrics. The newest result of each cell is shown."),
        h("div", { class: "controls" }, bench.metricChoice(wanted, "x", "Across"), bench.metricChoice(wanted, "y", "Up"), bench.facets(wanted, ["work", "host", "framework"])),
        rows.length ? [
          bench.legend(frameworks.map((name) => ({ text: name, place: site.place(name), kind: "mark" }))),
          bench.frame({
            title, note: `Best is to the ${xMetric.better === "higher" ? "right" : "left"} and ${yMetric.better === "higher" ? "at the top" : "at the bottom"}.${rows.length > shown.length ? ` The first ${shown.length} of ${rows.length} cells.` : ""}`,
            draw: (width) => {
              const height = 420, left = 74;
              const x = bench.scale(rows.map((row) => across.v[row]), [left, width - 18]);
              const y = bench.scale(rows.map((row) => up.v[row]), [height - 42, 14]);
              return bench.plot({
                width, height, left, x, y, label: title, xTitle: bench.named(xMetric), yTitle: bench.named(yMetric), xText: bench.plain(xMetric), yText: bench.plain(yMetric),
                parts: [
                  front.length > 1 && s("path", { class: "front", d: d3.line()(front.map((row) => [x(across.v[row]), y(up.v[row])])) }),
                  frameworks.map((name) => s("g", { class: bench.series(site.place(name)) }, bench.dots(shown.filter((row) => site.axis(row, "framework") === name).map((row) => ({
                    x: x(across.v[row]), y: y(up.v[row]), hollow: !best.has(row), to: bench.address("cell", { run: site.runs.run[site.runOf[row]], id: site.axis(row, "id") }),
                    title: `${site.axis(row, "label")}, ${site.axis(row, "work")}: ${bench.figure(xMetric, across.v[row])}, ${bench.figure(yMetric, up.v[row])}`,
                  })), site.place(name), 60))),
                ],
              });
            },
            csv: () => [["cell", "host", "run", xMetric.name, yMetric.name, "unbeaten"], ...rows.map((row) => [site.axis(row, "id"), site.axis(row, "host"), site.runs.run[site.runOf[row]], across.v[row], up.v[row], best.has(row)])],
            command: () => bench.commands.every(wanted["f.work"] ? [`*/${wanted["f.work"]}*`] : []),
          }),
        ] : h("p", { class: "note" }, "No cell has both metrics with these filters."),
        best.size > 0 && h("section", {}, bench.heading(2, "Unbeaten cells"), bench.table("Cells that none beats in both", [
          { head: "Cell", text: (row) => [site.cellLink(row), h("small", {}, `${site.axis(row, "work")} on ${site.axis(row, "system")}, ${site.axis(row, "host") || "–"}`)], sort: (row) => site.axis(row, "id") },
          { head: xMetric.title, number: true, text: (row) => bench.figure(xMetric, across.v[row]), sort: (row) => across.v[row] }, { head: yMetric.title, number: true, text: (row) => bench.figure(yMetric, up.v[row]), sort: (row) => up.v[row] },
        ], [...best])),
      ];
    });
  };
})();
