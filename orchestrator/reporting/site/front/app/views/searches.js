"use strict";
// Searches for the release that changed a cell: every block of every release, and what was found.
(() => {
  const { h, s } = bench;

  const figure = (search) => {
    const metric = bench.site.metrics.get(search.metric) ?? { name: search.metric, title: search.metric, unit: "", better: "higher" };
    const all = search.values.flatMap(([, values]) => values.filter((value) => value !== null));
    if (!all.length) return null;
    const found = new Set(search.spans.filter(([kind]) => kind === "change").map(([, , after]) => after));
    return bench.frame({
      title: `${bench.capital(metric.title)} of ${search.cell}, ${search.good} to ${search.bad}`, note: "A point for each block, the bar the geometric mean. A dashed line stands before a release that changed it.",
      draw: (width) => {
        const height = 320, left = 74;
        const x = d3.scaleLinear([-0.5, search.values.length - 0.5], [left, width - 14]);
        const y = bench.scale(all, [height - 62, 14]);
        const step = Math.ceil(search.values.length * 78 / (width - left));
        return bench.plot({
          width, height, left, x, y, label: `Blocks of the search ${search.folder}`, xTitle: "release", yTitle: bench.named(metric), xText: (value) => bench.shortened(search.values[value][0].replace(/^[^=]*==/, ""), 14), yText: bench.plain(metric), xTicks: search.values.map((_, place) => place).filter((place) => place % step === 0),
          parts: search.values.map(([release, values], place) => {
            const known = values.filter((value) => value !== null);
            const mean = known.length ? Math.exp(d3.mean(known, Math.log)) : null;
            return s("g", { class: bench.plainLook.series }, found.has(release) && s("line", { class: "cut", x1: x(place - 0.5), x2: x(place - 0.5), y1: 14, y2: height - 62 }),
              mean && s("line", { class: "level", x1: x(place - 0.3), x2: x(place + 0.3), y1: y(mean), y2: y(mean) }),
              bench.dots(known.map((value, number) => ({ x: x(place) + (number / Math.max(1, known.length - 1) - 0.5) * Math.min(30, (width - left) / search.values.length / 2), y: y(value), title: `${release}: ${bench.figure(metric, value)}` })), bench.plainLook, 30));
          }),
        });
      },
      csv: () => [["release", "block", metric.name], ...search.values.flatMap(([release, values]) => values.map((value, block) => [release, block, value]))],
      command: () => bench.commands.search(search.folder),
    });
  };

  const said = { change: "changed", further: "changed too, and was not searched", gradual: "changed gradually", unsettled: "was not decided" };
  bench.views.searches = () => bench.when([bench.need(bench.site.index.files.searches), bench.library()], ([{ searches }]) => [
    bench.heading(1, "Searches"),
    !searches.length && h("p", {}, "There is no search here yet: `orchestrator bisect` makes one."),
    searches.map((search) => h("section", {}, bench.heading(2, `${search.searched}: ${search.cell}`),
      bench.facts([["Search", search.folder], ["Begun", bench.moment(search.created)], ["Host", search.host], ["From", search.good], ["To", search.bad], ["Metric", search.metric], ["The last over the first", search.ends && `${bench.ratio(search.ends[1])}, ${search.ends[0]}`], ["State", search.ended ? "ended" : "not ended yet"]]),
      search.spans.length > 0 ? bench.table("What was found", [
        { head: "What", text: ([kind]) => bench.chip(said[kind] ?? kind, kind === "change" ? "bad" : "open") }, { head: "From", text: ([, before]) => before }, { head: "To", text: ([, , after]) => after }, { head: "Untested between", text: ([, , , between]) => between.join(", ") || "–" }, { head: "Ratio", number: true, text: ([, , , , compared]) => compared ? `${bench.ratio(compared[1])}${compared[2] === null ? "" : ` (${bench.ratio(compared[2])} – ${bench.ratio(compared[3])})`}` : "–" },
      ], search.spans) : search.ended && h("p", {}, "No change was found."),
      figure(search),
      search.left_out.length > 0 && h("details", {}, h("summary", {}, `${bench.counted(search.left_out.length, "release")} left out`), bench.facts(search.left_out)))),
  ]);
})();
