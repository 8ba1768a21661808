"use strict";
// Latency against rate, a line for each framework and system over batch sizes, request rates or clients.
(() => {
  const { h, s } = bench;
  const AXES = ["batch", "rate", "clients"];
  const MOST = 24;
  const isLatency = (metric) => metric.unit === "s" && /latency|token/.test(metric.name);
  const isRate = (metric) => metric.better === "higher" && metric.unit.endsWith("/s");
  const limitsOf = (row) => bench.site.axis(row, "limits").split(" ").filter(Boolean).map(Number);

  // A point for each number along a line at which both metrics are known.
  const points = (line, latency, rate) => line.filter(({ row }) => latency.v[row] > 0 && rate.v[row] > 0)
    .map(({ row, at }) => ({ row, at, x: latency.v[row], y: rate.v[row], across: latency.e[row], up: rate.e[row] }));
  const ends = (value, half) => Number.isNaN(half) ? [value] : [value * Math.exp(-half), value * Math.exp(half)];

  const drawing = ({ lines, names, looks, best, limits, title, xMetric, yMetric, along }) => (width) => {
    const { site } = bench;
    const height = 440, left = 74, top = 26, bottom = 42;
    const every = lines.flat();
    const x = bench.scale([...every.flatMap((point) => ends(point.x, point.across)), ...limits], [left, width - 18]);
    const y = bench.scale(every.flatMap((point) => ends(point.y, point.up)), [height - bottom, top]);
    const across = ({ x: value, y: up, across: half }) => Number.isNaN(half) ? null : s("line", { class: "whisker", x1: x(ends(value, half)[0]), x2: x(ends(value, half)[1]), y1: y(up), y2: y(up) });
    const upward = ({ x: value, y: up, up: half }) => Number.isNaN(half) ? null : bench.whisker(x(value), ...ends(up, half).map(y), [top, height - bottom]);
    return bench.plot({
      width, height, left, top, bottom, x, y, label: title, xTitle: bench.named(xMetric), yTitle: bench.named(yMetric), xText: bench.plain(xMetric), yText: bench.plain(yMetric),
      parts: [
        limits.map((limit) => s("g", { class: "limit" }, s("line", { x1: x(limit), x2: x(limit), y1: top, y2: height - bottom }), s("text", { x: bench.clamp(x(limit), [left + 26, width - 44]), y: top - 8, "text-anchor": "middle" }, `limit ${bench.seconds(limit)}`))),
        lines.map((line, number) => s("g", { class: looks[number].series },
          s("path", { class: "line", "stroke-dasharray": looks[number].dash, d: d3.line()(line.map((point) => [x(point.x), y(point.y)])) }),
          line.map((point) => [across(point), upward(point)]),
          bench.dots(line.map((point) => ({
            x: x(point.x), y: y(point.y), hollow: !best.has(point.row), to: bench.address("cell", { run: site.runs.run[site.runOf[point.row]], id: site.axis(point.row, "id") }),
            title: `${names[number]}, ${site.titles[along].toLowerCase()} ${bench.number(point.at)}: ${bench.figure(xMetric, point.x)}, ${site.figure(site.metrics.get(yMetric.name), point.row, point.y)}`,
          })), looks[number], 52))),
      ],
    });
  };

  // The most within each limit, by the estimates.
  const underLimits = (groups, limits, metrics) => {
    const { site } = bench;
    const rows = [...groups.values()].flatMap((group) => limits.map((limit) => {
      const within = group.filter(({ point }) => point.x <= limit && limitsOf(point.row).includes(limit));
      return { limit, isAsked: group.some(({ point }) => limitsOf(point.row).includes(limit)), row: group[0].point.row, most: within.sort((a, b) => b.point.y - a.point.y)[0] };
    })).filter(({ isAsked }) => isAsked);
    return h("section", {}, bench.heading(2, "Best within a limit"), bench.table("The highest rate within each limit", [
      { head: "Work", text: ({ row }) => [site.axis(row, "model"), h("small", {}, `${site.axis(row, "mode")} on ${site.axis(row, "system")}, ${site.axis(row, "host") || "–"}`)], sort: ({ row }) => site.axis(row, "work") },
      { head: "Limit", number: true, text: ({ limit }) => bench.seconds(limit), sort: ({ limit }) => limit },
      { head: "Best", text: ({ most }) => most ? site.cellLink(most.point.row, `${most.name}, ${bench.number(most.point.at)}`) : "none is within it", sort: ({ most }) => most?.name },
      { head: metrics.x.title, number: true, text: ({ most }) => most ? bench.figure(metrics.x, most.point.x) : "–", sort: ({ most }) => most?.point.x },
      { head: metrics.y.title, number: true, text: ({ most }) => most ? site.figure(metrics.y, most.point.row, most.point.y) : "–", sort: ({ most }) => most?.point.y },
    ], rows, { quiet: true }));
  };

  bench.views.frontier = (values) => {
    const { site } = bench;
    const [latencies, rates] = [isLatency, isRate].map((is) => [...site.metrics.values()].filter(is));
    if (!latencies.length || !rates.length) return bench.missing("No result has both a latency and a rate.");
    const offered = bench.numbers(AXES);
    if (!offered.length) return [bench.heading(1, "Frontier"), h("p", {}, "All results have one batch size and one load. A matrix with several, such as `batch_size: frontier`, shows here.")];
    const along = offered.includes(values.along) ? values.along : offered[0];
    const known = (name, metrics) => metrics.find((metric) => metric.name === name) ?? metrics[0];
    const metrics = { x: known(values.x ?? "latency_p50", latencies), y: known(values.y ?? "throughput", rates) };
    const chosen = bench.chosen(values, () => bench.longest(along));
    const wanted = { ...chosen, by: "framework", ...values, along, x: metrics.x.name, y: metrics.y.name };
    return bench.when([site.metric(wanted.x), site.metric(wanted.y), bench.library()], ([latency, rate]) => {
      const every = bench.lines(site.newest(site.computing(wanted)), along, wanted.by).map((line) => points(line, latency, rate)).filter((line) => line.length > 1);
      const names = bench.lineNames(every, along, wanted.by);
      const rows = every.flatMap((line) => line.map(({ row }) => row));
      const axes = bench.fixedWork(along);
      const groupOf = (row) => axes.map((axis) => site.code(row, axis)).join(" ");
      const best = bench.unbeaten(rows, groupOf, bench.gain(metrics.x, latency), bench.gain(metrics.y, rate));
      const groups = bench.grouped(every.flatMap((line, number) => line.map((point) => ({ point, name: names[number] }))), ({ point }) => groupOf(point.row));
      // A limit is one of answers, and none of single tokens.
      const limits = metrics.x.name.startsWith("latency") ? [...new Set(rows.flatMap(limitsOf))].sort(d3.ascending) : [];
      const lines = every.slice(0, MOST);
      const looks = bench.looks(lines);
      const yMetric = site.counted(metrics.y, rows);
      const title = `${bench.capital(yMetric.title)} against ${metrics.x.title} by ${site.titles[along].toLowerCase()}`;
      return [
        bench.heading(1, "Frontier"),
        h("p", { class: "lead" }, "A line is one framework on one system over a number; the newest result of each cell is shown. A filled mark is on the frontier: no other cell of the same work, system and host is as quick and yields as much."),
        h("div", { class: "controls" }, bench.metricChoice(wanted, "x", "Latency", latencies), bench.metricChoice(wanted, "y", "Rate", rates), bench.choice("Along", "along", offered.map((axis) => [axis, site.titles[axis]]), along), bench.choice("A line for each", "by", [["framework", "Framework, newest release"], ["label", "Release and options"]], wanted.by), bench.facets(wanted, ["model", "mode", "host"], { without: [along], chosen })),
        lines.length ? [
          bench.legend(lines.map((_, number) => ({ text: names[number], look: looks[number] }))),
          bench.frame({
            title, note: `Best is at the top left. Marks have their 95 % intervals.${limits.length ? " A dashed line is a limit of the latency." : ""}${every.length > lines.length ? ` The first ${lines.length} of ${every.length} lines: add a filter.` : ""}`,
            draw: drawing({ lines, names, looks, best, limits, title, xMetric: metrics.x, yMetric, along }),
            csv: () => [["line", along, metrics.x.name, "latency_low", "latency_high", metrics.y.name, "rate_low", "rate_high", "on_frontier", "latency_limit"], ...every.flatMap((line, number) => line.map((point) => [names[number], point.at, point.x, point.x * Math.exp(-point.across), point.x * Math.exp(point.across), point.y, point.y * Math.exp(-point.up), point.y * Math.exp(point.up), best.has(point.row), site.axis(point.row, "limits")]))],
            command: () => bench.commands.figures(rows),
          }),
          limits.length > 0 && underLimits(groups, limits, metrics),
        ] : h("p", { class: "note" }, "Nothing was measured at two numbers with these filters."),
        h("section", {}, bench.heading(2, "Values"), bench.table(title, [
          { head: "Line", text: ({ name }) => name, sort: ({ name }) => name }, { head: site.titles[along], number: true, text: ({ point }) => bench.number(point.at), sort: ({ point }) => point.at },
          { head: metrics.x.title, number: true, text: ({ point }) => [bench.figure(metrics.x, point.x), h("small", {}, bench.interval(metrics.x, point.x, point.across))], sort: ({ point }) => point.x },
          { head: metrics.y.title, number: true, text: ({ point }) => [site.cellLink(point.row, site.figure(metrics.y, point.row, point.y)), h("small", {}, bench.interval(site.counted(metrics.y, [point.row]), point.y, point.up))], sort: ({ point }) => point.y },
          { head: "Frontier", text: ({ point }) => best.has(point.row) ? bench.chip("on it", "good") : "–", sort: ({ point }) => best.has(point.row) ? 0 : 1 },
          { head: "Release", text: ({ point }) => site.axis(point.row, "label"), sort: ({ point }) => site.release(point.row) },
        ], every.flatMap((line, number) => line.map((point) => ({ name: names[number], point }))))),
      ];
    });
  };
})();
