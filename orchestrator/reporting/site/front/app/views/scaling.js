"use strict";
// A metric along batch sizes, devices or loads, with the sizes at which memory ran out.
(() => {
  const { h, s } = bench;
  const AXES = ["batch", "gpus", "cpus", "rate", "clients"];
  const MOST = 24;

  bench.views.scaling = (values) => {
    const { site } = bench;
    if (!site.index.metrics.length) return bench.missing("Nothing was measured yet.");
    const offered = bench.numbers(AXES);
    if (!offered.length) return [bench.heading(1, "Scaling"), h("p", {}, "All results have one batch size, one number of devices and one load: there is nothing to scale. A matrix with several shows here.")];
    const along = offered.includes(values.x) ? values.x : offered[0];
    const chosen = bench.chosen(values, () => bench.longest(along));
    const wanted = { by: "framework", metric: site.metrics.has("throughput") ? "throughput" : site.index.metrics[0].name, ...chosen, ...values, x: along };
    return bench.when([site.metric(wanted.metric), bench.library()], ([column]) => {
      const every = bench.lines(site.newest(site.computing(wanted)), along, wanted.by).filter((line) => line.length > 1)
        .map((line) => line.map(({ row, at }) => ({ row, x: at, value: column.v[row], width: column.e[row], ended: site.ended.get(row) })));
      const names = bench.lineNames(every, along, wanted.by);
      const shown = every.slice(0, MOST);
      const measured = shown.flatMap((line) => line.filter(({ value }) => value > 0));
      const one = site.metrics.get(wanted.metric);
      const metric = site.counted(one, measured.map(({ row }) => row));
      const looks = bench.looks(shown);
      const title = `${bench.capital(metric.title)} by ${site.titles[along].toLowerCase()}`;
      return [
        bench.heading(1, "Scaling"),
        h("p", { class: "lead" }, "The newest results along an axis; the cells of a line differ in nothing else but, by framework, the release. A cross below the axis is a size at which no repeat ended well, such as for want of memory."),
        h("div", { class: "controls" }, bench.metricChoice(wanted), bench.choice("Along", "x", offered.map((axis) => [axis, site.titles[axis]]), along), bench.choice("A line for each", "by", [["framework", "Framework, newest release"], ["label", "Release and options"]], wanted.by), bench.facets(wanted, ["model", "mode", "host"], { without: [along], chosen })),
        measured.length ? [
          bench.legend(shown.map((_, number) => ({ text: names[number], look: looks[number] }))),
          bench.frame({
            title, note: `${metric.better === "higher" ? "More" : "Less"} is better.${every.length > shown.length ? ` The first ${shown.length} of ${every.length} lines: add a filter.` : ""}`,
            draw: (width) => {
              const height = 400, left = 74;
              const x = bench.scale(shown.flatMap((line) => line.map(({ x: size }) => size)), [left, width - 18]);
              const y = bench.scale(measured.map(({ value }) => value), [height - 62, 14]);
              const sizes = [...new Set(shown.flatMap((line) => line.map(({ x: size }) => size)))].sort(d3.ascending);
              const fit = sizes.length * 44 < width - left;
              return bench.plot({
                width, height, left, x, y, label: title, xTitle: site.titles[along], yTitle: bench.named(metric), xText: (value) => bench.number(value), yText: bench.plain(metric), xTicks: fit ? sizes : null,
                parts: shown.map((line, number) => {
                  const look = looks[number];
                  const well = line.filter(({ value }) => value > 0);
                  return s("g", { class: look.series },
                    s("path", { class: "line", "stroke-dasharray": look.dash, d: d3.line()(well.map(({ x: size, value }) => [x(size), y(value)])) }),
                    well.map(({ x: size, value, width: half }) => Number.isNaN(half) ? null : bench.whisker(x(size), y(value * Math.exp(-half)), y(value * Math.exp(half)), [14, height - 62])),
                    bench.dots(well.map(({ x: size, value, row }) => ({ x: x(size), y: y(value), to: bench.address("cell", { run: site.runs.run[site.runOf[row]], id: site.axis(row, "id") }), title: `${names[number]}, ${size}: ${site.figure(one, row, value)}` })), look, 48),
                    line.filter(({ value, ended }) => !(value > 0) && ended).map(({ x: size, ended }) => s("path", { class: "dot", transform: `translate(${x(size)} ${height - 52 + number % 3 * 4}) rotate(45)`, d: d3.symbol(d3.symbolCross, 40)() }, s("title", {}, `${names[number]}, ${size}: ${ended.status}`))));
                }),
              });
            },
            csv: () => [["line", along, metric.name, "low", "high", "status"], ...every.flatMap((line, number) => line.map(({ x: size, value, width: half, ended }) => [names[number], size, value, value * Math.exp(-half), value * Math.exp(half), value > 0 ? "ok" : ended?.status ?? ""]))],
            command: () => bench.commands.figures(every.flatMap((line) => line.map(({ row }) => row))),
          }),
        ] : h("p", { class: "note" }, "Nothing was measured at two sizes with these filters."),
        h("section", {}, bench.heading(2, "Values"), bench.table(title, [
          { head: "Line", text: ({ name }) => name, sort: ({ name }) => name }, { head: site.titles[along], number: true, text: ({ point }) => bench.number(point.x), sort: ({ point }) => point.x },
          { head: metric.title, number: true, text: ({ point }) => point.value > 0 ? site.cellLink(point.row, site.figure(one, point.row, point.value)) : bench.status(point.ended?.status ?? "not_run"), sort: ({ point }) => point.value },
          { head: "Release", text: ({ point }) => site.axis(point.row, "label"), sort: ({ point }) => site.release(point.row) },
        ], shown.flatMap((line, number) => line.map((point) => ({ name: names[number], point }))))),
      ];
    });
  };
})();
