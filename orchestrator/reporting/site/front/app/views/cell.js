"use strict";
// One cell of one run: its figures, repeats, blocks, steps, environment and logs.
(() => {
  const { h } = bench;

  const figures = (metrics, at) => bench.table("Figures", [
    { head: "Metric", text: (metric) => metric.title, sort: (metric) => metric.title },
    { head: "Value", number: true, text: (metric) => bench.figure(metric, metric.v[at]) },
    { head: "95 % interval", number: true, text: (metric) => metric.e[at] === null ? "–" : bench.interval(metric, metric.v[at], metric.e[at] / 1e4) },
    { head: "Repeats", number: true, text: (metric) => metric.n[at] },
    { head: "Better", text: (metric) => metric.better },
  ], metrics.filter((metric) => metric.v[at] !== null), { empty: "No repeat has a figure.", quiet: true });

  const repeats = (details, metrics) => {
    const all = details.repeats;
    const shown = metrics.filter((metric) => all.figures[metric.name]).slice(0, 6);
    return bench.table("Repeats", [
      { head: "Repeat", text: (place) => String(all.repeat[place]), sort: (place) => all.repeat[place] },
      { head: "Ended", text: (place) => [bench.status(all.status[place]), all.reason[place] && h("small", {}, all.reason[place])], sort: (place) => all.status[place] },
      ...shown.map((metric) => ({ head: metric.title, number: true, text: (place) => bench.figure(metric, all.figures[metric.name][place]), sort: (place) => all.figures[metric.name][place] })),
      { head: "Begun", when: true, text: (place) => [bench.moment(all.started[place]), all.attempts[place] > 1 && h("small", {}, `attempt ${all.attempts[place]}`)], sort: (place) => all.started[place] },
      { head: "Took", number: true, text: (place) => bench.seconds(all.wall_s[place] ?? 0), sort: (place) => all.wall_s[place] },
      { head: "Disturbance", text: (place) => [all.disturbance[place] && bench.chip(all.disturbance[place], "open"), all.busy[place] && h("small", {}, `busy at launch: ${all.busy[place]}`), all.beside[place] && h("small", {}, `beside ${all.beside[place]}`), all.remeasured[place] > 0 && h("small", {}, `measured again ${all.remeasured[place]}×`), !all.disturbance[place] && !all.busy[place] && "–"] },
    ], all.repeat.map((_, place) => place), { empty: "No repeat has an outcome yet.", quiet: true });
  };

  const logs = (details, folder) => details.logs.map(([repeat, text]) => h("details", { open: details.logs.length === 1 }, h("summary", {}, `End of the log of repeat ${repeat}`),
    h("pre", { tabindex: "0" }, text), h("p", { class: "note" }, "All of it: ", h("code", {}, `${folder}/${details.repeats.log[details.repeats.repeat.indexOf(repeat)]}`))));

  const PHASES = ["create", "import", "data", "build", "first_step", "warmup", "steady", "evaluation", "latency"];
  const phases = (details) => {
    const known = details.phases.map((each, place) => [each, place]).filter(([each]) => each);
    const names = PHASES.filter((name) => known.some(([each]) => each[name] !== undefined));
    return known.length > 0 && bench.table("Phases of each container", [
      { head: "Repeat", text: ([, place]) => String(details.repeats.repeat[place]) },
      ...names.map((name) => ({ head: name.replace("_", " "), number: true, text: ([each]) => each[name] === undefined ? "–" : bench.seconds(each[name]), sort: ([each]) => each[name] })),
    ], known);
  };

  const environment = (facts, conditions) => {
    const versions = facts.filter(([name]) => name.startsWith("versions."));
    const others = facts.filter(([name]) => !name.startsWith("versions."));
    return [
      conditions.length > 0 && [bench.heading(3, "What must be equal to compare"), bench.facts(conditions)],
      others.length > 0 && h("details", {}, h("summary", {}, `${bench.counted(others.length, "fact")} of the container`), bench.facts(others)),
      versions.length > 0 && h("details", {}, h("summary", {}, bench.counted(versions.length, "distribution")), bench.facts(versions.map(([name, value]) => [name.slice(9), value]))),
      !facts.length && h("p", { class: "note" }, "No container reported its environment."),
    ];
  };

  // Other cells that do the same work on the same system in this run.
  const beside = (document, metrics, at, run) => {
    const axis = (name, place) => document.cells[name].of[document.cells[name].at[place]];
    const metric = metrics.find((each) => each.name === "throughput");
    const others = document.ok.map((_, place) => place).filter((place) => axis("work", place) === axis("work", at) && axis("system", place) === axis("system", at));
    if (others.length < 2 || !metric) return null;
    const apart = (place) => document.apart.find(([one, other]) => [one, other].includes(place) && [one, other].includes(at) && place !== at)?.[2];
    others.sort((a, b) => (metric.v[b] ?? -1) - (metric.v[a] ?? -1));
    return h("section", {}, bench.heading(2, "Beside it"), bench.table(`${axis("work", at)} on ${axis("system", at)}`, [
      { head: "Release and options", text: (place) => place === at ? h("strong", {}, axis("label", place)) : bench.link(axis("label", place), "cell", { run, id: axis("id", place) }), sort: (place) => axis("label", place) },
      { head: metric.title, number: true, text: (place) => bench.figure(metric, metric.v[place]), sort: (place) => metric.v[place] },
      { head: "Ratio to this cell", number: true, text: (place) => apart(place) ? bench.chip(`other work: ${apart(place)}`, "open") : metric.v[place] && metric.v[at] ? bench.ratio(metric.v[place] / metric.v[at]) : document.status[place] },
    ], others, { most: 30 }));
  };

  bench.views.cell = ({ run: name, id }) => {
    const { site } = bench;
    const run = site.runNumber(name);
    const row = run < 0 ? -1 : site.rowOf(run, id);
    if (row < 0) return bench.missing(run < 0 ? `There is no run ${name}.` : `The run ${name} has no cell ${id}.`);
    const at = row - site.offset[run];
    return bench.when([bench.need(site.runs.file[run]), bench.library()], ([document]) => {
      const [file, place] = document.details[at];
      return bench.when([bench.need(document.files[file])], ([chunk]) => {
        const details = chunk.cells[place];
        const axis = (axisName) => document.cells[axisName].of[document.cells[axisName].at[at]];
        const metrics = document.metrics.map((metric) => bench.counting(metric, axis("sample")));
        const drawn = [bench.blockFigure(id, details, name, `${axis("sample")}s/s`), bench.spreadFigure(id, details, name), bench.stripFigure(id, details, name)].filter(Boolean);
        const places = details.repeats.repeat.map((repeat, each) => ({ text: `repeat ${repeat}`, place: each, look: bench.lookOfRepeat(each) })).filter(({ place: each }) => details.blocks[each]).slice(0, 8);
        const small = bench.conditionFigures(id, details, name);
        const conditions = document.conditions.of[document.conditions.at[at]];
        return [
          h("p", { class: "eyebrow" }, "Cell of the run ", bench.runLink(run)),
          bench.heading(1, axis("label"), h("span", { class: "on" }, ` ${axis("work")} on ${axis("system")}`)),
          bench.facts([["Cell", h("code", {}, id)], ["Host", document.host], ["Begun", bench.moment(document.created)], ["Python", axis("python")], ["Duration", axis("duration")], ["Options", document.options.of[document.options.at[at]]], ["Repeats", `${document.ok[at]} of ${document.planned[at]} ended well`], ["Reason", document.reason[at]]]),
          h("p", { class: "links" },
            !axis("script") && [bench.link("Its course over all runs", "series", { name: axis("tracked"), host: document.host }), " · "],
            bench.link("Scaling", "scaling", { "f.model": axis("model"), "f.mode": axis("mode"), "f.host": document.host })),
          h("section", {}, bench.heading(2, "Figures"), figures(metrics, at)),
          h("section", {}, bench.heading(2, "Repeats"), repeats(details, metrics), phases(details)),
          drawn.length > 0 && h("section", {}, bench.heading(2, "Blocks and steps"), bench.legend(places), h("div", { class: "figures" }, drawn)),
          small.length > 0 && h("section", {}, bench.heading(2, "What else went on"), h("div", { class: "figures small" }, small)),
          beside(document, metrics, at, name),
          h("section", {}, bench.heading(2, "Environment"), environment(chunk.facts[details.facts] ?? [], conditions)),
          h("section", {}, bench.heading(2, "Logs"), details.logs.length ? logs(details, `${site.index.folder}/${name}`) : h("p", { class: "note" }, "There is no log.")),
          h("section", {}, bench.heading(2, "Commands"), bench.facts([["Its figures", h("code", {}, bench.commands.cell(document.cluster || name, id))], ["Its repeats", h("code", {}, bench.commands.repeats(document.cluster || name, id))], ["Measure it again", h("code", {}, bench.commands.again(site.index.folder, name, id, document.runtime, document.planned[at]))]])),
        ];
      });
    });
  };
})();
