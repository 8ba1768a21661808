"use strict";
// The first view: a heat map of ratios to a baseline that the reader chooses.
(() => {
  const { h } = bench;
  const FIRST = ["throughput", "host", "model", "mode"];
  const defaults = (values) => {
    const { site } = bench;
    const many = site.valuesOf("label").length > 12;
    const metric = site.metrics.has("throughput") ? "throughput" : site.index.metrics[0]?.name;
    return { metric, rows: "model", cols: many ? "framework" : "label", ...values };
  };

  const filtered = (wanted) => Object.entries(wanted).some(([name, value]) => name.startsWith("f.") && value);

  const entryOf = (pairs, metric) => {
    if (!pairs) return {};
    const mean = bench.together(pairs.pairs);
    const apart = pairs.pairs.find((pair) => pair.apart !== undefined);
    return { mean, apart: mean ? null : apart?.apart, missing: pairs.pairs.length ? null : "no base", higher: metric.better === "higher" };
  };

  // All that is drawn, from the values of an address.
  bench.overviewGrid = (wanted, column) => {
    const { site } = bench;
    const metric = site.metrics.get(wanted.metric);
    const raw = bench.grid(wanted.rows, wanted.cols, column, wanted);
    const codesOf = (axis) => new Map(site.valuesOf(axis).map((value, code) => [String(value ?? ""), code]));
    const named = codesOf(wanted.cols).get(wanted.base ?? "\0");
    const present = new Set(raw.groups.flatMap((group) => [...group.by.keys()]));
    const base = present.has(named) ? named : bench.usual(raw);
    const pairs = bench.against(raw, base);
    const listed = (axis, codes) => {
      const places = new Map(site.sorted(axis).map((value, place) => [String(value ?? ""), place]));
      return [...codes].map((code) => ({ code, value: String(site.valuesOf(axis)[code] ?? ""), text: String(site.valuesOf(axis)[code] ?? "") || "none" }))
        .sort((a, b) => places.get(a.value) - places.get(b.value));
    };
    const failedCodes = [...raw.failed.keys()].map((key) => key.split("|").map(Number));
    const rows = listed(wanted.rows, new Set([...raw.groups.map((group) => group.of), ...failedCodes.map(([row]) => row)]));
    const cols = listed(wanted.cols, new Set([...present, ...failedCodes.map(([, col]) => col)]));
    cols.sort((a, b) => (b.code === base) - (a.code === base));
    if (wanted.cols === "framework") for (const col of cols) {
      const members = raw.groups.flatMap((group) => group.by.get(col.code) ?? []);
      const newest = members.length ? site.axis(site.ofNewestRelease(members)[0], "version") : "";
      col.below = members.some((row) => site.axis(row, "version") !== newest) ? `up to ${newest}` : newest;
    }
    const entries = new Map([...pairs].map(([where, found]) => [where, entryOf(found, metric)]));
    for (const [where, members] of raw.failed) if (!entries.has(where)) entries.set(where, { status: site.ended.get(members[0]).status });
    const entry = (row, col) => entries.get(`${row}|${col}`) ?? {};
    const means = (chosen) => {
      const known = chosen.map((each) => each.mean).filter(Boolean);
      if (!known.length) return {};
      const log = known.reduce((sum, each) => sum + Math.log(each.ratio), 0) / known.length;
      const width = Math.sqrt(known.reduce((sum, each) => sum + each.width ** 2, 0)) / known.length;
      return { mean: { ratio: Math.exp(log), width, count: known.length }, higher: metric.better === "higher" };
    };
    const others = cols.filter((col) => col.code !== base);
    return {
      caption: `${bench.capital(metric.title)}: ratio to ${site.valuesOf(wanted.cols)[base] || "none"}, ${bench.site.titles[wanted.rows].toLowerCase()} by ${bench.site.titles[wanted.cols].toLowerCase()}`,
      corner: "", rows, cols, base, entry, pairs, metric, raw,
      rowMean: (row) => means(others.map((col) => entry(row, col.code))),
      columnMean: (col) => {
        const of = rows.map((row) => entry(row.code, col));
        const count = of.filter((each) => each.mean).length;
        return { entry: means(of), note: count < rows.length ? `${count} of ${rows.length}` : "" };
      },
      to: (row, col) => {
        const found = pairs.get(`${row.code}|${col.code}`);
        const failed = raw.failed.get(`${row.code}|${col.code}`);
        const every = found ? [...found.pairs.flatMap((pair) => pair.members), ...found.alone.flat()] : failed;
        if (!every) return null;
        if (every.length === 1 && col.code === base) return bench.address("cell", { run: site.runs.run[site.runOf[every[0]]], id: site.axis(every[0], "id") });
        return bench.address("behind", { ...bench.withoutTables(wanted), base: String(site.valuesOf(wanted.cols)[base] ?? ""), r: row.value, c: col.value });
      },
    };
  };

  const controls = (wanted, grid) => {
    const axes = bench.site.axes.filter((axis) => bench.site.valuesOf(axis).length > 1 || ["model", "framework", "label"].includes(axis));
    const of = (without) => axes.filter((axis) => axis !== without).map((axis) => [axis, bench.site.titles[axis]]);
    return h("div", { class: "controls" },
      bench.metricChoice(wanted),
      bench.choice("Baseline", "base", grid.cols.map((col) => [col.value, bench.shortened(col.text, 60)]), String(bench.site.valuesOf(wanted.cols)[grid.base] ?? "")),
      bench.choice("Rows", "rows", of(wanted.cols), wanted.rows), bench.choice("Columns", "cols", of(wanted.rows), wanted.cols, { base: "" }),
      bench.facets(wanted, FIRST));
  };

  bench.gridCsv = (grid) => [["row", "column", "ratio", "low", "high", "comparisons", "status"], ...grid.rows.flatMap((row) => grid.cols.map((col) => {
    const { mean, status, apart } = grid.entry(row.code, col.code);
    return [row.text, col.text, mean?.ratio, mean && mean.ratio * Math.exp(-mean.width), mean && mean.ratio * Math.exp(mean.width), mean?.count, status ?? (apart ? "other work" : "")];
  }))];

  const newest = () => {
    const { site } = bench;
    const last = site.runs.run.map((_, run) => run).slice(-8).reverse();
    return bench.runTable("Newest runs", last, 8, true);
  };

  bench.views.overview = (values) => {
    const { site } = bench;
    if (!site.rows) return [bench.heading(1, "Results"), h("p", {}, `There is no run yet. Measure something with \`orchestrator run\`${bench.live ? ", and it appears here" : ", and publish again"}.`), bench.problems()];
    const wanted = defaults(values);
    if (!site.metrics.has(wanted.metric)) return [bench.heading(1, "Results"), h("p", {}, "Nothing was measured yet."), newest()];
    return bench.when([site.metric(wanted.metric)], ([column]) => {
      const grid = bench.overviewGrid(wanted, column);
      const higher = grid.metric.better === "higher";
      const compared = [...grid.pairs.values()].flatMap(({ pairs, alone }) => [...pairs.flatMap(({ members, base }) => [...members, ...base]), ...alone.flat()]);
      const rows = [...compared, ...[...grid.raw.failed.values()].flat()];
      const hosts = new Set(site.runs.host.of).size;
      return [
        bench.heading(1, "Results"),
        h("p", { class: "lead" }, `${bench.counted(site.runs.run.length, "run")} on ${bench.counted(hosts, "host")} with ${bench.number(site.runs.ok.reduce((sum, each) => sum + each, 0))} measured repeats, ${[...new Set([site.runs.created[0], site.runs.created.at(-1)].map(bench.day))].join(" to ")}. Each field compares the newest results of cells that differ in the column alone.`),
        bench.problems(),
        controls(wanted, grid),
        grid.rows.length ? bench.frame({
          title: grid.caption, note: `${higher ? "More" : "Less"} is better. Choose a column head as the baseline, or a field for what is behind it.`,
          table: bench.heatMap(grid), picture: () => bench.heatPicture(grid), csv: () => bench.gridCsv(grid), command: () => bench.commands.figures(rows),
        }) : h("p", { class: "note" }, filtered(wanted) ? "No result is left: remove a filter." : "No cell that computes anything has this metric. The runs below hold what was measured."),
        grid.rows.length > 0 && bench.heatLegend(higher),
        h("section", {}, bench.heading(2, "Newest runs"), newest()),
      ];
    });
  };

  // The comparisons behind one field.
  bench.views.behind = (values) => bench.when([bench.site.metric(defaults(values).metric)], ([column]) => {
    const { site } = bench;
    const wanted = defaults(values);
    const grid = bench.overviewGrid(wanted, column);
    const code = (axis, text) => site.valuesOf(axis).findIndex((value) => String(value ?? "") === text);
    const where = `${code(wanted.rows, wanted.r)}|${code(wanted.cols, wanted.c)}`;
    const found = grid.pairs.get(where) ?? { pairs: [], alone: [] };
    const failed = (grid.raw.failed.get(where) ?? []).map((row) => ({ members: [row], failed: true }));
    const pairs = [...found.pairs, ...found.alone.map((members) => ({ members, base: [] })), ...failed];
    const value = (members) => Math.exp(members.reduce((sum, row) => sum + Math.log(column.v[row]), 0) / members.length);
    const figure = (members) => members.length ? bench.figure(site.counted(grid.metric, members), value(members)) : "–";
    const mean = bench.together(found.pairs);
    return [
      bench.heading(1, `${wanted.r || "none"}, ${wanted.c || "none"}`),
      h("p", { class: "lead" }, `${bench.capital(grid.metric.title)} compared with ${site.valuesOf(wanted.cols)[grid.base]}${mean ? `: ${bench.ratio(mean.ratio)} as the geometric mean of ${bench.counted(mean.count, "comparison")}` : ""}. `,
        bench.link("Back to the heat map", "", { ...bench.withoutTables(values), r: "", c: "" })),
      bench.table("Comparisons", [
        { head: "Cell", text: ({ members }) => members.map((row) => h("div", {}, site.cellLink(row, site.axis(row, "id")))), sort: ({ members }) => site.axis(members[0], "id") },
        { head: "Host", text: ({ members }) => site.axis(members[0], "host") || "–", sort: ({ members }) => site.axis(members[0], "host") },
        { head: "Run", text: ({ members }) => bench.runLink(site.runOf[members[0]]), sort: ({ members }) => site.runOf[members[0]] },
        { head: grid.metric.title, number: true, text: ({ members, failed: none }) => none ? bench.status(site.ended.get(members[0]).status) : figure(members), sort: ({ members }) => value(members) },
        { head: "Baseline", number: true, text: (pair) => pair.base?.length ? [site.cellLink(pair.base[0], figure(pair.base)), bench.pythons(pair)] : "–", sort: ({ base }) => base?.length ? value(base) : null },
        { head: "Ratio", number: true, text: (pair) => pair.apart ? bench.chip(`other work: ${pair.apart}`, "open") : pair.log === undefined ? "–" : bench.ratio(Math.exp(pair.log)), sort: (pair) => pair.log ?? null },
        { head: "95 % interval", number: true, text: ({ log, width }) => log === undefined || Number.isNaN(width) ? "–" : `${bench.ratio(Math.exp(log - width))} – ${bench.ratio(Math.exp(log + width))}` },
      ], pairs),
    ];
  });

  bench.problems = () => bench.site.index.problems.length > 0 && h("details", { class: "warnings" },
    h("summary", {}, `${bench.counted(bench.site.index.problems.length, "run")} could not be read`), h("ul", {}, bench.site.index.problems.map((text) => h("li", {}, text))));
})();
