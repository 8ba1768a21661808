"use strict";
// Selects and fields that change the address of a view.
(() => {
  const { h } = bench;
  let number = 0;

  const labelled = (label, control) => {
    number += 1;
    control.id = `control-${number}`;
    return h("div", { class: "control" }, h("label", { for: control.id }, label), control);
  };

  // `options` are pairs of value and text.
  bench.choice = (label, name, options, now, after = {}) => labelled(label, h("select", {
    name, onchange: (event) => bench.change({ ...after, [name]: event.target.value }),
  }, options.map(([value, text]) => h("option", { value, selected: String(value) === String(now ?? "") }, text))));

  bench.date = (label, name, now) => labelled(label, h("input", {
    type: "date", name, value: now ?? "", onchange: (event) => bench.change({ [name]: event.target.value }),
  }));

  const switched = (label, name, now) => {
    const control = labelled(label, h("input", { type: "checkbox", name, checked: now === "yes", onchange: (event) => bench.change({ [name]: event.target.checked ? "yes" : "" }) }));
    control.classList.add("switch");
    return control;
  };

  bench.words = (label, name, now, then) => labelled(label, h("input", {
    type: "search", name, value: now ?? "", autocomplete: "off", spellcheck: "false", oninput: (event) => then(event.target.value),
  }));

  const text = (value) => value === "" || value === null ? "none" : bench.shortened(String(value), 60);
  const facet = (axis, wanted, after) => bench.choice(bench.site.titles[axis], `f.${axis}`,
    [["", "all"], ...bench.site.sorted(axis).filter((value) => value !== "" && value !== null).map((value) => [value, text(value)])], wanted[`f.${axis}`], after);

  // The facets that matter most stand in the open, the others behind a summary that says how many are set. Filters that a
  // view has chosen by itself are in `chosen`: the first change puts them into the address, or they would come back.
  // A view without an axis, or without smoke runs, names it in `without`.
  bench.facets = (wanted, first, { without = [], chosen = {} } = {}) => {
    const { site } = bench;
    const open = first.filter((axis) => site.facets.includes(axis));
    const rest = site.facets.filter((axis) => !open.includes(axis) && !without.includes(axis));
    const set = rest.filter((axis) => wanted[`f.${axis}`]).length + ["from", "to", "smoke"].filter((each) => wanted[each]).length;
    return [
      open.map((axis) => facet(axis, wanted, chosen)),
      h("details", { class: "rest", open: set > 0 }, h("summary", {}, set ? `More filters (${set} set)` : "More filters"),
        h("div", { class: "controls" }, bench.date("From", "from", wanted.from), bench.date("To", "to", wanted.to),
          !without.includes("smoke") && site.runs.run.some((_, run) => site.isSmoke(run)) && switched("With smoke runs", "smoke", wanted.smoke), rest.map((axis) => facet(axis, wanted, chosen)))),
    ];
  };

  bench.metricChoice = (wanted, name = "metric", label = "Metric", offered = [...bench.site.metrics.values()]) => bench.choice(label, name,
    offered.map((metric) => [metric.name, bench.capital(metric.title)]), wanted[name]);
})();
