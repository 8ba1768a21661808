"use strict";
// What each night of a watch found.
(() => {
  const { h } = bench;
  const MARKS = { clean: "good", regressed: "bad", inconclusive: "open" };

  const night = (each) => h("details", { class: "night", open: each.tried.some(({ alarms }) => alarms.length) },
    h("summary", {}, `${bench.moment(each.began)} `, bench.chip(each.ending.replaceAll("_", " "), each.code === 1 ? "bad" : each.code === 0 ? "good" : "open"),
      each.tried.map(({ release, judgement }) => [" ", bench.chip(`${release} ${judgement.replaceAll("_", " ")}`, MARKS[judgement] ?? "plain")])),
    bench.facts([["Night", each.night], ["Host", each.host], ["Baseline", each.baseline], ["Accepted afterwards", each.accepted]]),
    each.problems.length > 0 && h("ul", {}, each.problems.map((text) => h("li", {}, text))),
    each.tried.map((trying) => h("section", { class: "inner" },
      bench.heading(3, `${each.watched} ${trying.release}`), trying.reason && h("p", {}, trying.reason),
      trying.run && bench.site.runNumber(trying.run) >= 0 && h("p", {}, bench.runLink(bench.site.runNumber(trying.run))),
      [...trying.alarms, ...trying.known].length > 0 && bench.table("Alarms, and what is acknowledged", [
        { head: "Cell", text: ([cell]) => cell }, { head: "Metric", text: ([, metric]) => metric || "no longer runs" }, { head: "Ratio", number: true, text: ([, , ratio]) => bench.ratio(ratio) },
        { head: "Interval", number: true, text: ([, , , low, high]) => low === null ? "–" : `${bench.ratio(low)} – ${bench.ratio(high)}` }, { head: "Verdict", text: ([, , , , , reason, known]) => known ? [bench.chip("acknowledged", "plain"), h("small", {}, known)] : [bench.chip("alarm", "bad"), reason && h("small", {}, reason)] },
      ], [...trying.alarms, ...trying.known]),
      trying.regression && h("details", {}, h("summary", {}, "Every verdict"), bench.verdicts(trying.regression)))),
    each.drifts.length > 0 && bench.table("Sums of small losses", [
      { head: "Release", text: ([release]) => release }, { head: "Since", text: ([, anchor]) => anchor }, { head: "Cell", text: ([, , cell]) => cell }, { head: "Metric", text: ([, , , metric]) => metric }, { head: "Ratio", number: true, text: ([, , , , ratio]) => bench.ratio(ratio) }, { head: "Verdict", text: ([, , , , , known]) => known ? bench.chip("acknowledged", "plain") : bench.chip("alarm", "bad") },
    ], each.drifts),
    each.changes.length > 0 && bench.table("Changes of the history that this night shows first", [
      { head: "Series", text: ([name, , host]) => bench.link(name, "series", { name, host }) }, { head: "Metric", text: ([, metric]) => metric }, { head: "Release", text: ([, , , , since, release]) => `${since} → ${release}` }, { head: "Ratio", number: true, text: ([, , , , , , ratio]) => bench.ratio(ratio) }, { head: "Verdict", text: ([, , , , , , , worse]) => bench.chip(worse ? "worse" : "better", worse ? "bad" : "good") },
    ], each.changes));

  bench.views.nights = () => bench.when([bench.need(bench.site.index.files.nights)], ([{ watches }]) => [
    bench.heading(1, "Nights"),
    watches.length ? watches.map((watch) => h("section", {}, bench.heading(2, watch.name), watch.nights.length ? watch.nights.map(night) : h("p", {}, "No night has a record yet.")))
      : h("p", {}, "There is no watch here. `orchestrator publish --nights DIR` adds the reports folder of a nightly."),
  ]);
})();
