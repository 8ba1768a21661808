"use strict";
// A metric against the batch size or the number of devices, with the sizes at which memory ran out.
(() => {
  const { h, s } = bench;
  const AXES = ["batch", "gpus", "cpus"];

  // The newest release of each framework unless releases are asked for.
  const lines = (rows, axis, column, by) => {
    const { site } = bench;
    const groups = new Map();
    for (const row of rows) {
      const x = site.axis(row, axis);
      if (typeof x !== "number" || !(x > 0)) continue;
      const key = [site.axis(row, by), site.axis(row, "variant"), site.axis(row, "host"), axis === "batch" ? site.axis(row, "system") : site.axis(row, "batch")].join("\u0001");
      if (!groups.has(key)) groups.set(key, new Map());
      const of = groups.get(key);
      const before = of.get(x);
      if (before === undefined || String(site.axis(row, "version")).localeCompare(String(site.axis(before, "version")), "en", { numeric: true }) >= 0) of.set(x, row);
    }
    return [...groups.values()].map((of) => [...of].sort(([a], [b]) => a - b).map(([x, row]) => ({ x, row, value: column.v[row], width: column.e[row], ended: site.ended.get(row) })));
  };

  bench.views.scaling = (values) => {
    const { site } = bench;
    if (!site.index.metrics.length) return bench.missing("Nothing was measured yet.");
    const offered = AXES.filter((axis) => site.valuesOf(axis).filter((value) => typeof value === "number" && value > 0).length > 1);
    if (!offered.length) return [bench.heading(1, "Scaling"), h("p", {}, "All results have one batch size and one number of devices: there is nothing to scale. A matrix with several shows here.")];
    // Without a choice, what was measured at the most sizes is shown.
    const widest = () => {
      const sizes = new Map();
      for (let row = 0; row < site.rows; row += 1) {
        const key = ["model", "mode", "host"].map((name) => site.axis(row, name)).join("\u0001");
        if (!sizes.has(key)) sizes.set(key, new Set());
        sizes.get(key).add(site.axis(row, offered[0]));
      }
      const [key] = [...sizes].sort((a, b) => b[1].size - a[1].size)[0];
      const [model, mode, host] = key.split("\u0001");
      return { "f.model": model, "f.mode": mode, "f.host": host };
    };
    const chosen = Object.keys(values).some((name) => name.startsWith("f."));
    const wanted = { x: offered[0], by: "framework", metric: site.metrics.has("throughput") ? "throughput" : site.index.metrics[0].name, ...(chosen ? {} : widest()), ...values };
    return bench.when([site.metric(wanted.metric), bench.library()], ([column]) => {
      const metric = site.metrics.get(wanted.metric);
      const every = lines(site.newest(site.filtered(wanted).filter((row) => !site.idle.has(site.cellOf[row]))), wanted.x, column, wanted.by).filter((line) => line.length > 1);
      const shown = every.slice(0, 24);
      const measured = shown.flatMap((line) => line.filter(({ value }) => value > 0));
      const name = (line) => {
        const row = line.at(-1).row;
        const several = (axis) => new Set(shown.map((each) => site.axis(each.at(-1).row, axis))).size > 1;
        return [site.axis(row, wanted.by === "framework" ? "framework" : wanted.by), ...["variant", "host", wanted.x === "batch" ? "system" : "batch"].filter(several).map((axis) => site.axis(row, axis)).filter((value) => value !== "")].join(", ");
      };
      const placeOf = (line, number) => wanted.by === "framework" && new Set(shown.map((each) => site.axis(each[0].row, "framework"))).size === shown.length ? site.place(site.axis(line[0].row, "framework")) : number;
      const title = `${bench.capital(metric.title)} by ${site.titles[wanted.x].toLowerCase()}`;
      return [
        bench.heading(1, "Scaling"),
        h("p", { class: "lead" }, "The newest results along an axis. A cross below the axis is a size at which no repeat ended well, such as for want of memory."),
        h("div", { class: "controls" }, bench.metricChoice(wanted), bench.choice("Along", "x", offered.map((axis) => [axis, site.titles[axis]]), wanted.x), bench.choice("A line for each", "by", [["framework", "Framework, newest release"], ["label", "Release and options"]], wanted.by), bench.facets({ ...wanted }, ["model", "mode", "host"], [wanted.x])),
        measured.length ? [
          bench.legend(shown.map((line, number) => ({ text: name(line), place: placeOf(line, number) }))),
          bench.frame({
            title, note: `${metric.better === "higher" ? "More" : "Less"} is better.${every.length > shown.length ? ` The first ${shown.length} of ${every.length} lines: add a filter.` : ""}`,
            draw: (width) => {
              const height = 400, left = 74;
              const x = bench.scale(shown.flatMap((line) => line.map(({ x: size }) => size)), [left, width - 18]);
              const y = bench.scale(measured.map(({ value }) => value), [height - 62, 14]);
              const sizes = [...new Set(shown.flatMap((line) => line.map(({ x: size }) => size)))].sort(d3.ascending);
              const fit = sizes.length * 44 < width - left;
              return bench.plot({
                width, height, left, x, y, label: title, xTitle: site.titles[wanted.x], yTitle: bench.named(metric), xText: (value) => bench.number(value), yText: bench.plain(metric), xTicks: fit ? sizes : null,
                parts: shown.map((line, number) => {
                  const place = placeOf(line, number);
                  const well = line.filter(({ value }) => value > 0);
                  return s("g", { class: bench.series(place) },
                    s("path", { class: "line", "stroke-dasharray": bench.dash(place), d: d3.line()(well.map(({ x: size, value }) => [x(size), y(value)])) }),
                    well.map(({ x: size, value, width: half }) => Number.isNaN(half) ? null : bench.whisker(x(size), y(value * Math.exp(-half)), y(value * Math.exp(half)), [14, height - 62])),
                    bench.dots(well.map(({ x: size, value, row }) => ({ x: x(size), y: y(value), to: bench.address("cell", { run: site.runs.run[site.runOf[row]], id: site.axis(row, "id") }), title: `${name(line)}, ${size}: ${bench.figure(metric, value)}` })), place, 48),
                    line.filter(({ value, ended }) => !(value > 0) && ended).map(({ x: size, ended }) => s("path", { class: "dot", transform: `translate(${x(size)} ${height - 52 + number % 3 * 4}) rotate(45)`, d: d3.symbol(d3.symbolCross, 40)() }, s("title", {}, `${name(line)}, ${size}: ${ended.status}`))));
                }),
              });
            },
            csv: () => [["line", wanted.x, metric.name, "low", "high", "status"], ...every.flatMap((line) => line.map(({ x: size, value, width: half, ended }) => [name(line), size, value, value * Math.exp(-half), value * Math.exp(half), value > 0 ? "ok" : ended?.status ?? ""]))],
            command: () => bench.commands.every(wanted["f.model"] ? [`*/${wanted["f.model"]}-*`] : []),
          }),
        ] : h("p", { class: "note" }, "Nothing was measured at two sizes with these filters."),
        h("section", {}, bench.heading(2, "Values"), bench.table(title, [
          { head: "Line", text: ({ line }) => name(line), sort: ({ line }) => name(line) }, { head: site.titles[wanted.x], number: true, text: ({ point }) => bench.number(point.x), sort: ({ point }) => point.x },
          { head: metric.title, number: true, text: ({ point }) => point.value > 0 ? site.cellLink(point.row, bench.figure(metric, point.value)) : bench.status(point.ended?.status ?? "not_run"), sort: ({ point }) => point.value },
          { head: "Release", text: ({ point }) => site.axis(point.row, "label") },
        ], shown.flatMap((line) => line.map((point) => ({ line, point }))))),
      ];
    });
  };
})();
