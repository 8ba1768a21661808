"use strict";
// Series over all runs: intervals, change points, acknowledgements, and where something else was measured.
(() => {
  const { h, s } = bench;
  const placesOf = (one) => one.run.map((run, number) => bench.site.offset[run] + (typeof one.at === "number" ? one.at : one.at[number]));

  const points = (one, column) => placesOf(one).map((row, number) => ({ row, run: one.run[number], value: column.v[row], width: column.e[row] })).filter(({ value }) => value > 0);
  const changesOf = (one, metric) => (one.changes[metric.name] ?? []).map(([index, before, after, p, since, release, known]) =>
    ({ index, before, after, p, since, release, known, ratio: after / before, worse: metric.better === "equal" || (after < before) === (metric.better === "higher") }));

  bench.seriesFigure = (one, metric, column) => {
    const { site } = bench;
    const every = points(one, column);
    if (every.length < 2) return null;
    const changes = changesOf(one, metric);
    const breaks = one.breaks[metric.name] ?? [];
    const look = site.look(site.axis(every.at(-1).row, "framework"));
    const values = every.map(({ value }) => value);
    const isLog = d3.max(values) / d3.min(values) >= 30;
    const [low, high] = d3.extent(values);
    const room = Math.max(high - low, high * 0.01);
    const limits = isLog ? [low / 1.3, high * 1.3] : [Math.max(0, low - room * 0.35), high + room * 0.35];
    const many = every.length > 150;
    return bench.frame({
      title: `${bench.capital(metric.title)} of ${one.name} on ${one.host || "–"}`,
      note: `Each point is a run, its mark the 95 % interval over the repeats. ${changes.length ? "A dashed line is a lasting change, the level before and after it a bar." : `No lasting change of ${bench.percent(bench.held(site.index.files.series).min_effect)} or more was found.`}${breaks.length ? " At a dotted line something else is measured: nothing is compared across it." : ""}`,
      draw: (width) => {
        const height = 380, top = 34;
        const time = (point) => new Date(site.runs.created[point.run]);
        const x = d3.scaleUtc(d3.extent(every, time), [74, width - 18]);
        const y = (isLog ? d3.scaleLog : d3.scaleLinear)(limits, [height - 42, top]);
        y.isLog = isLog;
        const at = every.map((point) => [x(time(point)), y(point.value)]);
        const edges = [0, ...changes.map(({ index }) => index), ...breaks.map(([index]) => index), every.length].sort(d3.ascending);
        const level = (from, to) => {
          const change = changes.find(({ index }) => index === from) ?? changes.find(({ index }) => index === to);
          if (!change || from === to) return null;
          const value = change.index === from ? change.after : change.before;
          return s("line", { class: "level", x1: at[from][0], x2: at[to - 1][0], y1: y(value), y2: y(value) });
        };
        const between = (index) => (at[index - 1][0] + at[index][0]) / 2;
        // Of changes that lie too near to be named side by side, the first is named; the table names all.
        let end = -Infinity;
        const said = changes.map(({ index }) => {
          const fits = between(index) - end >= 58;
          if (fits) end = between(index);
          return fits;
        });
        const most = Math.max(2, Math.min(8, Math.floor(width / 120)));
        const fine = x.ticks(most); // which may be many more: nothing lies between a minute and five
        const ticks = fine.filter((_, place) => place % Math.ceil(fine.length / most) === 0);
        const days = (x.domain()[1] - x.domain()[0]) / 864e5;
        const format = d3.utcFormat(days > 400 ? "%Y-%m" : days > 8 ? "%Y-%m-%d" : "%m-%d %H:%M");
        return bench.plot({
          width, height, left: 74, top, x, y, label: `Course of ${metric.title} of ${one.name}`, xTitle: "begin of the run", yTitle: bench.named(metric), xText: format, yText: bench.plain(metric), xTicks: ticks,
          parts: [
            d3.pairs(edges).map(([from, to]) => level(from, to)),
            breaks.map(([index, reason]) => s("g", { class: "break" }, s("line", { x1: between(index), x2: between(index), y1: top, y2: height - 42 }), s("title", {}, reason))),
            changes.map((change, number) => s("g", { class: `change ${change.known ? "known" : change.worse ? "worse" : "better"}` },
              s("line", { x1: between(change.index), x2: between(change.index), y1: top, y2: height - 42 }),
              said[number] && s("text", { x: bench.clamp(between(change.index), [104, width - 48]), y: top - 8, "text-anchor": "middle" }, `${bench.ratio(change.ratio)}${change.known ? " known" : ""}`),
              s("title", {}, `${change.since} → ${change.release}: ${bench.ratio(change.ratio)}${change.known ? `; known: ${change.known}` : ""}`))),
            s("g", { class: look.series },
              every.map((point, number) => Number.isNaN(point.width) ? null : bench.whisker(at[number][0], y(point.value * Math.exp(-point.width)), y(point.value * Math.exp(point.width)), [top, height - 42])),
              bench.dots(every.map((point, number) => ({
                x: at[number][0], y: at[number][1], to: bench.address("cell", { run: site.runs.run[point.run], id: site.axis(point.row, "id") }),
                title: `${bench.moment(site.runs.created[point.run])}, ${site.axis(point.row, "version")}: ${bench.figure(metric, point.value)}`,
              })), look, many ? 14 : 40)),
          ],
        });
      },
      csv: () => [["run", "begun", "release", metric.name, "low", "high"], ...every.map(({ row, run, value, width }) => [site.runs.run[run], site.runs.created[run], site.axis(row, "version"), value, value * Math.exp(-width), value * Math.exp(width)])],
      command: () => bench.commands.history(one.name, metric.name, one.host),
    });
  };

  const single = (one, metric, column) => {
    const { site } = bench;
    const changes = changesOf(one, metric);
    const every = points(one, column);
    return [
      bench.seriesFigure(one, metric, column) ?? h("p", { class: "note" }, "Fewer than two runs have this metric."),
      h("section", {}, bench.heading(2, "Lasting changes"), bench.table("Changes", [
        { head: "First run after it", text: ({ index }) => bench.runLink(every[index].run) }, { head: "Release", text: ({ since, release }) => since === release ? release : `${since} → ${release}` },
        { head: "Before", number: true, text: ({ before }) => bench.figure(metric, before) }, { head: "After", number: true, text: ({ after }) => bench.figure(metric, after) },
        { head: "Ratio", number: true, text: ({ ratio }) => bench.ratio(ratio) }, { head: "p", number: true, text: ({ p }) => bench.digits(p, 2) },
        { head: "Verdict", text: ({ worse, known }) => [bench.chip(worse ? "worse" : "better", worse ? "bad" : "good"), known && [" ", bench.chip("acknowledged", "plain"), h("small", {}, known)]] },
      ], changes, { empty: "No lasting change was found.", quiet: true })),
      (one.breaks[metric.name] ?? []).length > 0 && h("section", {}, bench.heading(2, "Measured otherwise from here on"), bench.table("Breaks", [
        { head: "First run after it", text: ([index]) => bench.runLink(every[index].run) }, { head: "What changed", text: ([, reason]) => reason || "several conditions" },
      ], one.breaks[metric.name])),
      h("section", {}, bench.heading(2, "Runs"), bench.table("Newest first", [
        { head: "Run", text: ({ run }) => bench.runLink(run), sort: ({ run }) => run }, { head: "Begun", when: true, text: ({ run }) => bench.moment(site.runs.created[run]) },
        { head: "Release", text: ({ row }) => site.axis(row, "version"), sort: ({ row }) => site.release(row) },
        { head: metric.title, number: true, text: ({ row, value }) => site.cellLink(row, bench.figure(metric, value)), sort: ({ value }) => value },
        { head: "95 % interval", number: true, text: ({ value, width }) => Number.isNaN(width) ? "–" : bench.interval(metric, value, width) },
      ], [...every].reverse(), { most: 50 })),
    ];
  };

  const listing = (series, metric, column, wanted) => {
    const { site } = bench;
    const place = h("div");
    // Filters leave points out. A change is found over the whole series, and belongs to the first point after it.
    const isLeft = new Uint8Array(site.rows);
    for (const row of site.filtered(wanted)) isLeft[row] = 1;
    const rows = series.map((one) => {
      const whole = points(one, column);
      const changes = changesOf(one, metric).map((change) => ({ ...change, point: whole[change.index] }));
      return { one, every: whole.filter(({ row }) => isLeft[row]), changes: changes.filter(({ point }) => isLeft[point.row]) };
    }).filter(({ every }) => every.length > 1);
    const sparkline = ({ one, every }) => {
      const step = Math.max(1, Math.floor(every.length / 60));
      const values = every.filter((_, number) => number % step === 0).map(({ value }) => value);
      const [low, high] = [Math.min(...values), Math.max(...values)];
      const path = values.map((value, number) => `${(number / (values.length - 1) * 118 + 1).toFixed(1)} ${(21 - (high > low ? (value - low) / (high - low) : 0.5) * 18).toFixed(1)}`).join("L");
      return s("svg", { viewBox: "0 0 120 24", width: 120, height: 24, "aria-hidden": "true", class: `spark ${site.look(site.axis(every[0].row, "framework")).series}` }, s("path", { d: `M${path}`, class: "line" }));
    };
    const latest = ({ changes }) => changes.at(-1);
    const draw = (text) => {
      const words = text.toLowerCase().split(/\s+/).filter(Boolean);
      const left = rows.filter(({ one }) => words.every((word) => `${one.name} ${one.host}`.toLowerCase().includes(word)));
      bench.labels.clear();
      bench.replace(place, bench.table(`${bench.number(left.length)} series of ${metric.title}`, [
        { head: "Series", text: ({ one }) => bench.link(one.name, "series", { metric: wanted.metric, name: one.name, host: one.host }), sort: ({ one }) => one.name },
        { head: "Host", text: ({ one }) => one.host || "–", sort: ({ one }) => one.host },
        { head: "Runs", number: true, text: ({ every }) => bench.number(every.length), sort: ({ every }) => every.length },
        { head: "Course", text: sparkline },
        { head: "Latest", number: true, text: ({ every }) => site.figure(metric, every.at(-1).row, every.at(-1).value), sort: ({ every }) => every.at(-1).value },
        { head: "Latest change", text: (row) => latest(row) ? [bench.chip(bench.ratio(latest(row).ratio), latest(row).known ? "plain" : latest(row).worse ? "bad" : "good"), h("small", {}, `${bench.day(site.runs.created[latest(row).point.run])}, ${latest(row).release}${latest(row).known ? ", acknowledged" : ""}`)] : "–", sort: (row) => latest(row) ? site.runs.created[latest(row).point.run] : "" },
      ], left, { most: 60, empty: "No series of two runs or more is left: remove a filter." }));
    };
    draw(wanted.q ?? "");
    return [h("div", { class: "controls" }, bench.metricChoice(wanted), bench.words("Only series with", "q", wanted.q, (text) => { history.replaceState(null, "", bench.address("series", { ...bench.place().values, q: text })); draw(text); }), bench.facets(wanted, ["model", "mode", "host"], { without: ["smoke"] })), place];
  };

  bench.views.series = (values) => {
    const { site } = bench;
    if (!site.index.metrics.length) return bench.missing("Nothing was measured yet.");
    const wanted = { metric: site.metrics.has("throughput") ? "throughput" : site.index.metrics[0].name, ...values };
    return bench.when([bench.need(site.index.files.series), site.metric(wanted.metric), bench.library()], ([{ series }, column]) => {
      const metric = site.metrics.get(wanted.metric);
      if (!values.name) return [bench.heading(1, "Series"), h("p", { class: "lead" }, "A cell on a host over all runs; * follows the newest release of each run. Changes smaller than the tolerance are not looked for. Filters leave out points; a link leads to the whole series."), listing(series, metric, column, wanted)];
      const named = series.filter((one) => one.name === values.name);
      const one = named.find(({ host }) => host === (values.host ?? "")) ?? named[0];
      if (!one) return bench.missing(`There is no series ${values.name} of two runs or more.`);
      return [
        h("p", { class: "eyebrow" }, bench.link("All series", "series", { metric: wanted.metric })), bench.heading(1, one.name, h("span", { class: "on" }, ` on ${one.host || "–"}`)),
        h("div", { class: "controls" }, bench.metricChoice(wanted), named.length > 1 && bench.choice("Host", "host", named.map(({ host }) => [host, host || "–"]), one.host)),
        single(one, site.counted(metric, placesOf(one)), column),
      ];
    });
  };
})();
