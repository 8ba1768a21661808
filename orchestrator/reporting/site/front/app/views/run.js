"use strict";
// One run: its cells, its host, what was skipped, and the verdicts of a regression test.
(() => {
  const { h } = bench;

  const cells = (run, document) => {
    const { site } = bench;
    const axis = (name) => bench.decoded(document.cells[name]);
    const [ids, labels, works, systems, samples] = ["id", "label", "work", "system", "sample"].map(axis);
    const shown = document.metrics.filter((metric) => ["throughput", "latency_p50", "latency_p99", "cold_start", "peak_memory", "peak_device_memory", "energy_per_sample", "largest_batch"].includes(metric.name) || metric.name.startsWith("printed."));
    return bench.table("Cells", [
      { head: "Cell", text: (place) => [bench.link(labels[place], "cell", { run: document.run, id: ids[place] }), h("small", {}, works[place])], sort: (place) => `${works[place]} ${labels[place]}` },
      { head: "System", text: (place) => systems[place], sort: (place) => systems[place] },
      { head: "Repeats", text: (place) => [`${document.ok[place]} of ${document.planned[place]} `, document.status[place] !== "ok" && bench.status(document.status[place]), document.disturbed[place] > 0 && bench.chip(`${document.disturbed[place]} disturbed`, "open")], sort: (place) => document.ok[place] },
      ...shown.map((metric) => ({
        head: metric.title, number: true, sort: (place) => metric.v[place],
        text: (place) => metric.v[place] === null ? "–" : [bench.figure(bench.counting(metric, samples[place]), metric.v[place]), metric.e[place] !== null && h("small", {}, `± ${bench.percent(Math.expm1(metric.e[place] / 1e4))}`)],
      })),
    ], ids.map((_, place) => place), { name: "Cells of the run", quiet: true });
  };

  bench.verdicts = (regression) => {
    if (!regression) return null;
    if (regression.problem) return h("p", { class: "note" }, regression.problem);
    const mark = (verdict, worse) => worse ? "bad" : ["faster", "fixed"].includes(verdict) ? "good" : verdict === "same" ? "plain" : "open";
    const named = (name) => bench.site.metrics.get(name)?.title ?? name;
    return [
      h("p", {}, `${regression.candidate} compared with ${regression.baseline}${regression.complete ? "" : "; the test was stopped"}.`),
      bench.table("Verdicts", [
        { head: "Pair", text: ([pair]) => pair, sort: ([pair]) => pair },
        { head: "Metric", text: ([, , , , metric]) => metric ? named(metric) : "–", sort: ([, , , , metric]) => metric },
        { head: "Verdict", text: ([, verdict, , worse]) => bench.chip(verdict, mark(verdict, worse)), sort: ([, verdict]) => verdict },
        { head: "Ratio", number: true, text: ([, , , , , ratio]) => bench.ratio(ratio), sort: ([, , , , , ratio]) => ratio },
        { head: "Interval", number: true, text: ([, , , , , , low, high]) => low === null ? "–" : `${bench.ratio(low)} – ${bench.ratio(high)}` },
        { head: "Reason", text: ([, , reason]) => reason || "–" },
      ], regression.rows),
    ];
  };

  bench.views.run = ({ run: name }) => {
    const { site } = bench;
    const run = site.runNumber(name);
    if (run < 0) return bench.missing(`There is no run ${name}.`);
    return bench.when([bench.need(site.runs.file[run])], ([document]) => {
      const before = site.runs.host.at.lastIndexOf(site.runs.host.at[run], run - 1);
      return [
        h("p", { class: "eyebrow" }, "Run"), bench.heading(1, name),
        bench.facts([["Begun", bench.moment(document.created)], ["Host", document.host], ["Matrix", document.matrix], ["Runtime", document.runtime], ["Settings", document.profile], ["Seed", document.seed], ["Part of", document.cluster], ["Orchestrator", document.orchestrator],
          ["Measured repeats", `${bench.number(site.runs.ok[run])} of ${bench.number(site.runs.planned[run])}`]]),
        h("p", { class: "links" }, before >= 0 && [bench.link("Compare with the run before it on this host", "compare", { kind: "run", a: site.runs.run[before], b: name }), " · "], h("code", {}, bench.commands.run(document.cluster || name))),
        document.warnings.length > 0 && h("details", { class: "warnings" }, h("summary", {}, bench.counted(document.warnings.length, "warning")), h("ul", {}, document.warnings.map((text) => h("li", {}, text)))),
        h("section", {}, bench.heading(2, "Cells"), cells(run, document)),
        document.regression && h("section", {}, bench.heading(2, "Regression test"), bench.verdicts(document.regression)),
        document.study && h("section", {}, bench.heading(2, "Claims of the study"), bench.claimTable({ ...document.study, run: name })),
        document.apart.length > 0 && h("section", {}, bench.heading(2, "Cells that do other work"), bench.table("Pairs that are not compared", [
          { head: "One", text: ([one]) => document.cells.id.of[document.cells.id.at[one]] }, { head: "Other", text: ([, other]) => document.cells.id.of[document.cells.id.at[other]] }, { head: "Reason", text: ([, , reason]) => reason },
        ], document.apart)),
        document.skips.length > 0 && h("section", {}, bench.heading(2, "Skipped"), bench.table("Cells that the plan leaves out", [
          { head: "Cell", text: ([id]) => id, sort: ([id]) => id }, { head: "Reason", text: ([, reason]) => reason, sort: ([, reason]) => reason },
        ], document.skips, { most: 50 })),
        h("section", {}, bench.heading(2, "Host"), bench.facts(document.host_facts)),
      ];
    });
  };
})();
