"use strict";
// The list of all runs.
(() => {
  const { h } = bench;
  bench.runLink = (run, text) => bench.link(text ?? bench.site.runs.run[run], "run", { run: bench.site.runs.run[run] });

  bench.runTable = (caption, runs, most, quiet = false) => {
    const { site } = bench;
    const of = (run, name) => site.ofRun(run, name) || "–";
    return bench.table(caption, [
      { head: "Run", text: (run) => bench.runLink(run), sort: (run) => site.runs.run[run] },
      { head: "Begun", when: true, text: (run) => bench.moment(site.runs.created[run]), sort: (run) => site.runs.created[run] },
      { head: "Host", text: (run) => of(run, "host"), sort: (run) => of(run, "host") },
      { head: "Matrix", text: (run) => [of(run, "matrix"), site.isSmoke(run) && [" ", bench.chip(site.ofRun(run, "profile"), "open")]], sort: (run) => of(run, "matrix") },
      { head: "Runtime", text: (run) => of(run, "runtime"), sort: (run) => of(run, "runtime") },
      { head: "Cells", number: true, text: (run) => bench.number(site.rowsOf(run).length), sort: (run) => site.rowsOf(run).length },
      { head: "Measured repeats", number: true, text: (run) => `${bench.number(site.runs.ok[run])} of ${bench.number(site.runs.planned[run])}`, sort: (run) => site.runs.ok[run] },
      { head: "Kind", text: (run) => [site.index.runs.regression.includes(run) && bench.chip("regression test", "plain"), site.index.runs.study.includes(run) && bench.chip("study", "plain")] },
    ], runs, { most, quiet });
  };

  bench.views.runs = (values) => {
    const { site } = bench;
    const place = h("div");
    const draw = (text) => {
      const words = text.toLowerCase().split(/\s+/).filter(Boolean);
      const left = site.runs.run.map((_, run) => run).reverse().filter((run) => {
        const said = [site.runs.run[run], site.runs.created[run], site.host(run), site.ofRun(run, "matrix"), site.ofRun(run, "runtime")].join(" ").toLowerCase();
        return words.every((word) => said.includes(word));
      });
      bench.labels.clear();
      bench.replace(place, bench.runTable(`${bench.counted(left.length, "run")}, newest first`, left, 100));
    };
    draw(values.q ?? "");
    return [
      bench.heading(1, "Runs"), bench.problems(),
      h("div", { class: "controls" }, bench.words("Only runs with", "q", values.q, (text) => { history.replaceState(null, "", bench.address("runs", { q: text })); draw(text); })),
      place,
    ];
  };
})();
