"use strict";
// Any two runs, releases or hosts side by side.
(() => {
  const { h, s } = bench;
  const KINDS = [["run", "Runs"], ["label", "Releases"], ["host", "Hosts"], ["system", "Systems"], ["python", "Pythons"]];

  // What a pair must share; its Python too, where both sides have one in common.
  const SHARED = { label: ["work", "system", "host"], host: ["id"], system: ["label", "work", "host"], python: ["label", "work", "system", "host"] };

  // Rows of each side that are to be paired, and what a pair must share.
  const sides = (kind, a, b, wanted) => {
    const { site } = bench;
    if (kind === "run") {
      const [one, other] = [a, b].map((name) => site.filtered({ ...wanted, smoke: "yes" }).filter((row) => site.runOf[row] === site.runNumber(name)));
      const same = new Set(one.map((row) => site.axis(row, "id")));
      return [one, other, other.some((row) => same.has(site.axis(row, "id"))) ? ["id"] : ["tracked"]];
    }
    const newest = site.newest(site.filtered(wanted));
    const of = (value) => newest.filter((row) => String(site.axis(row, kind) ?? "") === value);
    return [of(a), of(b), SHARED[kind]];
  };

  bench.compared = (kind, a, b, wanted, column) => {
    const { site } = bench;
    const [one, other, shared] = sides(kind, a, b, wanted);
    const key = (row) => shared.map((axis) => site.axis(row, axis)).join("\u0001");
    const [ours, theirs] = [one, other].map((rows) => bench.grouped(rows, key));
    const pairs = [];
    const taken = new Set();
    for (const [name, mine] of ours) {
      if (!theirs.has(name)) continue;
      // Of several releases in a run the newest, and of several results of a cell the last.
      const newest = [mine, theirs.get(name)].map((rows) => site.ofNewestRelease(rows));
      const alike = kind === "python" ? [{ one: newest[0], other: newest[1], pythons: null }] : bench.ofOnePython(...newest);
      for (const { one: from, other: to, pythons } of alike) {
        const [baseline, candidate] = [Math.max(...from), Math.max(...to)];
        for (const row of [...from, ...to]) taken.add(row);
        const isKnown = column.v[candidate] > 0 && column.v[baseline] > 0;
        pairs.push({ baseline, candidate, pythons, ...(isKnown && bench.pair([candidate], [baseline], column)) });
      }
    }
    const alone = (rows, side) => rows.filter((row) => !taken.has(row)).map((row) => ({ [side]: row }));
    return [...pairs, ...alone(other, "candidate"), ...alone(one, "baseline")];
  };

  const verdict = (pair, higher) => {
    if (pair.apart) return bench.chip("other work", "open");
    if (pair.log === undefined) return bench.chip(pair.baseline === undefined ? "only candidate" : pair.candidate === undefined ? "only baseline" : "not measured", "plain");
    if (Number.isNaN(pair.width)) return bench.chip("no interval", "plain");
    if (Math.abs(pair.log) <= pair.width) return bench.chip("interval includes 1", "plain");
    return (pair.log > 0) === higher ? bench.chip("better", "good") : bench.chip("worse", "bad");
  };

  const figure = (pairs, metric, title, command) => {
    const { site } = bench;
    const known = pairs.filter((pair) => pair.log !== undefined && pair.apart === undefined).sort((a, b) => a.log - b.log);
    if (!known.length) return null;
    const shown = known.length > 40 ? [...known.slice(0, 20), ...known.slice(-20)] : known;
    const higher = metric.better === "higher";
    const name = (pair) => `${site.axis(pair.candidate, "work")}, ${site.axis(pair.candidate, "label")}`;
    return bench.frame({
      title, note: `The candidate over the baseline with its 95 % interval, lowest ratio first${known.length > 40 ? `; the 20 lowest and highest of ${known.length}` : ""}. ${higher ? "Right" : "Left"} of 1 is better. An arrow stands for an interval that leaves the axis.`,
      draw: (width) => {
        const narrow = width < 520;
        const line = narrow ? 40 : 22, left = narrow ? 26 : Math.min(300, width * 0.42), height = shown.length * line + 56;
        const largest = Math.max(Math.log(1.02), ...shown.map((pair) => Math.abs(pair.log) + Math.min(pair.width || 0, Math.abs(pair.log) + 0.05)));
        const limits = [Math.exp(-largest * 1.08), Math.exp(largest * 1.08)];
        const x = d3.scaleLog(limits, [left, width - 30]);
        const y = d3.scaleLinear([0, shown.length], [14, 14 + shown.length * line]);
        const ticks = x.ticks(6).length > 8 ? [limits[0], Math.sqrt(limits[0]), 1, Math.sqrt(limits[1]), limits[1]] : [...new Set([1, ...x.ticks(Math.max(2, (width - left) / 90))])];
        return bench.plot({
          width, height, left, right: 30, x, y, label: title, xTitle: "ratio, logarithmic", yTitle: "", xText: bench.ratioTick, yText: () => "", yTicks: [], xTicks: ticks.filter((value) => value >= limits[0] && value <= limits[1]),
          parts: [s("line", { class: "one", x1: x(1), x2: x(1), y1: 14, y2: height - 42 }), shown.map((pair, place) => {
            const at = y(place) + line * (narrow ? 0.7 : 0.5);
            const width_ = pair.width || 0;
            const [low, high] = [x(Math.max(limits[0], Math.exp(pair.log - width_))), x(Math.min(limits[1], Math.exp(pair.log + width_)))];
            const mark = Math.abs(pair.log) <= width_ ? "same" : (pair.log > 0) === higher ? "better" : "worse";
            const said = `${name(pair)}: ${bench.ratio(Math.exp(pair.log))}`;
            return s("g", { class: `ratio ${mark}` },
              s("text", { x: narrow ? left : left - 10, y: narrow ? y(place) + 12 : at, "text-anchor": narrow ? "start" : "end", "dominant-baseline": narrow ? "auto" : "central" }, bench.shortened(name(pair), narrow ? Math.floor(width / 7) : Math.floor(left / 6.4))),
              s("line", { class: "span", x1: low, x2: high, y1: at, y2: at }),
              Math.exp(pair.log + width_) > limits[1] && s("path", { class: "beyond", d: `M${high - 6} ${at - 4}L${high} ${at}L${high - 6} ${at + 4}Z` }),
              Math.exp(pair.log - width_) < limits[0] && s("path", { class: "beyond", d: `M${low + 6} ${at - 4}L${low} ${at}L${low + 6} ${at + 4}Z` }),
              s("a", { href: bench.address("cell", { run: site.runs.run[site.runOf[pair.candidate]], id: site.axis(pair.candidate, "id") }), "aria-label": said }, s("circle", { class: "dot", cx: x(Math.exp(pair.log)), cy: at, r: 5 }, s("title", {}, said))));
          })],
        });
      },
      csv: () => [["cell", "host", "baseline", "candidate", "ratio", "low", "high"], ...known.map((pair) => [site.axis(pair.candidate, "id"), site.axis(pair.candidate, "host"), pair.b, pair.c, Math.exp(pair.log), Math.exp(pair.log - pair.width), Math.exp(pair.log + pair.width)])],
      command,
    });
  };

  bench.views.compare = (values) => {
    const { site } = bench;
    if (!site.index.metrics.length) return bench.missing("Nothing was measured yet.");
    const wanted = { kind: "run", metric: site.metrics.has("throughput") ? "throughput" : site.index.metrics[0].name, ...values };
    const runs = site.runs.run.map((name, run) => [name, `${name} (${site.host(run) || "–"})`]).reverse();
    const options = wanted.kind === "run" ? runs : site.sorted(wanted.kind).map((value) => [String(value ?? ""), String(value ?? "") || "none"]);
    const last = options.length - 1;
    const sameHost = site.runs.host.at.slice(0, -1).lastIndexOf(site.runs.host.at.at(-1));
    const a = wanted.a ?? (wanted.kind === "run" ? site.runs.run[sameHost < 0 ? 0 : sameHost] : options[Math.max(0, last - 1)][0]);
    const b = wanted.b ?? (wanted.kind === "run" ? runs[0][0] : options[last][0]);
    return bench.when([site.metric(wanted.metric), bench.library()], ([column]) => {
      const one = site.metrics.get(wanted.metric);
      const pairs = bench.compared(wanted.kind, a, b, wanted, column);
      const rows = pairs.flatMap((pair) => [pair.baseline, pair.candidate]).filter((each) => each !== undefined);
      const metric = site.counted(one, rows);
      for (const pair of pairs) { pair.b = column.v[pair.baseline]; pair.c = column.v[pair.candidate]; }
      const mean = bench.together(pairs.filter((pair) => pair.log !== undefined));
      const isFiltered = Object.keys(wanted).some((name) => name.startsWith("f."));
      const ids = () => isFiltered ? [...new Set(rows.map((each) => site.axis(each, "id")))] : [];
      const command = () => wanted.kind === "run" ? bench.commands.compare(a, b, ids()) : bench.commands.figures(rows);
      const row = (pair) => pair.candidate ?? pair.baseline;
      const onPython = (each) => site.valuesOf("python").length > 1 ? `, Python ${site.axis(each, "python") || "–"}` : "";
      const swap = h("button", { type: "button", onclick: () => bench.change({ a: b, b: a }) }, "Swap sides");
      return [
        bench.heading(1, "Compare"),
        h("p", { class: "lead" }, "Cells that differ in nothing else are paired, and the geometric mean is over all pairs. Where the sides have no Python in common, the newest of each is taken, and the pair says so. For a verdict that keeps its level over all metrics, compare two runs by the command."),
        h("div", { class: "controls" }, bench.choice("What", "kind", KINDS.filter(([kind]) => kind === "run" || site.valuesOf(kind).length > 1), wanted.kind, { a: "", b: "" }), bench.choice("Baseline", "a", options, a), bench.choice("Candidate", "b", options, b), bench.metricChoice(wanted), swap,
          bench.facets(wanted, ["model", "mode"], { without: wanted.kind === "run" ? ["host"] : [wanted.kind] })),
        mean ? h("p", { class: "headline" }, h("strong", {}, bench.ratio(mean.ratio)), ` as the geometric mean of ${bench.counted(mean.count, "pair")}`, !Number.isNaN(mean.width) && `, 95 % interval about ${bench.ratio(mean.ratio * Math.exp(-mean.width))} to ${bench.ratio(mean.ratio * Math.exp(mean.width))}`, ".") : h("p", { class: "note" }, "No cell of both sides can be compared."),
        figure(pairs, metric, `${bench.capital(metric.title)}: ${b} over ${a}`, command),
        pairs.length > 0 && h("section", {}, bench.heading(2, "Pairs"), bench.table("Every pair, and the cells that only one side has", [
          { head: "Cell", text: (pair) => [site.cellLink(row(pair), site.axis(row(pair), "label")), h("small", {}, `${site.axis(row(pair), "work")} on ${site.axis(row(pair), "system")}, ${site.axis(row(pair), "host") || "–"}${onPython(row(pair))}`)], sort: (pair) => site.axis(row(pair), "id") },
          { head: "Baseline", number: true, text: (pair) => pair.baseline === undefined ? "–" : site.cellLink(pair.baseline, site.figure(one, pair.baseline, pair.b)), sort: (pair) => pair.b },
          { head: "Candidate", number: true, text: (pair) => pair.candidate === undefined ? "–" : site.cellLink(pair.candidate, site.figure(one, pair.candidate, pair.c)), sort: (pair) => pair.c },
          { head: "Ratio", number: true, text: (pair) => pair.log === undefined ? "–" : bench.ratio(Math.exp(pair.log)), sort: (pair) => pair.log ?? null },
          { head: "95 % interval", number: true, text: (pair) => pair.log === undefined || Number.isNaN(pair.width) ? "–" : `${bench.ratio(Math.exp(pair.log - pair.width))} – ${bench.ratio(Math.exp(pair.log + pair.width))}` },
          { head: "Verdict", text: (pair) => [verdict(pair, metric.better === "higher"), pair.apart && h("small", {}, pair.apart), bench.pythons(pair)] },
        ], pairs, { most: 60 })),
      ];
    });
  };
})();
