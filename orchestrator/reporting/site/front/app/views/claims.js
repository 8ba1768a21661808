"use strict";
// The claims of published studies next to what runs of them have measured.
(() => {
  const { h, s } = bench;
  const MARKS = { "same direction": "good", "other direction": "bad", undecided: "open" };
  const cellOf = (study, id) => bench.site.runNumber(study.run) >= 0 && bench.site.rowOf(bench.site.runNumber(study.run), id) >= 0 ? bench.link(id, "cell", { run: study.run, id }) : id;

  bench.claimTable = (study) => bench.table(study.title, [
    { head: "Claim", text: (claim) => [claim.text, h("small", {}, `${claim.name}, ${claim.source}`)], sort: (claim) => claim.name },
    { head: "Metric", text: (claim) => claim.metric, sort: (claim) => claim.metric },
    { head: "Published", number: true, text: (claim) => `${claim.approximate ? "≈ " : ""}${bench.ratio(claim.published)}`, sort: (claim) => claim.published },
    { head: "Measured", number: true, text: (claim) => [bench.ratio(claim.ratio), claim.low !== null && h("small", {}, `${bench.ratio(claim.low)} – ${bench.ratio(claim.high)}`), claim.repeats > 0 && h("small", {}, bench.counted(claim.repeats, "repeat"))], sort: (claim) => claim.ratio },
    { head: "Verdict", text: (claim) => [bench.chip(claim.verdict, MARKS[claim.verdict] ?? "plain"), claim.reason && h("small", {}, claim.reason), claim.caveats.map((text) => h("small", {}, `Caveat: ${text}`))], sort: (claim) => claim.verdict },
    { head: "Cells", text: (claim) => [h("small", {}, cellOf(study, claim.of)), h("small", {}, "over "), h("small", {}, cellOf(study, claim.over))] },
  ], study.claims);

  const figure = (study) => {
    const known = study.claims.filter((claim) => claim.ratio > 0 && claim.published > 0);
    if (!known.length) return null;
    return bench.frame({
      title: `Published and measured ratios: ${study.title}`, note: "On the line both agree. In the shaded quarters the direction is the opposite.",
      draw: (width) => {
        const side = Math.min(width, 520), height = side, left = 66;
        const all = known.flatMap((claim) => [claim.published, claim.ratio, 1]);
        const [low, high] = [d3.min(all) / 1.15, d3.max(all) * 1.15];
        const x = d3.scaleLog([low, high], [left, side - 16]), y = d3.scaleLog([low, high], [height - 44, 14]);
        x.isLog = y.isLog = true;
        return bench.plot({
          width: side, height, left, bottom: 44, right: 16, x, y, label: `Claims of ${study.title}`, xTitle: "published ratio", yTitle: "measured ratio", xText: bench.ratioTick, yText: bench.ratioTick,
          parts: [
            s("rect", { class: "quarter", x: x(1), y: y(1), width: Math.max(0, x(high) - x(1)), height: Math.max(0, y(low) - y(1)) }), s("rect", { class: "quarter", x: x(low), y: y(high), width: Math.max(0, x(1) - x(low)), height: Math.max(0, y(1) - y(high)) }),
            s("line", { class: "one", x1: x(low), y1: y(low), x2: x(high), y2: y(high) }),
            s("g", { class: bench.plainLook.series }, known.map((claim) => claim.low === null ? null : bench.whisker(x(claim.published), y(claim.low), y(claim.high), [14, height - 44])),
              bench.dots(known.map((claim) => ({ x: x(claim.published), y: y(claim.ratio), hollow: claim.verdict !== "same direction", title: `${claim.text}: published ${bench.ratio(claim.published)}, measured ${bench.ratio(claim.ratio)} (${claim.verdict})` })), bench.plainLook, 52)),
          ],
        });
      },
      csv: () => [["claim", "published", "measured", "low", "high", "repeats", "verdict", "caveats"], ...study.claims.map((claim) => [claim.name, claim.published, claim.ratio, claim.low, claim.high, claim.repeats, claim.verdict, claim.caveats.join("; ")])],
      command: () => bench.commands.run(study.run),
    });
  };

  bench.views.claims = () => bench.when([bench.need(bench.site.index.files.claims), bench.library()], ([{ studies }]) => [
    bench.heading(1, "Studies"),
    !studies.length && h("p", {}, "No run repeats a published study."),
    studies.map((study) => h("section", {}, bench.heading(2, study.title, h("span", { class: "on" }, ` ${study.run}`)), study.smoke && h("p", { class: "note" }, "A smoke run: its figures prove nothing."), h("p", { class: "lead" }, study.citation), figure(study), bench.claimTable(study))),
  ]);
})();
